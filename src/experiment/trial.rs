use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::coverage::{Coverage, ErrorBars};
use super::observer::Observer;
use super::trace::Tracer;
use super::trial_failure::{TrialFailure, catch_panic};
use super::{ArmSource, Case, Plan, PlannedArm, PlannedRow, Trial};
use crate::evaluation::{answers, largest_error, mean_squared_error, workload_error};
use crate::mechanism::{Private, Published, Release, Task};
use crate::results::{TraceRecord, TrialRecord};
use crate::workload::SubWorkload;
use dp::{Budget, Line, Neighbours, NoiseSource};
use private_pgm::fit::{Estimated, Estimator, EstimatorContext, Pgm, Progress, Settings};
use private_pgm::loss::Measurement;
use private_pgm::model::{MarginalError, Projectable};

/// Iterations between two rounds of an adaptive mechanism (our choice). The errors that select the
/// next query are far larger than the remaining optimisation error.
const ROUND_ITERATIONS: usize = 100;

/// A row, with the ledger lines and traces that are stored with it.
pub(super) struct Finished<'a> {
    pub(super) record: TrialRecord,
    /// Of the release, which all arms share.
    pub(super) ledger: &'a [Line],
    pub(super) traces: Vec<TraceRecord>,
}

/// Limits for each estimate of a trial.
#[derive(Clone, Copy)]
pub(super) struct ResourceLimits {
    /// In bytes.
    pub(super) memory_limit: u64,
    pub(super) seconds: Option<f64>,
    /// Whether several threads work on one estimate.
    pub(super) parallel: bool,
}

impl ResourceLimits {
    /// The deadline of work that begins now.
    fn deadline(&self) -> Option<Instant> {
        self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds))
    }
}

/// Runs the mechanism, then the arms of the `wanted` rows. Calls `finished` with each row as
/// soon as it ends.
pub(super) fn run_trial(
    plan: &Plan,
    trial: &Trial,
    wanted: &[PlannedRow],
    limits: ResourceLimits,
    observer: &dyn Observer,
    mut finished: impl FnMut(Finished<'_>),
) {
    let mut fail = |rows: &[PlannedRow], phase: &str, failure: &TrialFailure| {
        for row in rows {
            let mut record = blank(plan, trial, row);
            failure.record_in(&mut record, phase);
            finished(Finished { record, ledger: &[], traces: Vec::new() });
        }
    };
    let released = catch_panic(|| release(plan, trial, limits));
    let (release, ledger) = match released {
        Ok(released) => released,
        Err(failure) => return fail(wanted, "select", &failure),
    };
    let measured = match catch_panic(|| Ok(Measured::new(plan, trial, &release))) {
        Ok(measured) => measured,
        Err(failure) => return fail(wanted, "measure", &failure),
    };
    for rows in wanted.chunk_by(|a, b| a.arm == b.arm) {
        let arm = &plan.mechanism(trial).arms[rows[0].arm];
        observer.estimates(trial, &arm.name);
        let mut traces = Vec::new();
        let record = blank(plan, trial, &rows[0]);
        let arm_run = ArmRun { plan, trial, arm, release: &release, limits, observer };
        let outcome = catch_panic(|| arm_run.estimate(&record, &mut traces));
        for row in rows {
            let mut record = blank(plan, trial, row);
            record.select_seconds = Some(release.times.select);
            record.measure_seconds = Some(release.times.measure);
            record.error_bound = release.diagnostics.error_bound;
            record.rounds = release.diagnostics.rounds.map(|rounds| rounds.used);
            record.round_limit = release.diagnostics.rounds.map(|rounds| rounds.limit);
            match &outcome {
                Ok((estimated, seconds)) => {
                    record.estimate_seconds = Some(*seconds);
                    let case = &plan.data(trial).cases[row.case];
                    let evaluated = catch_panic(|| {
                        evaluate(case, estimated, &measured, &mut record)?;
                        arm_run.record_coverage(case, estimated, &mut record);
                        Ok(())
                    });
                    if let Err(failure) = evaluated {
                        failure.record_in(&mut record, "evaluate");
                    }
                }
                Err(failure) => failure.record_in(&mut record, "estimate"),
            }
            // If one estimate answers several cases, its traces belong to the first case, whose row
            // may be unwanted.
            let traces =
                if row.case == trial.case { std::mem::take(&mut traces) } else { Vec::new() };
            finished(Finished { record, ledger: &ledger, traces });
        }
    }
}

/// The row before anything has run.
fn blank(plan: &Plan, trial: &Trial, row: &PlannedRow) -> TrialRecord {
    let PlannedRow { arm, case, key } = row;
    let case = &plan.data(trial).cases[*case];
    let (data, mechanism) = (plan.data(trial), plan.mechanism(trial));
    TrialRecord {
        key: key.clone(),
        release: trial.release.clone(),
        experiment: plan.experiment.name.as_ref().clone(),
        dataset: data.name.clone(),
        standin: data.standin,
        attributes: data.data.domain().len(),
        records: data.data.len(),
        case: case.name.clone(),
        size: case.size,
        mechanism: mechanism.label.clone(),
        arm: mechanism.arms[*arm].name.clone(),
        epsilon: trial.epsilon,
        delta: mechanism.delta.unwrap_or(0.0),
        trial: trial.repetition,
        seed: blake3::Hash::from_bytes(plan.seed_path(trial).seed()).to_hex()[..16].into(),
        ..TrialRecord::default()
    }
}

/// Selects and measures, then verifies the ledger.
fn release(
    plan: &Plan,
    trial: &Trial,
    limits: ResourceLimits,
) -> Result<(Release, Vec<Line>), TrialFailure> {
    let total = plan.guarantee(trial).map_err(TrialFailure::failed)?;
    let mut budget = Budget::new(total, plan.experiment.neighbours);
    let mut source = NoiseSource::seeded(&plan.seed_path(trial));
    let between_rounds = Pgm {
        settings: Settings { iterations: Some(ROUND_ITERATIONS), ..Settings::default() },
        // All estimates between rounds together have the time of one estimate.
        deadline: limits.deadline(),
        parallel: limits.parallel,
    };
    let data = plan.data(trial);
    let case = &data.cases[trial.case];
    let task = Task {
        data: Private::new(&data.data),
        workload: &case.workload,
        public: case.public,
        noise: plan.experiment.noise,
        estimator: &between_rounds,
        memory_limit: limits.memory_limit,
        deadline: limits.deadline(),
    };
    let release = plan.mechanism(trial).mechanism.release(&task, &mut budget, &mut source)?;
    let ledger = budget.ledger();
    ledger
        .verify(budget.total())
        .map_err(|error| TrialFailure::failed(format!("ledger: {error}")))?;
    Ok((release, ledger.lines().to_vec()))
}

/// The measured queries with their true answers.
struct Measured {
    parts: Vec<SubWorkload>,
    truth: Vec<Vec<f64>>,
}

impl Measured {
    /// `None` if the release has no linear measurements.
    fn new(plan: &Plan, trial: &Trial, release: &Release) -> Option<Self> {
        let Published::Answers(measurements) = &release.published else { return None };
        let part = |measurement: &Measurement| SubWorkload {
            clique: measurement.clique.clone(),
            query: measurement.query.clone(),
        };
        let parts: Vec<SubWorkload> = measurements.iter().map(part).collect();
        let truth = parts.iter().map(|part| {
            let marginal = plan.data(trial).data.project(&part.clique).ok()?;
            Some(part.answers(marginal.values()))
        });
        Some(Self { truth: truth.collect::<Option<_>>()?, parts })
    }
}

/// One arm that estimates from the release of a trial.
struct ArmRun<'a> {
    plan: &'a Plan,
    trial: &'a Trial,
    arm: &'a PlannedArm,
    release: &'a Release,
    limits: ResourceLimits,
    observer: &'a dyn Observer,
}

impl ArmRun<'_> {
    /// The estimate, and the seconds that it took. Traces carry the coordinates of `record`.
    fn estimate(
        &self,
        record: &TrialRecord,
        traces: &mut Vec<TraceRecord>,
    ) -> Result<(Estimated, f64), TrialFailure> {
        let &Self { plan, trial, arm, release, limits, observer } = self;
        let data = plan.data(trial);
        let (domain, case) = (data.data.domain(), &data.cases[trial.case]);
        let mut tracer = arm.estimation.trace.map(|every| {
            Tracer::new(every, &case.workload, &case.truth, &release.published, record)
        });
        let mut on_progress = |update: &Progress<'_>| {
            observer.iterates(trial, update.iteration);
            if let Some(tracer) = &mut tracer {
                traces.extend(tracer.trace_if_due(update));
            }
        };
        let mut rng = ChaCha20Rng::from_seed(plan.seed_path(trial).with("arm", &arm.name).seed());
        let began = Instant::now();
        let mut context = EstimatorContext {
            memory_limit: limits.memory_limit,
            deadline: limits.deadline(),
            warm_start: release.warm_start.as_ref(),
            rng: &mut rng,
            observer: &mut on_progress,
        };
        let evidence = release.evidence(domain);
        let (built, from_command);
        let estimator: &dyn Estimator = match &arm.source {
            ArmSource::Listed(kind) => {
                built = (kind.build)(&arm.estimation, limits.parallel);
                built.as_deref().unwrap_or(&*release.own_estimator)
            }
            ArmSource::Extra(extra) => {
                let named = release.extra_estimators.iter().find(|(name, _)| *name == extra.name);
                let missing = || {
                    let message = format!("the mechanism has not offered {}", extra.name);
                    TrialFailure::failed(message)
                };
                &*named.ok_or_else(missing)?.1
            }
            ArmSource::Command(command) => {
                from_command = command.estimator(case.workload.cliques());
                &from_command
            }
        };
        let estimated = estimator.estimate(&evidence, &mut context)?;
        Ok((estimated, began.elapsed().as_secs_f64()))
    }

    /// An estimate without error bars is no failure: the row says why there are none.
    fn record_coverage(&self, case: &Case, estimated: &Estimated, record: &mut TrialRecord) {
        let &Self { plan, trial, arm, release, limits, .. } = self;
        let bars = ErrorBars {
            data: &plan.data(trial).data,
            case,
            release,
            public_total: plan.experiment.neighbours == Neighbours::Replace
                || case.public.is_some(),
            evaluation: plan.experiment.evaluation,
            memory_limit: limits.memory_limit,
            deadline: limits.deadline(),
        };
        let seeds = plan.seed_path(trial).with("error bars", &arm.name).with("case", &case.name);
        match bars.coverage(estimated, &mut ChaCha20Rng::from_seed(seeds.seed())) {
            Ok(Coverage { answers, bounds }) => {
                (record.coverage, record.bound_coverage) = (answers, bounds);
            }
            Err(error) => record.message = format!("no error bars: {error}"),
        }
    }
}

fn evaluate(
    case: &Case,
    estimated: &Estimated,
    measured: &Option<Measured>,
    record: &mut TrialRecord,
) -> Result<(), TrialFailure> {
    let began = Instant::now();
    let found = |parts: &[SubWorkload]| {
        let cliques: Vec<_> = parts.iter().map(|part| part.clique.clone()).collect();
        let marginals = estimated.answers.marginals(&cliques)?;
        Ok::<_, MarginalError>(answers(parts, marginals.iter().map(|marginal| marginal.values())))
    };
    let error = |parts: &[SubWorkload], truth: &[Vec<f64>]| {
        Ok::<_, MarginalError>(workload_error(truth, &found(parts)?))
    };
    let on_workload = found(case.workload.parts())?;
    record.workload_error = Some(workload_error(&case.truth, &on_workload));
    record.mean_squared_error =
        Some(mean_squared_error(case.workload.parts(), &case.truth, &on_workload));
    record.max_error = Some(largest_error(&case.truth, &on_workload, record.records))
        .filter(|error| error.is_finite());
    // Undefined if the estimate answers only the workload, or if the true answers to a
    // measurement are all 0: the error is relative to them.
    record.measurement_error = measured
        .as_ref()
        .and_then(|measured| error(&measured.parts, &measured.truth).ok())
        .filter(|error| error.is_finite());
    record.evaluate_seconds = Some(began.elapsed().as_secs_f64());
    let diagnostics = &estimated.diagnostics;
    record.l1_loss = diagnostics.l1_l2.map(|both| both.0);
    record.l2_loss = diagnostics.l1_l2.map(|both| both.1);
    record.loss = diagnostics.loss;
    record.gap = diagnostics.gap;
    record.iterations = diagnostics.iterations;
    record.seconds_per_iteration = diagnostics.seconds_per_iteration;
    record.junction_tree_cells = diagnostics.junction_tree_cells;
    record.peak_bytes = diagnostics.bytes;
    record.message.clone_from(&diagnostics.message);
    Ok(())
}
