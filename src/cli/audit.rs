//! `pgmbench audit`.

use clap::Args;
use pgmbench::audit::{Finding, Request, audit};
use pgmbench::experiment::MECHANISMS;
use pgmbench::privacy::{Delta, Epsilon, Neighbours};
use serde_json::json;

use super::budget::{delta, epsilon};
use super::failure::{Blame, Failure};
use super::output::{print, print_json};

/// Attack a mechanism, and report how much privacy it gives at most
///
/// Runs it many times on two data sets that differ in one record, chosen to bring out its weakest
/// spot. Half of the runs choose the event that tells the two apart best, the other half count it:
/// that gives a lower bound on epsilon which holds with a confidence of 95 %. A bound above the claim
/// refutes it (exit code 1); a bound below it proves nothing. The data sets are the program's own, so
/// that nothing private is looked at.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench audit laplace --epsilon 1 --trials 100000\n  \
    pgmbench audit spanning-tree --epsilon 1 --delta 1e-6 --json")]
pub(crate) struct AuditArgs {
    /// The mechanism, one of those that `pgmbench list` shows
    mechanism: String,
    /// The epsilon that it claims
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Epsilon,
    /// The delta that it claims, if it has one
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-6")]
    delta: Delta,
    /// Runs on each of the two data sets
    #[arg(long, value_name = "N", default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    trials: u32,
    /// What the noise starts from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Neighbours differ by a record that is added or removed, rather than replaced
    #[arg(long)]
    add_remove: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The probability with which a bound holds.
const CONFIDENCE: f64 = 0.95;

impl AuditArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let kind = MECHANISMS.iter().find(|kind| kind.name == self.mechanism).ok_or_else(|| {
            let names: Vec<&str> = MECHANISMS.iter().map(|kind| kind.name).collect();
            Failure::input(format!(
                "there is no mechanism {:?}; there are {}",
                self.mechanism,
                names.join(", ")
            ))
        })?;
        let neighbours = match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        let request = Request {
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours,
            trials: self.trials as usize,
            confidence: CONFIDENCE,
            seed: self.seed,
        };
        let findings = audit(kind, &request).or_input(kind.name)?;
        match self.json {
            true => print_json(&json!({
                "mechanism": kind.name,
                "neighbours": neighbours,
                "trials": self.trials,
                "seed": self.seed,
                "randomness": "seeded",
                "findings": findings,
                "refuted": findings.iter().any(Finding::refutes),
            }))?,
            false => self.show(kind.title, &findings)?,
        }
        match findings.iter().find(|finding| finding.refutes()) {
            None => Ok(()),
            Some(finding) => Err(Failure::Unexpected(anyhow::anyhow!(
                "{} does not keep its promise: epsilon is at least {:.3}, not {}",
                kind.name,
                finding.epsilon_lower_bound,
                self.epsilon
            ))),
        }
    }

    fn show(&self, title: &str, findings: &[Finding]) -> Result<(), Failure> {
        print(|output| {
            for finding in findings {
                let Finding { case, claimed_epsilon, claimed_delta, .. } = finding;
                let delta = match *claimed_delta > 0.0 {
                    true => format!(", delta = {claimed_delta}"),
                    false => String::new(),
                };
                writeln!(output, "{title}, {case}")?;
                writeln!(output, "  claimed  epsilon = {claimed_epsilon}{delta}")?;
                writeln!(
                    output,
                    "  audited  epsilon is at least {:.3}, with {:.0} % confidence",
                    finding.epsilon_lower_bound,
                    100.0 * finding.confidence
                )?;
                writeln!(
                    output,
                    "  because  {} of {} runs on one data set and {} on its neighbour had the {}",
                    finding.likelier, finding.runs, finding.rarer, finding.event
                )?;
                match finding.spent {
                    Some(spent) => writeln!(output, "  ledger   {spent}, verified in every run")?,
                    None => writeln!(output, "  ledger   empty: nothing was drawn through it")?,
                }
            }
            Ok(())
        })
    }
}
