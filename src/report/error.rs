use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::results::manifest::ManifestError;
use crate::results::store::StoreError;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    #[error("there is no folder {}", .folder.display())]
    NoFolder { folder: PathBuf },
    #[error("cannot look for results in {}: {error}", .folder.display())]
    Unsearchable {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    /// No folder below the given one holds results.
    #[error(
        "no folder in {} has a manifest.json: run an experiment first, or name its results{}",
        .folder.display(), .reference.as_ref().map(|folder| format!(
            "; --results {} shows the reference runs", folder.display()
        )).unwrap_or_default()
    )]
    NothingFound {
        folder: PathBuf,
        /// Results that were left out.
        reference: Option<PathBuf>,
    },
    /// The folder exists, but no run wrote it.
    #[error("{}: no manifest.json, so these are no results of a run", .folder.display())]
    NoManifest { folder: PathBuf },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read.
    #[error("{}: {error}", .file.display())]
    Io {
        file: PathBuf,
        #[source]
        error: io::Error,
    },
    /// Summary or claims cannot be parsed.
    #[error("{}: {error}", .file.display())]
    Csv {
        file: PathBuf,
        #[source]
        error: csv::Error,
    },
    /// A CSV download cannot be serialised.
    #[error("cannot write a table: {0}")]
    Table(#[from] io::Error),
    /// A template cannot be rendered.
    #[error("cannot write the page: {0}")]
    Page(#[from] askama::Error),
}
