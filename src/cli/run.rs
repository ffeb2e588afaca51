//! `pgmbench run`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use clap::Args;
use pgmbench::experiment::{self, Options, Plan, Tally};
use pgmbench::numeric::bytes::Bytes;
use pgmbench::results::manifest::{Manifest, Run};
use pgmbench::results::store::Store;

use super::conclude::Conclusion;
use super::experiment_args::ExperimentArgs;
use super::failure::{Blame, Failure};
use super::output::print;
use super::trial_progress::TrialProgress;

/// Run an experiment, print its table, draw its figure, check its claims
///
/// Every finished arm is stored at once. A run that was stopped goes on where it was when it is
/// started again; what is there already is not run again unless the configuration has changed.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench run configs/fig1.toml\n  \
    pgmbench run configs/fig1.toml --only dataset=adult,mechanism=hdmm --trials 1")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Trials at a time [default: one per core]; numbers do not depend on it
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
}

/// What arms may take when neither file nor machine says.
const MEMORY: u64 = 4 << 30;

impl RunArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let began = Instant::now();
        let plan = self.experiment.plan()?;
        let name = plan.experiment.name.as_ref();
        let folder = self.results.join(name);
        let open = if self.fresh { Store::open_fresh(&folder) } else { Store::open(&folder) };
        let store = open.or_input(name)?;
        for note in store.notes() {
            eprintln!("note: {note}");
        }
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let options = Options {
            jobs: self.jobs.map_or(cores, usize::from),
            timing: self.timing,
            memory_limit: MEMORY,
        };
        let mut manifest = plan.manifest(self.earlier_runs(&folder));
        let mut this = Run::start(experiment::build(), options.jobs, command_line());
        manifest.runs.push(this.clone());
        manifest.write(&folder).or_input(folder.display())?;
        if !plan.trials.is_empty() {
            announce(&plan, &options);
        }
        let progress = TrialProgress::new(&plan, &store.rows());
        let tally = experiment::run(&plan, &store, &options, &progress);
        drop(progress);
        let tally = tally.or_unexpected(format!("results so far are in {}", folder.display()))?;
        this.finish(began.elapsed());
        manifest.runs.pop();
        manifest.runs.push(this);
        manifest.write(&folder).or_unexpected(folder.display())?;
        let conclusion = Conclusion::read(&folder)?;
        conclusion.write()?;
        conclusion.print(&plan)?;
        self.say_goodbye(&folder, tally, began)
    }

    /// The runs that the results owe something to.
    fn earlier_runs(&self, folder: &Path) -> Vec<Run> {
        match Manifest::read(folder) {
            Ok(manifest) if !self.fresh => manifest.runs,
            _ => Vec::new(),
        }
    }

    fn say_goodbye(&self, folder: &Path, tally: Tally, began: Instant) -> Result<(), Failure> {
        let Tally { reused, done, infeasible, timeout, failed } = tally;
        print(|output| {
            let mut parts = vec![format!("{done} arms done")];
            let more = [
                (infeasible, "infeasible"),
                (timeout, "out of time"),
                (failed, "failed"),
                (reused, "there already"),
            ];
            parts
                .extend(more.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
            let seconds = began.elapsed().as_secs_f64();
            writeln!(output, "\n{} in {seconds:.1} s", parts.join(", "))?;
            writeln!(output, "results in {}", folder.display())
        })?;
        match failed {
            0 => Ok(()),
            _ => Err(Failure::Unexpected(anyhow::anyhow!(
                "{failed} arms have failed; {} says why, and a second run tries them again",
                folder.join("trials.csv").display()
            ))),
        }
    }
}

/// The words of the command line; where the program itself is says nothing about the results.
fn command_line() -> Vec<String> {
    ["pgmbench".to_string()].into_iter().chain(std::env::args().skip(1)).collect()
}

fn announce(plan: &Plan, options: &Options) {
    let arms: usize = plan.trials.iter().map(|trial| trial.rows.len()).sum();
    let jobs = if options.timing { 1 } else { options.jobs };
    let memory = plan.experiment.limits.memory.map_or(MEMORY, |limit| limit.0);
    let memory = Bytes(memory as f64);
    eprintln!(
        "{}: {} trials, {arms} arms, {jobs} at a time, at most {memory} for each",
        plan.experiment.name.as_ref(),
        plan.trials.len(),
    );
}
