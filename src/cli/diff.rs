//! `pgmbench diff`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pgmbench::experiment::Analysis;
use pgmbench::results::change::{ArmChange, Changes, Direction};
use pgmbench::results::number;
use serde_json::json;

use super::failure::Failure;
use super::output::{print, print_json};
use super::results_args::folder;

/// Compare two results of an experiment: what is better, what is worse, which claims have changed
///
/// Trials are paired by dataset, case, mechanism, arm, budget and number; with the same seed their
/// noise is the same. An arm is worse if fewer of its trials end with an estimate, or if the whole
/// confidence interval of the ratio of its errors is above 1 and the median beyond the tolerance.
/// Exit code 1 if an arm or a claim is worse.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench run configs/fig1.toml --results new\n  \
    pgmbench diff results/fig1 new/fig1")]
pub(crate) struct DiffArgs {
    /// The folder of the results before
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The folder of the results after
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Read DIR/A and DIR/B, where A and B are no folders
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// The change of a median that is neither better nor worse, as a fraction
    #[arg(long, value_name = "T", default_value_t = 0.01, value_parser = tolerance)]
    tolerance: f64,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let allowed = number.filter(|number| *number >= 0.0 && number.is_finite());
    allowed.ok_or_else(|| "expected a number that is not negative, such as 0.01".into())
}

impl DiffArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let read = |path: &PathBuf| Analysis::read(&folder(path, &self.results));
        let (before, after) = (read(&self.before)?, read(&self.after)?);
        let changes = Changes::between(
            (&before.rows, &after.rows),
            (&before.findings, &after.findings),
            after.manifest.experiment.metric(),
            self.tolerance,
        );
        if changes.arms.is_empty() {
            return Err(Failure::input(format!(
                "{} and {} have no arm in common; expected two results of one experiment",
                self.before.display(),
                self.after.display()
            )));
        }
        match self.json {
            true => print_json(&report(&before, &after, &changes))?,
            false => print(|output| write(&before, &after, &changes, output))?,
        }
        match changes.any_worse() {
            true => Err(Failure::Unexpected(anyhow::anyhow!(
                "{} is worse than {}",
                self.after.display(),
                self.before.display()
            ))),
            false => Ok(()),
        }
    }
}

fn write(
    before: &Analysis,
    after: &Analysis,
    changes: &Changes,
    output: &mut dyn Write,
) -> io::Result<()> {
    for difference in provenance(before, after) {
        writeln!(output, "{difference}")?;
    }
    let metric = after.manifest.experiment.metric().label();
    for (direction, title) in [
        (Direction::Worse, "worse"),
        (Direction::Better, "better"),
        (Direction::Unclear, "changed, neither better nor worse for certain"),
    ] {
        let arms = changes.arms.iter().filter(|arm| arm.direction == direction);
        let arms: Vec<&ArmChange> = arms.collect();
        if !arms.is_empty() {
            writeln!(output, "\n{title}:")?;
        }
        for arm in arms {
            writeln!(output, "  {}: {}", arm.place, describe(arm, &metric))?;
        }
    }
    for (places, title) in [(&changes.only_before, "only in A"), (&changes.only_after, "only in B")]
    {
        if !places.is_empty() {
            writeln!(output, "\n{title}:")?;
            places.iter().try_for_each(|place| writeln!(output, "  {place}"))?;
        }
    }
    if !changes.claims.is_empty() {
        writeln!(output, "\nclaims:")?;
    }
    for claim in &changes.claims {
        writeln!(output, "  {}: {}, was {}", claim.says, claim.after, claim.before)?;
    }
    let count = |direction| changes.arms.iter().filter(|arm| arm.direction == direction).count();
    writeln!(
        output,
        "\n{} arms compared: {} worse, {} better, {} changed, {} the same",
        changes.arms.len(),
        count(Direction::Worse),
        count(Direction::Better),
        count(Direction::Unclear),
        count(Direction::Same)
    )
}

/// The endings if they differ, and the ratio with its interval.
fn describe(arm: &ArmChange, metric: &str) -> String {
    let mut parts = Vec::new();
    if arm.before != arm.after {
        parts.push(format!("{}, was {}", arm.after, arm.before));
    }
    if let Some(ratio) = arm.ratio {
        let interval = match ratio.interval {
            Some(interval) => format!(
                " [{}, {}], {:.1} % coverage",
                number(interval.low),
                number(interval.high),
                100.0 * interval.coverage
            ),
            None => ", a single trial".into(),
        };
        parts.push(format!("{metric} times {}{interval}", number(ratio.median)));
    }
    parts.join("; ")
}

/// What may explain the changes.
fn provenance(before: &Analysis, after: &Analysis) -> Vec<String> {
    let (a, b) = (&before.manifest, &after.manifest);
    let mut differences = Vec::new();
    if a.configuration_blake3 != b.configuration_blake3 {
        differences.push("the configurations differ".to_string());
    }
    for data in &b.datasets {
        let was = a.datasets.iter().find(|other| other.name == data.name);
        if was.is_some_and(|was| was.blake3 != data.blake3) {
            differences.push(format!("the data of {} differs", data.name));
        }
    }
    let build = |analysis: &Analysis| analysis.manifest.runs.last().map(|run| run.build.clone());
    if let (Some(was), Some(is)) = (build(before), build(after))
        && was != is
    {
        let commit = |build: &pgmbench::results::manifest::Build| {
            build.commit.as_ref().map_or("unknown".into(), |commit| commit.id.clone())
        };
        differences.push(format!(
            "the programs differ: {} ({}) and {} ({})",
            was.version,
            commit(&was),
            is.version,
            commit(&is)
        ));
    }
    differences
}

fn report(before: &Analysis, after: &Analysis, changes: &Changes) -> serde_json::Value {
    let arm = |arm: &ArmChange| {
        let interval = arm.ratio.and_then(|ratio| ratio.interval);
        json!({
            "place": arm.place,
            "direction": arm.direction,
            "pairs": arm.ratio.map_or(0, |ratio| ratio.pairs),
            "ratio": arm.ratio.map(|ratio| ratio.median),
            "low": interval.map(|interval| interval.low),
            "high": interval.map(|interval| interval.high),
            "coverage": interval.map(|interval| interval.coverage),
            "before": arm.before.to_string(),
            "after": arm.after.to_string(),
        })
    };
    json!({
        "metric": after.manifest.experiment.metric(),
        "differences": provenance(before, after),
        "same_keys": changes.same_keys,
        "arms": changes.arms.iter().map(arm).collect::<Vec<_>>(),
        "only_before": changes.only_before,
        "only_after": changes.only_after,
        "claims": changes.claims,
        "worse": changes.any_worse(),
    })
}
