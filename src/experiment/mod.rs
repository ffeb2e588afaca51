//! Experiments: repeated trials of mechanisms on datasets, comparing estimators.
//!
//! An experiment file becomes a [`Plan`]: the data, the workloads, the mechanisms with their arms,
//! and the trials. [`run`] runs the trials that have no result yet. In each trial the
//! mechanism selects and measures once, and every arm estimates from the same measurements.
//! Numbers depend on the coordinates of a trial alone (seed, data, mechanism, epsilon, trial):
//! not on threads, order, or what ran before.
//!
//! [`analyse`] covers all steps from a configuration to summary, claims and figure: a [`Recording`]
//! runs a plan into a folder, and an [`Analysis`] evaluates the rows in it.

mod analysis;
mod arm;
mod collect;
mod command_estimator;
mod cost;
mod coverage;
mod key;
mod measurement;
mod observer;
mod plan;
mod provenance;
mod recording;
mod runner;
mod scaling;
mod shard;
mod synthesis;
mod trace;
mod trial;
mod trial_failure;
mod verify;

pub use analysis::{Analysis, AnalysisError, analyse};
pub use arm::{ARMS, ArmKind};
pub use collect::{CollectError, collect};
pub use cost::Costs;
pub use measurement::{
    MeasureError, MeasuredRelease, all_marginals, kept_by, marginals_of, measure,
};
pub use observer::{Observer, Silent};
pub use plan::{
    ArmSource, Case, Filter, Origin, Plan, PlanError, PlannedArm, PlannedData, PlannedMechanism,
    PlannedRow, Trial, commands_of,
};
pub use recording::{Portion, Recording};
pub use runner::{MEMORY, Options, RunError, Tally, run};
#[cfg(feature = "sabotage")]
pub use synthesis::synthesize_with;
pub use synthesis::{
    ERROR_BAR_CONFIDENCE, ErrorBar, ReleaseMechanism, SynthesisError, SynthesisRequest,
    SyntheticRelease, synthesize,
};
pub use verify::{ReplayError, Verified, verify};

pub use crate::mechanism::residual_planner::{Objective, Prediction, predict};
pub use crate::mechanism::{GuaranteeKind, MECHANISMS, Mechanism, MechanismSpec};
pub use crate::workload::Workload;
