//! Multiplicative weights on dense joint tables.

mod components;
mod joint_tables;
mod product;
#[cfg(test)]
mod tests;

use std::time::Instant;

use crate::domain::Clique;
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::fit::{
    Diagnostics, EstimateError, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence,
    Observed,
};
use crate::loss::{LinearLoss, Measurement, Norm};
use crate::numeric::bytes::Bytes;
use crate::numeric::memory;
use crate::optimiser::{
    ConvergenceMonitor, Mirror, Objective, Optimiser, Progress, Reason, StepSize, Stopping,
};
use crate::oracle::MarginalOracle;
use components::{LimitExceeded, components, first_exceeding, largest, table_bytes};
use joint_tables::JointTables;
use product::IndependentProduct;

/// Factored multiplicative weights, the estimator of MWEM (Hardt, Ligett, McSherry, NIPS 2012).
///
/// Each connected component of the measured cliques has one joint table over its attributes. The
/// components are independent; attributes that were not measured are uniform. Starting from the
/// uniform distribution, every update is
///
/// p <- p exp(-eta Q^T (Q p - y) / stddev^2) / Z,
///
/// with all measurements at once, until the certified gap is small. MWEM applies the rows of Q one
/// after another with eta = stddev^2 / (2 N) (McKenna, Sheldon, Miklau, ICML 2019, equation 2).
/// Such updates do not converge when noisy answers are inconsistent; they cycle around the optimum.
/// Updates with all measurements (supplement E.2) are entropic mirror descent. eta starts at 1 / (N
/// K), with K the [smoothness](crate::loss::Loss::smoothness); this is stddev^2 / N for one
/// counting query. A line search then increases it while the loss decreases.
///
/// # Relation to the graphical model
///
/// At every iteration ln p is a sum of functions of the measured cliques: p is a graphical model
/// over them, and the update is that of Algorithm 1 of the paper on its potentials. Only the
/// marginals are computed differently, from joint tables instead of a junction tree. The loss, half
/// the sum of ((Q p - y) / stddev)^2, is the same, and so is the limit: the minimiser of maximum
/// entropy, since ln p stays in the span of the queries. Memory differs: the joint table of a
/// component has as many cells as the product of its attributes' sizes.
///
/// Cost per update: a few passes over the component's table per measured clique.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiplicativeWeights {
    /// Whether to use one table over the whole domain instead of one per component.
    pub full: bool,
    /// The largest number of updates, including those that the line search rejects.
    pub iterations: usize,
    /// Stops when the loss is certified to be at most this much above its minimum.
    pub gap: f64,
    /// The word for a measurement in messages: `measurement`, or `round` if each round makes one.
    pub step_name: &'static str,
}

impl Default for MultiplicativeWeights {
    /// Factored, to a gap of 1e-3. By strong convexity gap >= |r - r*|^2 / 2 in the residuals r, so
    /// no residual is more than 0.05 standard deviations from its limit.
    fn default() -> Self {
        Self { full: false, iterations: 20_000, gap: 1e-3, step_name: "measurement" }
    }
}

impl Estimator for MultiplicativeWeights {
    /// Starts from the uniform distribution and ignores a warm start.
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            let needs = "multiplicative weights need noisy answers to linear queries";
            return Err(EstimatorError::Unsupported(needs.into()));
        };
        if !(evidence.total > 0.0 && evidence.total.is_finite()) {
            return Err(EstimateError::Total(evidence.total).into());
        }
        let cliques = evidence.cliques();
        let tables = self.tables(evidence, answers, &cliques, context.memory_limit)?;
        let bytes = table_bytes(evidence.domain, &tables);
        let layout = CliqueLayout::new(evidence.domain.clone(), cliques);
        let mut loss = LinearLoss::new(layout.clone(), answers.to_vec(), Norm::L2)
            .map_err(EstimateError::from)?;
        let mut oracle = JointTables::new(layout.clone(), tables, context.deadline);
        let mut base = Potentials::zeros(&layout);
        evidence.exclude(&mut base);
        if !is_possible(&mut oracle, &base, evidence.total) {
            return Err(EstimateError::NothingPossible.into());
        }

        let mut tell = |progress: &Progress<'_>| (context.observer)(progress);
        let stopping = Stopping {
            iterations: self.iterations.max(1),
            gap: self.gap,
            relative_gap: 0.0,
            deadline: context.deadline,
        };
        let mut objective =
            Objective { oracle: &mut oracle, loss: &mut loss, base: &base, total: evidence.total };
        let began = Instant::now();
        let outcome = Mirror { step: StepSize::LineSearch }.minimise(
            &mut objective,
            base.clone(),
            &mut ConvergenceMonitor::new(stopping, &mut tell),
        );
        let seconds = began.elapsed().as_secs_f64();
        if outcome.reason == Reason::Deadline || outcome.iterate.log_z.is_nan() {
            return Err(EstimatorError::Timeout { iterations: outcome.iterations });
        }
        let tables = oracle
            .into_tables(&outcome.iterate.potentials, evidence.total)
            .ok_or(EstimateError::NothingPossible)?;
        let (domain, total) = (evidence.domain.clone(), evidence.total);
        Ok(Estimated {
            answers: Box::new(IndependentProduct { domain, total, tables }),
            model: None,
            diagnostics: Diagnostics {
                l1_l2: Some(loss.l1_and_l2(&outcome.iterate.marginals)),
                loss: Some(outcome.loss),
                gap: outcome.gap,
                iterations: Some(outcome.iterations),
                seconds_per_iteration: Some(seconds / outcome.iterations.max(1) as f64),
                junction_tree_cells: None,
                bytes: Some(bytes),
                message: outcome.reason.name().into(),
            },
        })
    }
}

impl MultiplicativeWeights {
    /// The attributes of each joint table; an error if the tables exceed `limit` bytes.
    ///
    /// Counts the joint tables only: feasibility is a property of the method, not of the further
    /// buffers of this implementation.
    fn tables(
        &self,
        evidence: &Evidence<'_>,
        answers: &[Measurement],
        cliques: &[Clique],
        limit: u64,
    ) -> Result<Vec<Clique>, EstimatorError> {
        let domain = evidence.domain;
        let refused = |what: String, bytes: f64, attributes: &Clique| EstimatorError::Infeasible {
            bytes,
            message: format!(
                "{what} needs {} for the attributes {}, more than the limit of {}",
                Bytes(bytes),
                abbreviate(&domain.names(attributes)),
                Bytes(limit as f64),
            ),
        };
        let tables = match self.full {
            true => vec![domain.everything()],
            false => components(cliques),
        };
        let bytes = table_bytes(domain, &tables);
        if bytes <= limit as f64 {
            memory::require(bytes)?;
            return Ok(tables);
        }
        // Name the first measurement that exceeds the limit; measurements of the total are not
        // numbered.
        let measured: Vec<&Clique> = answers
            .iter()
            .map(|answer| &answer.clique)
            .filter(|clique| !clique.is_empty())
            .collect();
        match first_exceeding(domain, measured.iter().copied(), limit).filter(|_| !self.full) {
            Some(LimitExceeded { number, bytes, attributes }) => {
                let what = format!("{} {number} of {}", self.step_name, measured.len());
                Err(refused(what, bytes, &attributes))
            }
            None => Err(refused("the table".into(), bytes, largest(domain, &tables))),
        }
    }
}

/// Whether some record is possible under the structural zeros of `base`.
fn is_possible(oracle: &mut JointTables, base: &Potentials, total: f64) -> bool {
    if !base.values().contains(&f64::NEG_INFINITY) {
        return true;
    }
    oracle.marginals(base, total, &mut Marginals::zeros(base.layout())) != f64::NEG_INFINITY
}

/// The largest number of names in a message.
const MAX_NAMES: usize = 20;

/// All names, or the first [`MAX_NAMES`] and the number of the others.
fn abbreviate(names: &[&str]) -> String {
    match names.split_at_checked(MAX_NAMES) {
        Some((first, rest)) if rest.len() > 1 => {
            format!("{} and {} more", first.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}
