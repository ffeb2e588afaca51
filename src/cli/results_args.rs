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
    pub(crate) fn folder(&self) -> PathBuf {
        folder(&self.name, &self.results)
    }
}

/// An existing folder is used as it is; any other name is relative to `results`.
pub(crate) fn folder(name: &Path, results: &Path) -> PathBuf {
    match name.is_dir() {
        true => name.into(),
        false => results.join(name),
    }
}
