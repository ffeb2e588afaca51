//! A mechanism of the user's own: a command that measures and publishes a problem.
//!
//! It gets a task as JSON on standard input and writes a problem on standard output; the formats
//! are in docs/commands.md. Its guarantee is a claim: the whole budget is charged for it, and the
//! ledger says that nothing verifies it. Its noise is seeded by the task, which is for experiments.

mod task;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::{CostModel, Mechanism, MechanismError, Release, Task, WorkloadDependence};
use crate::subprocess::{Limits, PrivateFile, Program, Refusal, refusal};
use dp::{Budget, Guarantee, Neighbours, NoiseSource};
use private_pgm::baselines::LocalLeastSquares;
use private_pgm::problem::Problem;
use serde::de::IgnoredAny;
use task::{Sizes, WrittenTask};

/// A command and its parameters, of which it makes what it likes.
pub(crate) struct CommandMechanism {
    program: Program,
    parameters: toml::Table,
}

impl CommandMechanism {
    /// The cost of a command is unknown: it counts as one pass over the data.
    pub(crate) const COST_MODEL: CostModel = CostModel { is_known: false, ..CostModel::NEGLIGIBLE };
    /// It sees the queries, and may use them.
    pub(crate) const WORKLOAD_DEPENDENCE: WorkloadDependence = WorkloadDependence::Queries;

    pub(crate) fn new(program: Program, parameters: toml::Table) -> Self {
        Self { program, parameters }
    }

    /// The text of the task.
    fn input(
        &self,
        task: &Task<'_>,
        (budget, neighbours): (Guarantee, Neighbours),
        (data, records): (&Path, usize),
        seed: u64,
        limits: &Limits,
    ) -> Result<Vec<u8>, MechanismError> {
        let domain = task.workload.domain();
        let written = WrittenTask {
            format: 1,
            asks_for: "problem",
            domain: Sizes(domain),
            workload: WrittenTask::workload(task.workload),
            data,
            records,
            neighbours,
            budget,
            public: task.public,
            parameters: &self.parameters,
            seed,
            memory_limit: limits.memory,
            seconds: limits.seconds(),
        };
        serde_json::to_vec(&written).map_err(|error| MechanismError::Unsuitable(error.to_string()))
    }

    /// What the command has measured, and whether it states a total.
    fn problem(&self, answer: &[u8], task: &Task<'_>) -> Result<(Problem, bool), MechanismError> {
        match refusal(answer) {
            Some(Refusal::NotApplicable(why)) => return Err(MechanismError::NotApplicable(why)),
            Some(Refusal::Infeasible { bytes, message }) => {
                return Err(MechanismError::Infeasible { bytes, message });
            }
            None => {}
        }
        let wrong = |what: String| MechanismError::from(self.program.wrong_answer(what));
        let (answer, is_added) = with_total(answer);
        let problem = Problem::read(&*answer).map_err(|error| wrong(error.to_string()))?;
        let expected = task.workload.domain();
        if !Sizes(&problem.domain).equal(expected) {
            return Err(wrong("domain: expected the domain of the task, in its order".into()));
        }
        if problem.measurements.is_empty() {
            return Err(wrong("measurements: expected at least one".into()));
        }
        if !problem.zeros.is_empty() {
            return Err(wrong("zeros: expected none, experiments have no use for them".into()));
        }
        let states_total = !is_added && !problem.total_is_estimated;
        Ok((problem, states_total))
    }
}

impl Mechanism for CommandMechanism {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let share = budget.rest()?;
        let io = |error: std::io::Error| {
            MechanismError::Unsuitable(format!("the records cannot be written for it: {error}"))
        };
        let records = task.data.read(&share);
        let file = PrivateFile::new(".csv", task::csv(records).as_bytes()).map_err(io)?;
        let limits = Limits { memory: task.memory_limit, deadline: task.deadline };
        let (seed, granted) = (source.foreign_seed(), (share.guarantee(), neighbours));
        let input = self.input(task, granted, (file.path(), records.len()), seed, &limits)?;
        let (problem, states_total) = self.problem(&self.program.run(input, limits)?, task)?;
        let answers = problem.measurements.iter().map(|measurement| measurement.y.len()).sum();
        let label = format!("claimed by `{}`, not verified", self.program.shown());
        share.claim(label, answers, source);
        let total = match states_total && task.has_private_total(neighbours) {
            true => problem.total,
            false => task.total(neighbours, &problem.measurements)?,
        };
        let own = Box::new(LocalLeastSquares::default());
        Ok(Release::of_answers(total, problem.measurements, own, began))
    }
}

/// The answer with a total of 1 if it states none, and whether that was added. Noise can make the
/// estimate of a small total negative, which a problem refuses; a release estimates it within
/// bounds.
fn with_total(answer: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let fields: Result<BTreeMap<String, IgnoredAny>, _> = serde_json::from_slice(answer);
    let start = answer.iter().position(|&byte| byte == b'{');
    match (fields, start) {
        (Ok(fields), Some(start)) if !fields.is_empty() && !fields.contains_key("total") => {
            let (before, after) = answer.split_at(start + 1);
            ([before, b"\"total\": 1, ", after].concat().into(), true)
        }
        _ => (answer.into(), false),
    }
}
