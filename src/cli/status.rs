//! `pgmbench status`.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use pgmbench::results::folder::read;
use pgmbench::results::manifest::Manifest;
use pgmbench::results::schedule::ScheduledArm;
use pgmbench::results::{Progress, Status, TrialRecord};
use serde_json::json;

use super::about::About;
use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};
use super::results_args::ResultsArgs;

/// Say what is done, what failed and why, what is left, and how long it will take
///
/// Reads the results and runs nothing; a run, or several shards on several machines, may be
/// writing them at the same time.
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench status results/fig1")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    results: ResultsArgs,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Groups of arms that a list shows.
const MAX_GROUPS: usize = 20;

impl StatusArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = self.results.folder();
        let state = State::read(&folder)?;
        match self.json {
            true => state.print_json(),
            false => print(|output| state.write(output)),
        }
    }
}

/// The progress of the results in a folder.
pub(crate) struct State {
    manifest: Manifest,
    pub(crate) progress: Progress,
}

impl State {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let (manifest, recorded) = read(folder).input()?;
        let progress = Progress::of(&manifest, &recorded);
        Ok(Self { manifest, progress })
    }

    /// The number of scheduled arms.
    fn arms(&self) -> usize {
        self.manifest.arms().len()
    }

    /// Of the last run.
    fn threads(&self) -> usize {
        self.manifest.runs.last().map_or(1, |run| run.threads.max(1))
    }

    pub(crate) fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let Progress { rows, left, stale } = &self.progress;
        let name = self.manifest.name();
        let title = Some(&self.manifest.experiment.title).filter(|title| *title != name);
        writeln!(output, "{name}{}", title.map_or(String::new(), |title| format!(": {title}")))?;
        writeln!(output, "{} of {} arms have a row", rows.len(), self.arms())?;
        for status in Status::ALL {
            let count = self.progress.count(status);
            if count > 0 || status == Status::Done {
                writeln!(output, "  {:<14} {count}", status.to_string())?;
            }
        }
        if *stale > 0 {
            writeln!(output, "  {:<14} {stale} of other configurations", "stale")?;
        }
        for status in Status::ALL.into_iter().filter(|&status| status != Status::Done) {
            self.write_reasons(output, status)?;
        }
        if left.is_empty() {
            return writeln!(output, "nothing is left to do");
        }
        writeln!(output, "\nleft: {}", left.len())?;
        let groups = counted(left.iter().map(|(arm, seconds)| (group(arm), *seconds)));
        for (group, count, seconds) in groups.iter().take(MAX_GROUPS) {
            writeln!(output, "  {group}: {count}, {} each", About(seconds / *count as f64))?;
        }
        write_rest(output, groups.len())?;
        let (seconds, threads) = (self.progress.seconds_left(), self.threads());
        let from = match rows.is_empty() {
            true => "from the sizes of the models alone",
            false => "from the times seen so far",
        };
        let together = match threads {
            1 => String::new(),
            _ => {
                let together = About(seconds / threads as f64);
                format!(" ({together} with {threads} threads, as in the last run)")
            }
        };
        writeln!(output, "{} of work{together}, {from}", About(seconds))
    }

    /// Lists the arms with this status and their reasons.
    fn write_reasons(&self, output: &mut dyn Write, status: Status) -> io::Result<()> {
        let rows = self.progress.rows.iter().filter(|row| row.status == status);
        let groups = counted(rows.map(|row| (reason(row), 0.0)));
        if groups.is_empty() {
            return Ok(());
        }
        writeln!(output, "\n{status}:")?;
        for (reason, count, _) in groups.iter().take(MAX_GROUPS) {
            writeln!(output, "  {count} x {reason}")?;
        }
        write_rest(output, groups.len())
    }

    fn print_json(&self) -> Result<(), Failure> {
        let Progress { rows, left, stale } = &self.progress;
        let count = |status| self.progress.count(status);
        let failures = rows.iter().filter(|row| row.status == Status::Failed);
        print_json(&json!({
            "experiment": self.manifest.name(),
            "arms": self.arms(),
            "done": count(Status::Done),
            "infeasible": count(Status::Infeasible),
            "timeout": count(Status::Timeout),
            "not_applicable": count(Status::NotApplicable),
            "failed": count(Status::Failed),
            "failures": failures.collect::<Vec<_>>(),
            "left": left.iter().map(|(arm, _)| arm).collect::<Vec<_>>(),
            "seconds_left": self.progress.seconds_left(),
            "threads": self.threads(),
            "stale": stale,
        }))
    }
}

fn group(arm: &ScheduledArm) -> String {
    format!("{} {} {}", arm.dataset, arm.mechanism, arm.arm)
}

fn reason(row: &TrialRecord) -> String {
    let phase = if row.phase.is_empty() { String::new() } else { format!(" ({})", row.phase) };
    format!("{} {} {}{phase}: {}", row.dataset, row.mechanism, row.arm, row.message)
}

/// Groups equal texts: each with its count and its total seconds, in order of first occurrence.
fn counted(items: impl Iterator<Item = (String, f64)>) -> Vec<(String, usize, f64)> {
    let mut groups: Vec<(String, usize, f64)> = Vec::new();
    for (text, seconds) in items {
        match groups.iter_mut().find(|group| group.0 == text) {
            Some(group) => {
                group.1 += 1;
                group.2 += seconds;
            }
            None => groups.push((text, 1, seconds)),
        }
    }
    groups
}

fn write_rest(output: &mut dyn Write, groups: usize) -> io::Result<()> {
    match groups.saturating_sub(MAX_GROUPS) {
        0 => Ok(()),
        more => writeln!(output, "  and {more} more"),
    }
}
