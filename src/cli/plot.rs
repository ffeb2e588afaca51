//! `pgmbench plot`.

use clap::Args;
use pgmbench::experiment::Analysis;

use super::conclude::print_results;
use super::failure::Failure;
use super::output::print;
use super::results_args::ResultsArgs;

/// Draw the figure of an experiment again, from its results, without running anything
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench plot fig1")]
pub(crate) struct PlotArgs {
    #[command(flatten)]
    results: ResultsArgs,
}

impl PlotArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = self.results.folder();
        print_results(&Analysis::write_in(&folder)?)?;
        print(|output| writeln!(output, "drawn in {}", folder.display()))
    }
}
