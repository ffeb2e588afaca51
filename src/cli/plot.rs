//! `pgmbench plot`.

use std::path::PathBuf;

use clap::Args;

use super::conclude::Conclusion;
use super::failure::Failure;
use super::output::print;

/// Draw the figure of an experiment again, from its results, without running anything
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench plot fig1")]
pub(crate) struct PlotArgs {
    /// The name of the experiment, or the folder of its results
    name: PathBuf,
    /// Read DIR/NAME
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

impl PlotArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = match self.name.is_dir() {
            true => self.name,
            false => self.results.join(&self.name),
        };
        let conclusion = Conclusion::read(&folder)?;
        conclusion.write()?;
        conclusion.print_results()?;
        print(|output| writeln!(output, "drawn in {}", folder.display()))
    }
}
