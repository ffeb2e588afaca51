use crate::mechanism::{MechanismError, Task};
use dp::{L2, Neighbours, NoiseSource, Sensitivity, SensitivityError, Share};
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::numeric::memory;
use private_pgm::query::QueryMatrix;

/// The smallest standard deviation of a measurement, our choice. Exact noise on integers of a scale
/// below 0.2 is almost surely 0, and its standard deviation soon underflows. Estimators divide by
/// it. A larger one only makes them trust the answer less.
const SMALLEST_STDDEV: f64 = 1e-3;

/// The sensitivity of a marginal: its columns are unit vectors. 1 if a record is added or removed,
/// sqrt(2) if one is replaced.
pub(crate) fn sensitivity(neighbours: Neighbours) -> Result<Sensitivity<L2>, SensitivityError> {
    Sensitivity::<L2>::nonnegative_linear(1.0, neighbours)
}

/// Measures `query`, whose columns are unit vectors, on the marginal of a clique with Gaussian
/// noise.
pub(crate) fn measure_query(
    task: &Task<'_>,
    (clique, query): (Clique, QueryMatrix),
    label: String,
    share: Share,
    source: &mut NoiseSource,
) -> Result<Measurement, MechanismError> {
    let sensitivity = sensitivity(share.neighbours())?;
    let counts = task.data.read(&share).project(&clique)?;
    let mut answers = memory::zeros(query.rows());
    query.apply(counts.values(), &mut answers, &mut memory::zeros(query.scratch_len()));
    let noisy = share.gaussian(label, &answers, sensitivity, task.noise.whole(), source)?;
    let stddev = noisy.noise_stddev.max(SMALLEST_STDDEV);
    let y = dp::sabotage!(
        noisy.values,
        "marginals-nearer-to-the-truth",
        noisy.values.iter().zip(&answers).map(|(noisy, exact)| (noisy + exact) / 2.0).collect()
    );
    Ok(Measurement { clique, query, y, stddev })
}

/// Measures all cells of a marginal with Gaussian noise.
pub(crate) fn measure_marginal(
    task: &Task<'_>,
    clique: &Clique,
    label: &str,
    share: Share,
    source: &mut NoiseSource,
) -> Result<Measurement, MechanismError> {
    let domain = task.data.domain();
    let label = format!("{label}{}", domain.names(clique).join(" x "));
    let query = QueryMatrix::identity(domain, clique)?;
    measure_query(task, (clique.clone(), query), label, share, source)
}
