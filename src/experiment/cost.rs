//! Rough predictions of the time that trials take, from the sizes of the models.

use std::f64::consts::{PI, SQRT_2};

use super::{ArmSource, Plan, PlannedArm, PlannedRow, Trial};
use crate::mechanism::Measured;
use crate::workload::Workload;
use dp::{Guarantee, Neighbours};
use private_pgm::domain::Clique;
use private_pgm::fit::Algorithm;
use private_pgm::junction_tree::TreeSize;

// Fitted to single trials of the shipped experiments (release build, one core of a 2 GHz server),
// and tested to a factor of three on AIM and MWEM+PGM on Adult only. Mechanisms that choose what
// they measure cannot be predicted better without the data.

/// Per iteration and cell of the junction tree.
const SECONDS_PER_CELL: f64 = 1.2e-9;
/// Per iteration and query.
const SECONDS_PER_QUERY: f64 = 2.3e-8;
/// Of the smallest iteration.
const SECONDS_PER_ITERATION: f64 = 2e-6;
/// Per measured query, for local least squares and for the mechanism's own estimator.
const LOCAL_SECONDS_PER_QUERY: f64 = 1e-6;
/// Per query of the workload, for the errors of an estimate.
const EVALUATION_SECONDS_PER_QUERY: f64 = 1e-8;
/// Per cell of what is measured, for the iterations of a mechanism's further estimators.
const EXTRA_SECONDS_PER_CELL: f64 = 5e-6;
/// Per record and marginal of the workload, for the true counts.
const SECONDS_PER_RECORD: f64 = 1e-9;
/// Of an arm that does not fit into memory or has nothing to estimate.
const SECONDS_PER_ARM: f64 = 1e-3;
/// Evaluations of the line search per iteration of mirror descent.
const LINE_SEARCH_FACTOR: f64 = 2.0;
/// The cells of a junction tree of marginals of n cells that are chosen one by one are this times
/// n^2, for each attribute. Fitted to AIM on Adult with epsilon from 0.1 to 10 (1,000, 65,000 and
/// 5.5 million cells); on Titanic it is off by a factor of three.
const CHOSEN_CELLS: f64 = 0.026;
/// The most cells of a junction tree that such mechanisms accept by default.
const MOST_CHOSEN_CELLS: f64 = 10_485_760.0;
/// Records per cell of the marginals that MWEM+PGM chooses, fitted to it on Adult with epsilon 1.
const RECORDS_PER_CELL: f64 = 40.0;

/// Predicts the seconds that trials of a plan take on one core.
pub struct Costs<'a> {
    plan: &'a Plan,
    trees: Vec<TreeSize>,
}

impl Plan {
    /// The labels of mechanisms and the names of arms whose time cannot be predicted.
    pub fn unknown_costs(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for mechanism in &self.mechanisms {
            if !mechanism.cost_model.is_known {
                names.push(mechanism.label.as_str());
            }
            let commands = mechanism.arms.iter().filter(|arm| arm.source.is_command());
            names.extend(commands.map(|arm| arm.name.as_str()));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

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
        let (attributes, marginals) = (workload.domain().len(), workload.cliques().len());
        let cost_model = &self.plan.mechanism(trial).cost_model;
        let sizes = (marginals, workload.queries());
        let model = (self.iteration(trial), self.measured(trial).cells);
        let seconds = cost_model.predicted(attributes, sizes, model);
        let counted = self.plan.data(trial).data.len() * marginals;
        (seconds + SECONDS_PER_RECORD * counted as f64).min(self.limit_seconds())
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
            "own" => {
                let iterations = self.plan.mechanism(trial).cost_model.own_iterations;
                self.local(trial) + iterations * self.iteration(trial)
            }
            _ if matches!(arm.source, ArmSource::Extra(_)) => {
                EXTRA_SECONDS_PER_CELL * self.measured(trial).cells
            }
            _ => self.local(trial),
        };
        let evaluation = EVALUATION_SECONDS_PER_QUERY * workload.queries() as f64;
        (SECONDS_PER_ARM + evaluation + seconds).min(self.limit_seconds())
    }

    /// One iteration of fitting a graphical model to the measurements.
    fn iteration(&self, trial: &Trial) -> f64 {
        let MeasuredSize { cells, queries } = self.measured(trial);
        SECONDS_PER_ITERATION + SECONDS_PER_CELL * cells + SECONDS_PER_QUERY * queries
    }

    /// An estimate without iterations.
    fn local(&self, trial: &Trial) -> f64 {
        LOCAL_SECONDS_PER_QUERY * self.measured(trial).queries
    }

    fn measured(&self, trial: &Trial) -> MeasuredSize {
        let workload = self.workload(trial);
        let sizes: f64 = workload.domain().ids().map(|id| workload.domain().size(id) as f64).sum();
        let attributes = workload.domain().len() as f64;
        let all = MeasuredSize {
            cells: self.trees[trial.data].cells,
            queries: workload.queries() as f64,
        };
        let of = |cells: f64| MeasuredSize {
            cells: cells.min(all.cells),
            queries: cells.min(all.queries),
        };
        match self.plan.mechanism(trial).cost_model.measured {
            Measured::Workload => all,
            Measured::Part(part) => {
                MeasuredSize { cells: part * all.cells, queries: part * all.queries }
            }
            Measured::Attributes => of(sizes),
            Measured::Pairs => of(sizes * sizes / attributes),
            Measured::ChosenByNoise { rounds_per_attribute } => {
                self.chosen(trial, self.largest(trial, rounds_per_attribute * attributes), all)
            }
            Measured::ChosenByCells => {
                let records = self.plan.data(trial).data.len() as f64;
                self.chosen(trial, RECORDS_PER_CELL.recip() * records, all)
            }
        }
    }

    /// Of marginals with at most `largest` cells that are chosen from the workload.
    fn chosen(&self, trial: &Trial, largest: f64, all: MeasuredSize) -> MeasuredSize {
        let workload = self.workload(trial);
        let domain = workload.domain();
        let size =
            |clique: &Clique| -> f64 { clique.iter().map(|id| domain.size(id) as f64).product() };
        let largest = largest.min(workload.cliques().iter().map(size).fold(1.0, f64::max));
        let attributes = domain.len() as f64;
        let single: f64 = domain.ids().map(|id| domain.size(id) as f64).sum();
        let cells = single + CHOSEN_CELLS * attributes * largest * largest;
        MeasuredSize {
            cells: cells.min(MOST_CHOSEN_CELLS).min(all.cells),
            queries: (single + attributes * largest).min(all.queries),
        }
    }

    /// The cells of a marginal whose counts are as large as the noise of one of that number of
    /// rounds: a larger one is not worth its noise.
    fn largest(&self, trial: &Trial, rounds: f64) -> f64 {
        let Ok(Guarantee::Concentrated { rho }) = self.plan.guarantee(trial) else {
            return f64::INFINITY;
        };
        let sensitivity = match self.plan.experiment.neighbours {
            Neighbours::Replace => SQRT_2,
            Neighbours::AddRemove => 1.0,
        };
        let deviation = sensitivity * (rounds / (2.0 * rho.get())).sqrt();
        self.plan.data(trial).data.len() as f64 / (deviation * (2.0 / PI).sqrt())
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

#[derive(Clone, Copy)]
struct MeasuredSize {
    cells: f64,
    queries: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Source};
    use crate::data::Registry;
    use crate::experiment::Filter;
    use std::path::Path;

    /// Processor seconds of one trial, measured on the machine on which the constants were fitted,
    /// so this is no proof that they are right: it keeps predictions from being hours for seconds.
    #[test]
    fn trials_of_adaptive_mechanisms_take_about_as_long_as_was_measured() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/aim-fig.toml");
        for (mechanism, epsilon, measured) in
            [("aim", 1.0, 1.6), ("aim", 10.0, 38.0), ("mwem-pgm", 1.0, 1.5)]
        {
            let filter = Filter {
                datasets: vec!["adult".into()],
                mechanisms: vec![mechanism.into()],
                epsilons: vec![epsilon],
                ..Filter::default()
            };
            let source = Source::read(&path).unwrap();
            let plan =
                Plan::new(source, &Overrides::default(), &Registry::default(), &filter).unwrap();
            let predicted = plan.costs().trial(&plan.trials[0]);
            assert!(
                (predicted / measured).max(measured / predicted) < 3.0,
                "{mechanism}, epsilon {epsilon}: {predicted} s, not {measured} s"
            );
        }
    }
}
