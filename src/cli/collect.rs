//! `pgmbench collect`.

use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::experiment::{Analysis, CollectError, collect};
use pgmbench::results::Status;

use super::conclude::print_results;
use super::count::Count;
use super::failure::Failure;
use super::output::print;
use super::results_args;
use super::shell;
use super::status::State;

/// Put the shards of an experiment together, check that nothing is missing, and draw
///
/// Shards may have written into one folder, or into folders of their own. Nothing is changed if
/// two places have different numbers for the same arm, or if a shard is still running.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench collect results/fig1\n  \
    pgmbench collect node1/fig1 node2/fig1 --into results/fig1\n\n\
    Exit codes: 0 all there, 1 something is missing, failed or contradictory, 2 bad input")]
pub(crate) struct CollectArgs {
    /// Names of experiments, or folders of results of the same experiment
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// The folder that has everything in the end [default: the first]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Look for names in DIR
    #[arg(long = "results", value_name = "DIR", default_value = "results")]
    within: PathBuf,
}

impl CollectArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let sources: Vec<PathBuf> =
            self.results.iter().map(|name| results_args::folder(name, &self.within)).collect();
        let target = self.into.clone().unwrap_or_else(|| sources[0].clone());
        let rows = collect(&sources, &target).map_err(|error| match error {
            CollectError::Rows(_) | CollectError::Manifest(_) => Failure::Unexpected(error.into()),
            error => Failure::Input(error.into()),
        })?;
        print_results(&Analysis::write_in(&target)?)?;
        print(|output| {
            let rows = Count(rows, "row");
            writeln!(output, "{rows} collected; everything is in {}", target.display())
        })?;
        check(&target)
    }
}

/// Fails if an arm is missing or has failed.
fn check(folder: &Path) -> Result<(), Failure> {
    let progress = State::read(folder)?.progress;
    let failed = progress.count(Status::Failed);
    let missing = progress.left.len() - failed;
    if missing + failed == 0 {
        return Ok(());
    }
    let status = shell::line(["pgmbench", "status", &folder.display().to_string()]);
    Err(Failure::Unexpected(anyhow::anyhow!(
        "{missing} arms are missing and {failed} have failed; `{status}` says which"
    )))
}
