use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::results::manifest::ManifestError;
use crate::results::store::StoreError;

/// Why there is no page.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The results are not there.
    #[error("there is no folder {}", .folder.display())]
    NoFolder {
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// A folder cannot be looked into.
    #[error("cannot look for results in {}: {error}", .folder.display())]
    Unsearchable {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// No run has written anything.
    #[error(
        "no folder in {} has a manifest.json: run an experiment first, or name its results",
        .folder.display()
    )]
    NothingFound {
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// A folder is there that no run has written.
    #[error("{}: no manifest.json, so these are no results of a run", .folder.display())]
    NoManifest {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The rows cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A table is not what it should be.
    #[error("{}: {error}", .file.display())]
    Csv {
        /// The file.
        file: PathBuf,
        /// Where and why.
        #[source]
        error: csv::Error,
    },
    /// A table could not be written out.
    #[error("cannot write a table: {0}")]
    Table(#[from] io::Error),
    /// The page could not be written out.
    #[error("cannot write the page: {0}")]
    Page(#[from] askama::Error),
}
