//! An estimator of the user's own: a command that gets a problem and writes marginals or records.
//! The formats are in docs/commands.md.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::data::{Dataset, Provenance, Repeated};
use crate::subprocess::{CommandError, Limits, Program, Refusal, refusal};
use private_pgm::baselines::Tables;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::problem::Problem;

/// A command that arms may name.
pub struct EstimatorCommand {
    name: String,
    program: Program,
    parameters: Table,
    fingerprint: String,
}

impl EstimatorCommand {
    pub(super) fn new(
        name: &str,
        program: Program,
        parameters: Table,
        fingerprint: String,
    ) -> Self {
        Self { name: name.into(), program, parameters, fingerprint }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn shown(&self) -> String {
        self.program.shown()
    }

    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// An estimator of these marginals.
    pub(super) fn estimator(self: &Arc<Self>, asked: Vec<Clique>) -> CommandEstimator {
        CommandEstimator { command: Arc::clone(self), asked }
    }
}

pub(super) struct CommandEstimator {
    command: Arc<EstimatorCommand>,
    /// The marginals that the workload needs.
    asked: Vec<Clique>,
}

/// What a command reads.
#[derive(Serialize)]
struct Task<'a> {
    format: u32,
    asks_for: &'static str,
    problem: &'a Problem,
    /// The attributes of the marginals that are asked for.
    marginals: Vec<Vec<&'a str>>,
    parameters: &'a Table,
    seed: u64,
    memory_limit: u64,
    seconds: Option<f64>,
}

/// What it writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    marginals: Option<Vec<Marginal>>,
    records: Option<Vec<Vec<u32>>>,
    iterations: Option<usize>,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Marginal {
    attrs: Vec<String>,
    values: Vec<f64>,
}

impl Estimator for CommandEstimator {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            let message = "a command gets noisy answers to linear queries, found a likelihood";
            return Err(EstimatorError::Unsupported(message.into()));
        };
        let EstimatorCommand { program, parameters, .. } = &*self.command;
        let failed = |error: CommandError| match error.is_timeout() {
            true => EstimatorError::Timeout { iterations: 0 },
            false => EstimatorError::Failed(error.to_string()),
        };
        let wrong = |what: String| failed(program.wrong_answer(what));
        let domain = evidence.domain;
        let problem = Problem::builder(domain.clone()).total(evidence.total);
        let problem = problem.measure_all(answers.iter().cloned()).build();
        let limits = Limits { memory: context.memory_limit, deadline: context.deadline };
        let task = Task {
            format: 1,
            asks_for: "marginals or records",
            problem: &problem.map_err(|error| EstimatorError::Failed(error.to_string()))?,
            marginals: self.asked.iter().map(|clique| domain.names(clique)).collect(),
            parameters,
            seed: context.rng.next_u64() >> 11,
            memory_limit: limits.memory,
            seconds: limits.seconds(),
        };
        let input =
            serde_json::to_vec(&task).map_err(|error| EstimatorError::Failed(error.to_string()))?;
        let output = program.run(input, limits).map_err(failed)?;
        match refusal(&output) {
            Some(Refusal::NotApplicable(why)) => return Err(EstimatorError::Unsupported(why)),
            Some(Refusal::Infeasible { bytes, message }) => {
                return Err(EstimatorError::Infeasible { bytes, message });
            }
            None => {}
        }
        let answer: Answer =
            serde_json::from_slice(&output).map_err(|error| wrong(error.to_string()))?;
        let diagnostics = Diagnostics {
            iterations: answer.iterations,
            message: answer.message,
            ..Diagnostics::default()
        };
        let answers: Box<dyn Projectable> = match (answer.marginals, answer.records) {
            (Some(marginals), None) => {
                Box::new(tables(domain, marginals, &self.asked).map_err(wrong)?)
            }
            (None, Some(records)) => {
                Box::new(repeated(domain, &records, evidence.total).map_err(wrong)?)
            }
            _ => return Err(wrong("expected either marginals or records".into())),
        };
        Ok(Estimated { answers, model: None, diagnostics })
    }
}

/// The marginals, among which those on the `asked` cliques have to be.
fn tables(domain: &Domain, marginals: Vec<Marginal>, asked: &[Clique]) -> Result<Tables, String> {
    let mut tables = Vec::with_capacity(marginals.len());
    for (index, Marginal { attrs, values }) in marginals.into_iter().enumerate() {
        // Brings the cells from the order of the list into that of the axes.
        let sorted = Measurement::marginal(domain, &attrs, &values, 1.0)
            .map_err(|error| format!("marginals[{index}]: {error}"))?;
        tables.push(Factor::new(domain, sorted.clique, sorted.y));
    }
    let missing =
        asked.iter().find(|clique| !tables.iter().any(|table| clique.is_subset(table.clique())));
    match missing {
        Some(clique) => {
            let names = domain.names(clique).join(", ");
            Err(format!("marginals: the one on {names} was asked for and is missing"))
        }
        None => Ok(Tables::new(domain, tables)),
    }
}

/// The records, with equal weights that sum to `total`.
fn repeated(domain: &Domain, records: &[Vec<u32>], total: f64) -> Result<Repeated, String> {
    if records.is_empty() {
        return Err("records: expected at least one".into());
    }
    let attributes = domain.len();
    if let Some(row) = records.iter().position(|record| record.len() != attributes) {
        let found = records[row].len();
        return Err(format!("records[{row}]: expected {attributes} codes, found {found}"));
    }
    let column = |place: usize| records.iter().map(|record| record[place]).collect();
    let columns: Vec<Vec<u32>> = (0..attributes).map(column).collect();
    let dataset = Dataset::from_codes("estimate", domain, &columns, Provenance::default());
    let dataset = dataset.map_err(|error| format!("records: {error}"))?;
    Ok(Repeated { times: total / dataset.len() as f64, records: Arc::new(dataset) })
}
