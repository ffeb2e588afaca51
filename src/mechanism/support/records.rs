use crate::data::Dataset;
use dp::{NoiseSource, Sensitivity, Share};
use private_pgm::baselines::{Answers, MarginalError};
use private_pgm::domain::Clique;
use private_pgm::factor::{Factor, Projectable};
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

use crate::mechanism::{MechanismError, Task};

/// Synthetic records have exact marginals.
impl Answers for Dataset {
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, MarginalError> {
        let count = |clique: &Clique| {
            self.project(clique)
                .map_err(|error| MarginalError::Unknown { attributes: error.attributes })
        };
        cliques.iter().map(count).collect()
    }
}

/// Measures the number of records. Its sensitivity is 1 when a record is added or removed.
pub(crate) fn count_records(
    task: &Task<'_>,
    share: Share,
    source: &mut NoiseSource,
) -> Result<Measurement, MechanismError> {
    let sensitivity = Sensitivity::new(1.0, share.neighbours())?;
    let count = [task.data.len() as f64];
    let noisy = share.laplace("records", &count, sensitivity, task.noise.whole(), source)?;
    let clique = Clique::empty();
    let query = QueryMatrix::identity(task.data.domain(), &clique)?;
    Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
}
