//! `pgmbench audit`.

use std::io::{self, Write};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours, Provenance};
use pgmbench::audit::{AuditError, Finding, Request, audit, audit_unknown};
use pgmbench::config::Source;
use pgmbench::experiment::{MECHANISMS, MechanismSpec, PlannedMechanism, commands_of};
use serde_json::json;

use super::failure::{Failure, ResultExt};
use super::output::{note, print, print_json};
use super::privacy_args::{delta, epsilon};

/// Attack a mechanism to find a lower bound on its epsilon
///
/// Runs the mechanism many times on two data sets that differ in one record, found by a search, and
/// computes how likely each output was under either: its privacy loss. Some runs choose the event
/// that distinguishes the two data sets best, the others count it. The result is a lower bound on
/// epsilon with 95 % confidence. A bound above the claim with 99.99 % confidence refutes it (exit
/// code 1); a bound below the claim proves nothing. The data sets are generated: the audit reads no
/// private data.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench audit laplace --epsilon 1 --trials 100000\n  \
    pgmbench audit mst --epsilon 1 --delta 1e-6 --json\n  \
    pgmbench audit mine.toml --epsilon 1    # the commands of an experiment file")]
pub(crate) struct AuditArgs {
    /// A mechanism of `pgmbench list`, `all`, or an experiment file, whose commands are attacked
    mechanism: String,
    /// The claimed epsilon
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = epsilon)]
    epsilon: Epsilon,
    /// The claimed delta, for mechanisms that have one
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-6")]
    #[arg(allow_negative_numbers = true)]
    delta: Delta,
    /// Number of runs on each of the two data sets [default: 20000; 500 for commands]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    trials: Option<u32>,
    /// Seed of the noise
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Neighbouring data sets differ by an added or removed record [default: a replaced record]
    #[arg(long)]
    add_remove: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Print the findings as a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

const CONFIDENCE: f64 = 0.95;
const TRIALS: u32 = 20_000;
/// A command takes some 50 ms for each run. 500 runs can refute an epsilon of up to 3.
const COMMAND_TRIALS: u32 = 500;

/// What is attacked.
enum Target {
    Listed(&'static MechanismSpec),
    Command(Box<PlannedMechanism>),
}

impl Target {
    /// In configurations, and in texts.
    fn names(&self) -> (&str, &str) {
        match self {
            Self::Listed(spec) => (spec.name, spec.title),
            Self::Command(planned) => (&planned.label, &planned.title),
        }
    }

    fn attack(&self, request: &Request) -> Result<Vec<Finding>, AuditError> {
        match self {
            Self::Listed(spec) => audit(spec, request),
            Self::Command(planned) => {
                audit_unknown(&*planned.mechanism, planned.guarantee, request)
            }
        }
    }
}

impl AuditArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut reports = Vec::new();
        if self.markdown {
            print(|output| output.write_all(HEAD.as_bytes()))?;
        }
        let mut refuted = Vec::new();
        for target in self.targets()? {
            let (name, title) = target.names();
            let findings = target.attack(&self.request(&target)).input_at(name)?;
            if findings.iter().any(Finding::refutes) {
                let bounds = findings.iter().map(|finding| finding.verdict_bound);
                let bound = bounds.fold(0.0, f64::max);
                refuted.push(format!("{name} (epsilon is at least {bound:.3})"));
            }
            match (self.json, self.markdown) {
                (true, _) => reports.push(self.report(&target, &findings)),
                (_, true) => print(|output| rows(output, title, &findings))?,
                _ => show(title, &findings)?,
            }
        }
        if self.json {
            print_json(&reports)?;
        }
        match refuted.is_empty() {
            true => Ok(()),
            false => Err(Failure::Unexpected(anyhow::anyhow!(
                "epsilon = {} is refuted for {}",
                self.epsilon,
                refuted.join(", ")
            ))),
        }
    }

    fn targets(&self) -> Result<Vec<Target>, Failure> {
        if self.mechanism.ends_with(".toml") {
            return self.commands();
        }
        let is_requested = |spec: &&MechanismSpec| match self.mechanism == "all" {
            true => !self.is_impossible(spec),
            false => spec.name == self.mechanism,
        };
        let requested = MECHANISMS.iter().copied().filter(is_requested).map(Target::Listed);
        let requested: Vec<Target> = requested.collect();
        if requested.is_empty() {
            let names: Vec<&str> = MECHANISMS.iter().map(|spec| spec.name).collect();
            return Err(Failure::input(format!(
                "no mechanism is named {:?}; choose one of {}, all, or an experiment file with \
                 commands",
                self.mechanism,
                names.join(", ")
            )));
        }
        Ok(requested)
    }

    /// Whether the mechanism refuses these neighbours. Says so.
    fn is_impossible(&self, spec: &MechanismSpec) -> bool {
        let needs_total =
            (spec.build)(&toml::Table::new()).is_ok_and(|mechanism| mechanism.needs_public_total());
        let refuses = self.add_remove && needs_total;
        if refuses {
            note(format_args!("{}: left out, it needs a public number of records", spec.name));
        }
        refuses
    }

    /// The commands of an experiment file.
    fn commands(&self) -> Result<Vec<Target>, Failure> {
        let source = Source::read(&self.mechanism).input()?;
        let commands = commands_of(&source).input()?;
        match commands.is_empty() {
            true => Err(Failure::input(format!(
                "{}: none of its mechanisms is a command; audit the others by their names",
                self.mechanism
            ))),
            false => Ok(commands.into_iter().map(Box::new).map(Target::Command).collect()),
        }
    }

    fn trials(&self, target: &Target) -> u32 {
        self.trials.unwrap_or(match target {
            Target::Listed(_) => TRIALS,
            Target::Command(_) => COMMAND_TRIALS,
        })
    }

    fn request(&self, target: &Target) -> Request {
        Request {
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: self.neighbours(),
            trials: self.trials(target) as usize,
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

    fn report(&self, target: &Target, findings: &[Finding]) -> serde_json::Value {
        json!({
            "mechanism": target.names().0,
            "neighbours": self.neighbours(),
            "trials": self.trials(target),
            "seed": self.seed,
            "randomness": Provenance::Seeded,
            "findings": findings,
            "refuted": findings.iter().any(Finding::refutes),
        })
    }
}

const HEAD: &str = "\
| mechanism | case | epsilon is at least | largest that the pair allows |
| --- | --- | ---: | ---: |
";

/// A row per case.
fn rows(output: &mut dyn Write, title: &str, findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        let Finding { case, epsilon_lower_bound, .. } = finding;
        let most = finding.ceiling().map_or("unknown".into(), |most| format!("{most:.2}"));
        writeln!(output, "| {title} | {case} | {epsilon_lower_bound:.2} | {most} |")?;
    }
    Ok(())
}

fn show(title: &str, findings: &[Finding]) -> Result<(), Failure> {
    print(|output| findings.iter().try_for_each(|finding| show_one(output, title, finding)))
}

fn show_one(output: &mut dyn Write, title: &str, finding: &Finding) -> io::Result<()> {
    let Finding { case, claimed_epsilon, claimed_delta, runs, event, .. } = finding;
    let delta = match *claimed_delta > 0.0 {
        true => format!(", delta = {claimed_delta}"),
        false => String::new(),
    };
    let rho = finding.claimed_rho.map_or(String::new(), |rho| format!(", by rho = {rho:.5}"));
    writeln!(output, "{title}, {case}")?;
    writeln!(output, "  claimed  epsilon = {claimed_epsilon}{delta}{rho}")?;
    let (bound, confidence) = (finding.epsilon_lower_bound, 100.0 * finding.confidence);
    let rho = match finding.rho_lower_bound {
        Some(rho) => format!(" (rho at least {rho:.5})"),
        None => String::new(),
    };
    writeln!(
        output,
        "  audited  epsilon is at least {bound:.3}{rho}, with {confidence:.0} % confidence"
    )?;
    match finding.rho_lower_bound {
        Some(_) => writeln!(output, "  because  {runs} runs on either data set had {event}")?,
        None => writeln!(
            output,
            "  because  {} of {runs} runs on one data set and {} on its neighbour had {event}",
            finding.likelier, finding.rarer
        )?,
    }
    writeln!(output, "  pair     {}", finding.pair)?;
    if let Some(most) = finding.ceiling() {
        writeln!(output, "  at most  {most:.3} could be found with this pair")?;
    }
    if finding.impossible > 0 {
        let impossible = finding.impossible;
        writeln!(
            output,
            "  apart    {impossible} runs have outputs that the neighbour cannot have"
        )?;
    }
    match finding.spent {
        Some(spent) => {
            writeln!(output, "  ledger   {spent} spent in the first run; verified in every run")
        }
        None => writeln!(output, "  ledger   empty: the mechanism drew no noise from its budget"),
    }
}
