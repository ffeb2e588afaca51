use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::results::manifest::{Manifest, ManifestError};
use pgmbench::results::store::{Recorded, StoreError};

use super::failure::{Failure, ResultExt};
use super::shell;

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

/// The manifest of the results in a folder.
pub(crate) fn read_manifest(folder: &Path) -> Result<Manifest, Failure> {
    match Manifest::read(folder) {
        Err(ManifestError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            Err(nothing(folder))
        }
        read => read.input(),
    }
}

/// The rows of the results in a folder that has a manifest; none when a run has just begun.
pub(crate) fn read_rows(folder: &Path) -> Result<Option<Recorded>, Failure> {
    match Recorded::read(folder) {
        Err(StoreError::NoResults { .. }) if folder.join("summary.csv").is_file() => {
            let report = shell::line(["pgmbench", "report", &folder.display().to_string()]);
            Err(Failure::input(format!(
                "{}: the rows of the trials are not kept here, only the summary and the figures; \
                 `{report}` shows them",
                folder.display()
            )))
        }
        Err(StoreError::NoResults { .. }) => Ok(None),
        read => read.map(Some).input(),
    }
}

/// The complaint that nothing was run.
pub(crate) fn nothing(folder: &Path) -> Failure {
    Failure::input(format!("there are no results in {}", folder.display()))
}
