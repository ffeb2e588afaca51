use super::SpanningTree;
use crate::data::{Dataset, Provenance};
use crate::mechanism::{Mechanism, MechanismError, Noise, Task};
use crate::workload::Workload;
use dp::{Budget, NoiseSource};
use private_pgm::domain::Clique;
use private_pgm::fit::{Diagnostics, Estimator, EstimatorContext, EstimatorError, Pgm};
use private_pgm::model::{Model, Projectable, Sampling};

#[derive(Debug)]
pub struct Synthesis {
    pub records: Dataset,
    pub model: Model,
    /// Of the fit.
    pub diagnostics: Diagnostics,
}

/// Synthetic records: fits a graphical model to the release of a spanning tree and samples records
/// from it.
///
/// `count` is the number of records, by default the total of the release. Everything that depends
/// on the data is paid for from `budget`, which is best made by [`budget`](super::budget). `run`
/// provides randomness that need not be secret. For a private release, seed both `run` and `source`
/// from the operating system.
pub(crate) fn synthesize(
    data: &Dataset,
    budget: &mut Budget,
    source: &mut NoiseSource,
    pgm: &Pgm,
    count: Option<usize>,
    context: &mut EstimatorContext<'_>,
) -> Result<Synthesis, MechanismError> {
    let domain = data.domain();
    let task = Task {
        data,
        workload: &Workload::marginals(domain, &[], &Clique::empty())?,
        noise: Noise::Exact,
        estimator: pgm,
        public: None,
        memory_limit: context.memory_limit,
        deadline: context.deadline,
    };
    let release = SpanningTree::default().release(&task, budget, source)?;
    let estimated = pgm.estimate(&release.evidence(domain), context)?;
    let Some(model) = estimated.model else {
        let message = "the estimator has no model to draw records from".to_string();
        return Err(EstimatorError::Unsupported(message).into());
    };
    let count = count.unwrap_or(release.total.round() as usize);
    let calibrated = model.calibrate().map_err(EstimatorError::from)?;
    let codes = calibrated
        .synthesize(count, Sampling::Rounded, context.rng)
        .map_err(EstimatorError::from)?;
    let name = format!("synthetic-{}", data.name());
    let records = Dataset::from_codes(&name, domain, &codes, Provenance::default())?;
    Ok(Synthesis { records, model, diagnostics: estimated.diagnostics })
}
