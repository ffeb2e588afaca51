//! Multiplicative weights on tables that are written out.

mod components;
mod joint_tables;
mod product;
#[cfg(test)]
mod tests;

use std::time::Instant;

use super::{Diagnostics, Estimated, Estimator, EstimatorError, Run};
use crate::domain::Clique;
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::fit::{EstimateError, Evidence, Observed};
use crate::loss::{LinearLoss, Measurement, Norm};
use crate::numeric::bytes::Bytes;
use crate::optimiser::{
    ConvergenceMonitor, Mirror, Objective, Optimiser, Progress, Reason, StepSize, Stopping,
};
use crate::oracle::MarginalOracle;
use components::{components, largest, outgrown, table_bytes};
use joint_tables::JointTables;
use product::Product;

/// Factored multiplicative weights: what MWEM estimates with (Hardt, Ligett, McSherry, NIPS 2012).
///
/// Attributes that measurements tie together share one table with all of their combinations; the
/// tables of different groups are independent, and attributes in no measurement uniform. From the
/// uniform table on, every update is
///
/// p <- p exp(-eta Q^T (Q p - y) / stddev^2) / Z,
///
/// over the whole history at once, until the certified gap is small. MWEM applies the rows of Q in
/// turn, with eta = stddev^2 / (2 N) (ICML 2019, equation 2). In turn and at a fixed eta, updates
/// end up circling around the optimum when answers contradict each other, which noise sees to. At
/// once (supplement E.2) they are entropic mirror descent: eta begins with the longest safe step,
/// 1 / (N K) with K the [smoothness](crate::loss::Loss::smoothness), which is
/// stddev^2 / N for one counting query, and is then lengthened as far as the loss falls.
///
/// # What it has in common with the graphical model
///
/// ln p is, at every step, a sum of functions of the measured cliques: p is a graphical model over
/// them, and the update is that of Algorithm 1 of the paper on its potentials. Only the marginals
/// are computed differently, from tables that are written out rather than from a junction tree. The
/// loss, half the sum of ((Q p - y) / stddev)^2, is the same too, and so is the limit: the minimiser
/// of largest entropy, as ln p never leaves the span of the queries. What differs is memory: a
/// group's table has the product of all of its attributes' sizes.
///
/// Cost: per update, a few passes over the tables for each measured clique.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiplicativeWeights {
    /// One table over the whole domain, whatever was measured.
    pub full: bool,
    /// The largest number of updates, those that were taken back for being too long included.
    pub iterations: usize,
    /// The updates end once the loss is certified to be at most this above the smallest possible.
    pub gap: f64,
    /// What messages call a measurement: `measurement`, or `round` where each has one.
    pub step_name: &'static str,
}

impl Default for MultiplicativeWeights {
    /// Factored, to a gap of 1e-3: by strong convexity, gap >= |r - r*|^2 / 2 in the residuals r, so
    /// that none is further than 0.05 standard deviations from where it would end.
    fn default() -> Self {
        Self { full: false, iterations: 20_000, gap: 1e-3, step_name: "measurement" }
    }
}

impl Estimator for MultiplicativeWeights {
    /// Begins with the uniform table, whether or not there is a warmer start.
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut Run<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            let needs = "multiplicative weights need noisy answers to linear queries";
            return Err(EstimatorError::Unsupported(needs.into()));
        };
        if !(evidence.total > 0.0 && evidence.total.is_finite()) {
            return Err(EstimateError::Total(evidence.total).into());
        }
        let cliques = evidence.cliques();
        let tables = self.tables(evidence, answers, &cliques, run.memory_limit)?;
        let bytes = table_bytes(evidence.domain, &tables);
        let layout = CliqueLayout::new(evidence.domain.clone(), cliques);
        let mut loss = LinearLoss::new(layout.clone(), answers.to_vec(), Norm::L2)
            .map_err(EstimateError::from)?;
        let mut oracle = JointTables::new(layout.clone(), tables, run.deadline);
        let mut base = Potentials::zeros(&layout);
        evidence.exclude(&mut base);
        let excludes = base.values().contains(&f64::NEG_INFINITY);
        let mut log_z = || oracle.marginals(&base, evidence.total, &mut Marginals::zeros(&layout));
        if excludes && log_z() == f64::NEG_INFINITY {
            return Err(EstimateError::NothingPossible.into());
        }

        let mut tell = |progress: &Progress<'_>| (run.observer)(progress);
        let stopping = Stopping {
            iterations: self.iterations.max(1),
            gap: self.gap,
            relative_gap: 0.0,
            deadline: run.deadline,
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
            answers: Box::new(Product { domain, total, tables }),
            model: None,
            diagnostics: Diagnostics {
                l1_l2: Some(loss.l1_and_l2(&outcome.iterate.marginals)),
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
    /// The attributes of each table; an error when the tables do not fit.
    ///
    /// Only the tables themselves are counted: the verdict is about the method, whatever else this
    /// implementation of it keeps beside them.
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
                some_of(&domain.names(attributes)),
                Bytes(limit as f64),
            ),
        };
        let tables = match self.full {
            true => vec![domain.everything()],
            false => components(cliques),
        };
        let bytes = table_bytes(domain, &tables);
        if bytes <= limit as f64 {
            return Ok(tables);
        }
        // Which measurement was one too many? Those of the number of records alone do not count.
        let measured: Vec<&Clique> = answers
            .iter()
            .map(|answer| &answer.clique)
            .filter(|clique| !clique.is_empty())
            .collect();
        match outgrown(domain, measured.iter().copied(), limit).filter(|_| !self.full) {
            Some(outgrown) => {
                let (place, steps) = (outgrown.place, measured.len());
                let what = format!("{} {place} of {steps}", self.step_name);
                Err(refused(what, outgrown.bytes, &outgrown.attributes))
            }
            None => Err(refused("the table".into(), bytes, largest(domain, &tables))),
        }
    }
}

/// Names that fit into a message.
const MOST_NAMES: usize = 20;

/// These names, or the first of them and how many more there are.
fn some_of(names: &[&str]) -> String {
    match names.split_at_checked(MOST_NAMES) {
        Some((first, rest)) if rest.len() > 1 => {
            format!("{} and {} more", first.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}
