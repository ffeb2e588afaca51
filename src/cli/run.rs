//! `pgmbench run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use pgmbench::experiment::{
    Analysis, MEMORY, Options, Plan, PlannedData, PlannedMechanism, Portion, Recording, Tally,
};
use pgmbench::results::Shard;
use pgmbench::results::store::Store;
use private_pgm::numeric::bytes::Bytes;
use serde_json::json;

use super::build::build;
use super::conclude::print_conclusions;
use super::count::Count;
use super::experiment_args::ExperimentArgs;
use super::failure::{Failure, ResultExt};
use super::interrupt::on_interrupt;
use super::output::print;
use super::output_format::OutputFormat;
use super::shell;

/// Run an experiment, print its table, draw its figure, check its claims
///
/// Every finished arm is stored at once. A run that was stopped goes on where it was when it is
/// started again; what is there already is not run again unless the configuration has changed.
/// Ctrl-C ends a run with a line that says how to go on.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench run configs/fig1.toml\n  \
    pgmbench run configs/fig1.toml --only dataset=adult,mechanism=hdmm --trials 1\n  \
    pgmbench run configs/fig1.toml --shard 2/4    # the second of four machines\n  \
    pgmbench run configs/fig1.toml --json | jq 'select(.event == \"arm\") | .workload_error'\n\n\
    Exit codes: 0 all done, 1 an arm has failed, 2 bad input, 130 interrupted")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Trials at a time [default: one per thread]; numbers do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// One trial at a time, each on all cores: for honest clocks
    #[arg(long, conflicts_with = "jobs")]
    timing: bool,
    /// Write to DIR/NAME
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Throw away the results that are there
    #[arg(long)]
    fresh: bool,
    /// A fair share of the trials, for one of several machines; `collect` puts them together
    #[arg(long, value_name = "I/N", conflicts_with = "fresh")]
    shard: Option<Shard>,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print one event a line, as JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

/// How long an interrupted run waits for the row that is being written.
const SHUTDOWN_WAIT: Duration = Duration::from_millis(700);

impl RunArgs {
    pub(crate) fn run(self, threads: usize) -> Result<(), Failure> {
        let began = Instant::now();
        let format = self.output_format();
        let mut plan = self.experiment.plan()?;
        if let Some(shard) = self.shard {
            plan.keep_shard(shard);
        }
        let name = plan.experiment.name.as_ref();
        let recording = Recording::open(&plan, &self.results, self.portion()).input_at(name)?;
        let folder = recording.folder().to_path_buf();
        let store = recording.store();
        stop_on_ctrl_c(store, format)?;
        let draft = |data: &PlannedData| {
            let note = "the schema is a draft, with bounds and values taken from the records";
            data.draft.then(|| format!("{}: {note}", data.name))
        };
        let claimed = |mechanism: &PlannedMechanism| {
            let command = mechanism.command.as_ref()?;
            let note = "claims its guarantee, which nothing verifies; `pgmbench audit` attacks it";
            Some(format!("{}: `{command}` {note}", mechanism.label))
        };
        let notes = plan.datasets.iter().filter_map(draft);
        let notes = notes.chain(plan.mechanisms.iter().filter_map(claimed));
        for note in notes.chain(store.notes().iter().cloned()) {
            format.emit("note", &format!("note: {note}"), json!({ "note": note }));
        }
        let options = Options {
            threads,
            jobs: self.jobs.map_or(threads, usize::from),
            timing: self.timing,
            memory_limit: MEMORY,
        };
        if !plan.trials.is_empty() {
            announce(&plan, &options, &folder, format);
        }
        let observer = format.observer(&plan, &store.rows());
        let tally = recording.run(&options, build(), command_line(), &*observer);
        drop(observer);
        let tally = tally.internal_at(format!("results so far are in {}", folder.display()))?;
        if self.shard.is_none() {
            let analysis = Analysis::write_in(&folder)?;
            if format == OutputFormat::Text {
                print_conclusions(&plan, &analysis)?;
            }
        }
        self.print_outcome(&folder, tally, began)
    }

    fn output_format(&self) -> OutputFormat {
        match (self.quiet, self.json) {
            (true, _) => OutputFormat::Quiet,
            (_, true) => OutputFormat::Json,
            _ => OutputFormat::Text,
        }
    }

    fn portion(&self) -> Portion {
        match (self.fresh, self.shard) {
            (true, _) => Portion::Fresh,
            (_, Some(shard)) => Portion::Shard(shard),
            _ => Portion::Whole,
        }
    }

    fn print_outcome(&self, folder: &Path, tally: Tally, began: Instant) -> Result<(), Failure> {
        let Tally { reused, done, infeasible, timeout, not_applicable, failed } = tally;
        let seconds = began.elapsed().as_secs_f64();
        match self.output_format() {
            OutputFormat::Quiet => {}
            OutputFormat::Json => OutputFormat::Json.emit(
                "end",
                "",
                json!({
                    "done": done, "infeasible": infeasible, "timeout": timeout,
                    "not_applicable": not_applicable, "failed": failed, "reused": reused,
                    "seconds": seconds, "folder": folder,
                }),
            ),
            OutputFormat::Text => print(|output| {
                let mut parts =
                    Vec::from_iter((done > 0).then(|| format!("{} done", Count(done, "arm"))));
                let more = [
                    (infeasible, "infeasible"),
                    (timeout, "out of time"),
                    (not_applicable, "not applicable"),
                    (failed, "failed"),
                    (reused, "there already"),
                ];
                let more = more.iter().filter(|(n, _)| *n > 0);
                parts.extend(more.map(|(n, what)| format!("{n} {what}")));
                if !parts.is_empty() {
                    writeln!(output, "\n{} in {seconds:.1} s", parts.join(", "))?;
                }
                writeln!(output, "results in {}", folder.display())?;
                if let Some(shard) = self.shard {
                    let collect = ["pgmbench", "collect", &folder.display().to_string()];
                    let collect = shell::line(collect);
                    writeln!(output, "this was shard {shard}; after the others: {collect}")?;
                }
                Ok(())
            })?,
        }
        match failed {
            0 => Ok(()),
            _ => Err(Failure::Unexpected(anyhow::anyhow!(
                "{failed} arms have failed; `pgmbench status {}` says why, and a second run tries \
                 them again",
                folder.display()
            ))),
        }
    }
}

/// On an interrupt, ends the run between two rows and prints the command that resumes it.
fn stop_on_ctrl_c(store: &Arc<Store>, format: OutputFormat) -> Result<(), Failure> {
    let store = Arc::clone(store);
    on_interrupt(move || {
        store.shut(SHUTDOWN_WAIT);
        // With `--fresh`, the next run would delete the rows stored by this one.
        let again = shell::line(command_line().into_iter().filter(|word| word != "--fresh"));
        let folder = store.folder().display();
        let text = format!(
            "\ninterrupted; all arms that had ended are in {folder}; go on with\n  {again}"
        );
        format.emit("interrupted", &text, json!({ "folder": store.folder(), "go_on": again }));
    })
}

/// The arguments after a bare `pgmbench`: the path of the program does not affect results.
fn command_line() -> Vec<String> {
    ["pgmbench".to_string()].into_iter().chain(std::env::args().skip(1)).collect()
}

fn announce(plan: &Plan, options: &Options, folder: &Path, format: OutputFormat) {
    let (name, trials) = (plan.experiment.name.as_ref(), plan.trials.len());
    let arms: usize = plan.trials.iter().map(|trial| trial.rows.len()).sum();
    let jobs = if options.timing { 1 } else { options.jobs };
    let bytes = plan.experiment.limits.memory.map_or(MEMORY, |limit| limit.0);
    let memory = Bytes(bytes as f64);
    let text = format!(
        "{name}: {}, {}, {jobs} at a time, at most {memory} for each",
        Count(trials, "trial"),
        Count(arms, "arm"),
    );
    let facts = json!({
        "experiment": name, "trials": trials, "arms": arms, "jobs": jobs, "memory": bytes,
        "folder": folder,
    });
    format.emit("start", &text, facts);
}
