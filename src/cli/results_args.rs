use std::path::{Path, PathBuf};

use clap::Args;

/// Which results.
#[derive(Args)]
pub(crate) struct ResultsArgs {
    /// The name of the experiment, or the folder of its results
    name: PathBuf,
    /// Read DIR/NAME
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

impl ResultsArgs {
    /// The folder of the results.
    pub(crate) fn folder(&self) -> PathBuf {
        folder(&self.name, &self.results)
    }
}

/// A folder is taken as it is; anything else is a name among the results.
pub(crate) fn folder(name: &Path, results: &Path) -> PathBuf {
    match name.is_dir() {
        true => name.into(),
        false => results.join(name),
    }
}
