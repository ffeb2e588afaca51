//! What trials will cost, before they are run: from the sizes of the models, roughly.

use super::{Plan, PlannedArm, PlannedRow, Trial};
use crate::workload::Workload;
use private_pgm::fit::Algorithm;
use private_pgm::junction_tree::TreeSize;

// Measured on a run of the paper's Figure 1 (release build, one core of a 2 GHz server). Ten times
// off is possible; what matters is that large is told from small.

/// Seconds that an iteration spends on a cell of the junction tree.
const PER_CELL: f64 = 2e-9;
/// Seconds that an iteration spends on a query.
const PER_QUERY: f64 = 2.3e-8;
/// Seconds of the smallest iteration.
const PER_ITERATION: f64 = 1e-5;
/// Seconds that least squares on single marginals, or an estimator of the mechanism's own, spend on
/// a query.
const LOCAL: f64 = 1e-6;
/// Seconds of an arm that finds out that it does not fit into memory, or has nothing to do.
const NOTHING: f64 = 1e-3;
/// Iterations of a line search for one of mirror descent.
const SEARCH: f64 = 2.0;

/// The seconds that the trials of a plan will probably take on one core.
pub struct Costs<'a> {
    plan: &'a Plan,
    trees: Vec<TreeSize>,
}

impl Plan {
    /// What its trials will probably cost.
    pub fn costs(&self) -> Costs<'_> {
        Costs { plan: self, trees: self.trees() }
    }
}

impl Costs<'_> {
    /// A trial: the mechanism and the rows that are asked for.
    pub fn trial(&self, trial: &Trial) -> f64 {
        let rows = trial.rows.iter().map(|row| self.row(trial, row));
        self.release(trial) + rows.sum::<f64>()
    }

    /// What the mechanism itself takes.
    pub fn release(&self, trial: &Trial) -> f64 {
        let workload = self.workload(trial);
        let (attributes, queries) = (workload.domain().len(), workload.queries());
        let cost_model = &self.plan.mechanism(trial).cost_model;
        let seconds = cost_model.predicted(attributes, queries, self.iteration(trial));
        seconds.min(self.limit_seconds())
    }

    /// A row of a trial, without the mechanism. An arm estimates once, whatever the number of cases
    /// that it is judged by.
    pub fn row(&self, trial: &Trial, row: &PlannedRow) -> f64 {
        let cases = trial.rows.iter().filter(|other| other.arm == row.arm).count();
        self.arm(trial, &self.plan.mechanism(trial).arms[row.arm]) / cases.max(1) as f64
    }

    fn arm(&self, trial: &Trial, arm: &PlannedArm) -> f64 {
        let workload = self.workload(trial);
        let iterations = arm.estimation.iterations() as f64;
        let seconds = match arm.source.name() {
            "pgm" if !self.fits(self.measured(trial).cells) => NOTHING,
            "pgm" => {
                let search = match arm.estimation.settings.algorithm {
                    Algorithm::Mirror(_) => SEARCH,
                    _ => 1.0,
                };
                iterations * search * self.iteration(trial)
            }
            "lsmr" | "mw" => {
                let domain = workload.domain();
                let cells: f64 = domain.ids().map(|id| domain.size(id) as f64).product();
                if self.fits(cells) { iterations * cells * PER_CELL } else { NOTHING }
            }
            _ => LOCAL * workload.queries() as f64,
        };
        (NOTHING + seconds).min(self.limit_seconds())
    }

    /// One iteration of a graphical model on what the mechanism measures.
    fn iteration(&self, trial: &Trial) -> f64 {
        let Measured { cells, queries } = self.measured(trial);
        PER_ITERATION + PER_CELL * cells + PER_QUERY * queries
    }

    /// Mechanisms that choose what they measure do not tell before.
    fn measured(&self, trial: &Trial) -> Measured {
        let part = self.plan.mechanism(trial).cost_model.measured_fraction;
        let queries = self.workload(trial).queries() as f64;
        Measured { cells: part * self.trees[trial.data].cells, queries: part * queries }
    }

    /// What the mechanism is asked.
    fn workload(&self, trial: &Trial) -> &Workload {
        &self.plan.data(trial).cases[trial.case].workload
    }

    fn fits(&self, cells: f64) -> bool {
        let limit = self.plan.experiment.limits.memory.map_or(super::MEMORY, |limit| limit.0);
        cells * size_of::<f64>() as f64 <= limit as f64
    }

    fn limit_seconds(&self) -> f64 {
        self.plan.experiment.limits.seconds.unwrap_or(f64::INFINITY)
    }
}

struct Measured {
    cells: f64,
    queries: f64,
}
