//! `pgmbench audit`.

use clap::Args;
use dp::{Delta, Epsilon, Neighbours, Provenance};
use pgmbench::audit::{Finding, Request, audit};
use pgmbench::experiment::{MECHANISMS, MechanismSpec};
use serde_json::json;

use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};
use super::privacy_args::{delta, epsilon};

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
    /// The mechanism, one of those that `pgmbench list` shows, or `all`
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
        let all = self.mechanism == "all";
        let kinds: Vec<&MechanismSpec> =
            MECHANISMS.iter().copied().filter(|kind| all || kind.name == self.mechanism).collect();
        if kinds.is_empty() {
            let names: Vec<&str> = MECHANISMS.iter().map(|kind| kind.name).collect();
            return Err(Failure::input(format!(
                "there is no mechanism {:?}; there are {}",
                self.mechanism,
                names.join(", ")
            )));
        }
        let mut reports = Vec::new();
        let mut refuted = Vec::new();
        for kind in kinds {
            let findings = audit(kind, &self.request()).input_at(kind.name)?;
            let worst = findings.iter().map(|finding| finding.epsilon_lower_bound);
            if findings.iter().any(Finding::refutes) {
                let bound = worst.fold(0.0, f64::max);
                refuted.push(format!("{}: epsilon is at least {bound:.3}", kind.name));
            }
            match self.json {
                true => reports.push(self.report(kind, &findings)),
                false => show(kind.title, &findings)?,
            }
        }
        if self.json {
            print_json(&reports)?;
        }
        match refuted.is_empty() {
            true => Ok(()),
            false => Err(Failure::Unexpected(anyhow::anyhow!(
                "a promise of epsilon = {} is not kept by {}",
                self.epsilon,
                refuted.join(", ")
            ))),
        }
    }

    fn request(&self) -> Request {
        Request {
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: self.neighbours(),
            trials: self.trials as usize,
            confidence: CONFIDENCE,
            seed: self.seed,
        }
    }

    fn neighbours(&self) -> Neighbours {
        match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        }
    }

    fn report(&self, kind: &MechanismSpec, findings: &[Finding]) -> serde_json::Value {
        json!({
            "mechanism": kind.name,
            "neighbours": self.neighbours(),
            "trials": self.trials,
            "seed": self.seed,
            "randomness": Provenance::Seeded,
            "findings": findings,
            "refuted": findings.iter().any(Finding::refutes),
        })
    }
}

fn show(title: &str, findings: &[Finding]) -> Result<(), Failure> {
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
                Some(spent) => {
                    writeln!(
                        output,
                        "  ledger   {spent} drawn in the first run; verified in every run"
                    )?;
                }
                None => writeln!(output, "  ledger   empty: nothing was drawn through it")?,
            }
        }
        Ok(())
    })
}
