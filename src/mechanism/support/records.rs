use dp::{NoiseSource, Sensitivity, Share};
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

use crate::mechanism::{MechanismError, Task};

/// Measures the number of records. Its sensitivity is 1 when a record is added or removed.
pub(crate) fn count_records(
    task: &Task<'_>,
    share: Share,
    source: &mut NoiseSource,
) -> Result<Measurement, MechanismError> {
    let sensitivity = Sensitivity::new(1.0, share.neighbours())?;
    let count = [task.data.read(&share).len() as f64];
    let share =
        dp::sabotage!(share, "records-counted-unpaid", crate::mechanism::sabotaged::again(share));
    let noisy = share.laplace("records", &count, sensitivity, task.noise.whole(), source)?;
    let clique = Clique::empty();
    let query = QueryMatrix::identity(task.data.domain(), &clique)?;
    Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
}
