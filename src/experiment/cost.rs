//! Rough predictions of the time that trials take, from the sizes of the models.

use super::{Plan, PlannedArm, PlannedRow, Trial};
use crate::workload::Workload;
use private_pgm::fit::Algorithm;
use private_pgm::junction_tree::TreeSize;

// Measured on a run of the paper's Figure 1 (release build, one core of a 2 GHz server).
// Predictions may be wrong by a factor of ten; it suffices that they separate long trials from
// short ones.

/// Per iteration and cell of the junction tree.
const SECONDS_PER_CELL: f64 = 2e-9;
/// Per iteration and query.
const SECONDS_PER_QUERY: f64 = 2.3e-8;
/// Of the smallest iteration.
const SECONDS_PER_ITERATION: f64 = 1e-5;
/// Per query, for local least squares and for the mechanism's own estimator.
const LOCAL_SECONDS_PER_QUERY: f64 = 1e-6;
/// Of an arm that does not fit into memory or has nothing to estimate.
const SECONDS_PER_ARM: f64 = 1e-3;
/// Evaluations of the line search per iteration of mirror descent.
const LINE_SEARCH_FACTOR: f64 = 2.0;

/// Predicts the seconds that trials of a plan take on one core.
pub struct Costs<'a> {
    plan: &'a Plan,
    trees: Vec<TreeSize>,
}

impl Plan {
    pub fn costs(&self) -> Costs<'_> {
        Costs { plan: self, trees: self.trees() }
    }
}

impl Costs<'_> {
    /// The mechanism and all planned rows of a trial.
    pub fn trial(&self, trial: &Trial) -> f64 {
        let rows = trial.rows.iter().map(|row| self.row(trial, row));
        self.release(trial) + rows.sum::<f64>()
    }

    /// The mechanism alone.
    pub fn release(&self, trial: &Trial) -> f64 {
        let workload = self.workload(trial);
        let (attributes, queries) = (workload.domain().len(), workload.queries());
        let cost_model = &self.plan.mechanism(trial).cost_model;
        let seconds = cost_model.predicted(attributes, queries, self.iteration(trial));
        seconds.min(self.limit_seconds())
    }

    /// A row of a trial, without the mechanism. An arm estimates once for all of its cases, so each
    /// row gets an equal part.
    pub fn row(&self, trial: &Trial, row: &PlannedRow) -> f64 {
        let cases = trial.rows.iter().filter(|other| other.arm == row.arm).count();
        self.arm(trial, &self.plan.mechanism(trial).arms[row.arm]) / cases.max(1) as f64
    }

    fn arm(&self, trial: &Trial, arm: &PlannedArm) -> f64 {
        let workload = self.workload(trial);
        let iterations = arm.estimation.iterations() as f64;
        let seconds = match arm.source.name() {
            "pgm" if !self.fits(self.measured(trial).cells) => SECONDS_PER_ARM,
            "pgm" => {
                let search = match arm.estimation.settings.algorithm {
                    Algorithm::Mirror(_) => LINE_SEARCH_FACTOR,
                    _ => 1.0,
                };
                iterations * search * self.iteration(trial)
            }
            "lsmr" | "mw" => {
                let domain = workload.domain();
                let cells: f64 = domain.ids().map(|id| domain.size(id) as f64).product();
                match self.fits(cells) {
                    true => iterations * cells * SECONDS_PER_CELL,
                    false => SECONDS_PER_ARM,
                }
            }
            _ => LOCAL_SECONDS_PER_QUERY * workload.queries() as f64,
        };
        (SECONDS_PER_ARM + seconds).min(self.limit_seconds())
    }

    /// One iteration of fitting a graphical model to the measurements.
    fn iteration(&self, trial: &Trial) -> f64 {
        let MeasuredSize { cells, queries } = self.measured(trial);
        SECONDS_PER_ITERATION + SECONDS_PER_CELL * cells + SECONDS_PER_QUERY * queries
    }

    /// Assumes that adaptive mechanisms measure a fixed fraction of the workload.
    fn measured(&self, trial: &Trial) -> MeasuredSize {
        let cost_model = &self.plan.mechanism(trial).cost_model;
        let fraction = cost_model.measured_fraction;
        let queries = self.workload(trial).queries() as f64;
        let cells = (fraction * self.trees[trial.data].cells).min(cost_model.most_cells);
        MeasuredSize { cells, queries: fraction * queries }
    }

    /// The workload that the mechanism receives.
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

struct MeasuredSize {
    cells: f64,
    queries: f64,
}
