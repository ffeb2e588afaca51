//! The Laplace mechanism on marginals: the cells of each clique of the workload, with noise (Dwork,
//! McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006).

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::{
    GuaranteeKind, Kind, Mechanism, MechanismError, Published, Release, Task, Times, parse,
};
use crate::estimation::estimator::AsMeasured;
use crate::estimation::loss::Measurement;
use crate::factor::Projectable;
use crate::privacy::{Budget, L1, NoiseSource, Sensitivity};
use crate::workload::QueryMatrix;

/// The Laplace mechanism, as users know it.
pub static LAPLACE: Kind = Kind {
    name: "laplace",
    title: "Laplace",
    summary: "measures the marginals of the workload, with Laplace noise",
    reference: "Dwork, McSherry, Nissim, Smith, TCC 2006",
    guarantee: GuaranteeKind::Pure,
    own: "the noisy marginals themselves",
    parameters: &[],
    build: |table| Ok(Box::new(parse::<Laplace>(table)?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Laplace {}

impl Mechanism for Laplace {
    /// Each marginal has an equal share of the budget. A record is in one cell of it, so that the
    /// columns have L1 norm 1.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let sensitivity = Sensitivity::<L1>::linear(1.0, neighbours)?;
        let (domain, cliques) = (task.workload.domain(), task.workload.cliques());
        let shares = budget.rest()?.split(cliques.len())?;
        let mut answers = Vec::with_capacity(cliques.len());
        for (clique, share) in cliques.into_iter().zip(shares) {
            let query = QueryMatrix::identity(domain, &clique)?;
            let cells = task.data.project(&clique)?;
            let label = format!("marginal on {}", domain.names(&clique).join(", "));
            let line = task.noise.whole();
            let noisy = share.laplace(label, cells.values(), sensitivity, line, source)?;
            answers.push(Measurement {
                clique,
                query,
                y: noisy.values,
                stddev: noisy.noise_stddev,
            });
        }
        let total = task.total(neighbours, &answers)?;
        let times = Times { select: 0.0, measure: began.elapsed().as_secs_f64() };
        let own = Box::new(AsMeasured);
        Ok(Release { total, published: Published::Answers(answers), own, times })
    }
}
