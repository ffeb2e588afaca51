use crate::data::Dataset;
use crate::domain::Clique;
use crate::estimation::estimator::{Answers, NoAnswer};
use crate::estimation::loss::Measurement;
use crate::factor::{Factor, Projectable};
use crate::privacy::{NoiseSource, Sensitivity, Share};
use crate::workload::QueryMatrix;

use super::{MechanismError, Task};

/// Synthetic records answer by counting.
impl Answers for Dataset {
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, NoAnswer> {
        let count = |clique: &Clique| {
            self.project(clique).map_err(|error| NoAnswer::Unknown { attributes: error.attributes })
        };
        cliques.iter().map(count).collect()
    }
}

/// The number of records, measured: one record more or less moves it by 1.
pub(super) fn count_records(
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
