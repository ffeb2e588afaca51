//! ResidualPlanner: the residuals of all marginals of a workload, each with Gaussian noise of its
//! own size (Xiao, He, Zhang, Kifer, NeurIPS 2023).
//!
//! The workload's attribute sets and all of their subsets are the *base sets*. The residual of a
//! base set A ([`private_pgm::residual`]) is measured once, with independent noise of variance
//! sigma_A^2 in orthonormal coordinates of its residual space: the queries are the Kronecker
//! product of [contrasts](private_pgm::query::QueryFactor::Contrasts). So every base mechanism is
//! an ordinary measurement with one standard deviation, and all estimators work with it.
//!
//! *Equivalence.* Xiao et al. publish R_A x with noise of covariance sigma_A^2 S S^T, where S is
//! the Kronecker product of subtraction matrices. Let U be the matrix of contrasts, with
//! orthonormal rows and the row space of S. T = S U^T is invertible, S = T U, and T T^T = S U^T U
//! S^T = S S^T, since U^T U is the projection onto the row space of S. If z is N(0, sigma^2 I),
//! then T (U mu + z) = S mu + T z has their distribution. Either output is a function of the other,
//! so both have the same privacy and allow the same estimates.
//!
//! *Privacy.* See `base`. *Allocation.* See [`Allocation`]. It depends on the sizes of the
//! attributes and on the workload, not on the data.
//!
//! *Own estimator.* The unbiased reconstruction, which is [`Grem`]: each residual is measured once.
//! The variance of every cell is known before anything is drawn ([`Allocation::cell_variance`]).
//!
//! The workload counts by its attribute sets; prefix sums are answered from the marginals.

mod allocation;
mod base;
mod predict;
#[cfg(test)]
mod tests;

pub use allocation::{Allocation, Objective, Weights};
pub use predict::{Prediction, predict};

use std::time::Instant;

use serde::Deserialize;

use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Parameter, Published,
    Release, ReleaseDiagnostics, Task, Times, WorkloadDependence, parse,
};
use base::Base;
use dp::{Budget, NoiseSource, Share};
use private_pgm::domain::Clique;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::numeric::bytes::Bytes;
use private_pgm::residual::Grem;

pub(super) static RESIDUAL_PLANNER: MechanismSpec = MechanismSpec {
    name: "residual-planner",
    title: "ResidualPlanner",
    summary: "Measures the residuals of all marginals of the workload, with Gaussian noise that is \
              optimal for their variances.",
    reference: "Xiao, He, Zhang, Kifer, NeurIPS 2023",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "the unbiased reconstruction from residuals",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[
        Parameter {
            name: "objective",
            default: "\"sum\"",
            meaning: "what is made small: the \"sum\" of the variances, or the \"largest\" one",
        },
        Parameter {
            name: "weights",
            default: "\"cells\"",
            meaning: "in the sum, all \"cells\" or all \"marginals\" count the same",
        },
    ],
    build: |table| Ok(Box::new(parse::<ResidualPlanner>(table)?)),
};

/// Bytes of a set of attributes in the plan, roughly.
const SUBSET_BYTES: f64 = 256.0;

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ResidualPlanner {
    objective: Objective,
    weights: Weights,
}

impl Mechanism for ResidualPlanner {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let began = Instant::now();
        let (domain, neighbours) = (task.data.domain(), budget.neighbours());
        let private_total = task.has_private_total(neighbours);
        check_subsets(task)?;
        let bases = Base::of_workload(domain, &task.workload.cliques(), neighbours, private_total);
        if bases.is_empty() {
            return Err(MechanismError::Unsuitable(
                "ResidualPlanner needs a workload with an attribute of at least two values".into(),
            ));
        }
        let allocation =
            Allocation::new(domain, &task.workload.cliques(), bases, self.objective, self.weights);
        let shares = budget.rest()?.split_weights(&allocation.shares)?;
        let shares = dp::sabotage!(
            shares,
            "residuals-with-all-of-the-budget-each",
            super::sabotaged::all_unpaid(&shares, budget.total())
        );
        let select = began.elapsed().as_secs_f64();
        let mut answers = Vec::with_capacity(shares.len());
        for (base, share) in allocation.bases.iter().zip(shares) {
            task.in_time()?;
            let is_needed = dp::sabotage!(true, "residuals-of-equal-counts-left-out", {
                let counts = task.data.unpaid().project(&base.clique)?;
                counts.values().iter().any(|&count| count != counts.values()[0])
            });
            if is_needed {
                answers.push(measure(base, task, share, source)?);
            }
        }
        Ok(Release {
            total: task.total(neighbours, &answers)?,
            published: Published::Answers(answers),
            own_estimator: Box::new(Grem { total: task.total_source(neighbours) }),
            extra_estimators: Vec::new(),
            times: Times { select, measure: began.elapsed().as_secs_f64() - select },
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        })
    }
}

/// Refuses a workload with more subsets than fit into memory.
fn check_subsets(task: &Task<'_>) -> Result<(), MechanismError> {
    let subsets = |clique: Clique| 2f64.powf(clique.len() as f64);
    let bytes = SUBSET_BYTES * task.workload.cliques().into_iter().map(subsets).sum::<f64>();
    if bytes <= task.memory_limit as f64 {
        return Ok(());
    }
    let message = format!("the subsets of the workload's attribute sets need {}", Bytes(bytes));
    Err(MechanismError::Infeasible { bytes, message })
}

fn measure(
    base: &Base,
    task: &Task<'_>,
    share: Share,
    source: &mut NoiseSource,
) -> Result<Measurement, MechanismError> {
    let domain = task.data.domain();
    let query = base.query(domain)?;
    let marginal = task.data.read(&share).project(&base.clique)?;
    let mut residual = vec![0.0; query.rows()];
    query.apply(marginal.values(), &mut residual, &mut vec![0.0; query.scratch_len()]);
    let records = task.records_bound(share.neighbours());
    let sensitivity = base.sensitivity(domain, records, share.neighbours())?;
    // The number of records is an integer.
    let line = match base.clique.is_empty() {
        true => task.noise.whole(),
        false => task.noise.real(sensitivity, residual.len()),
    };
    let label = match base.clique.is_empty() {
        true => "number of records".into(),
        false => format!("residual of {}", domain.names(&base.clique).join(" x ")),
    };
    let noisy = share.gaussian(label, &residual, sensitivity, line, source)?;
    let clique = base.clique.clone();
    Ok(Measurement { clique, query, y: noisy.values, stddev: noisy.noise_stddev })
}
