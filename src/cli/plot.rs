//! `pgmbench plot`.

use clap::Args;

use super::conclude::Conclusion;
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
        let conclusion = Conclusion::read(&folder)?;
        conclusion.write()?;
        conclusion.print_results()?;
        print(|output| writeln!(output, "drawn in {}", folder.display()))
    }
}
