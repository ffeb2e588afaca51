//! The results in a folder, or why there are none.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::manifest::{Manifest, ManifestError};
use super::store::{Recorded, StoreError};

/// Why the results in a folder cannot be read.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Nothing was run.
    #[error("there are no results in {}", .folder.display())]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// What remains of a run are its conclusions.
    #[error(
        "{}: the rows of the trials are not kept here, only the summary and the figures; \
         `pgmbench report {}` shows them",
        .folder.display(), .folder.display()
    )]
    OnlySummary {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The rows cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The manifest of the results in a folder, those of its shards among them.
pub fn read_manifest(folder: &Path) -> Result<Manifest, FolderError> {
    Manifest::read(folder).map_err(|error| match error {
        ManifestError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            FolderError::Nothing { folder: folder.into() }
        }
        error => error.into(),
    })
}

/// The manifest and the rows in a folder, which runs may be writing at the same time.
pub fn read(folder: &Path) -> Result<(Manifest, Recorded), FolderError> {
    let manifest = read_manifest(folder)?;
    let recorded = Recorded::read(folder).map_err(|error| match error {
        StoreError::NoResults { folder } if folder.join("summary.csv").is_file() => {
            FolderError::OnlySummary { folder }
        }
        StoreError::NoResults { folder } => FolderError::Nothing { folder },
        error => error.into(),
    })?;
    Ok((manifest, recorded))
}
