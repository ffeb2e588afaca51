//! Reading the results in a folder.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::manifest::{Manifest, ManifestError};
use super::store::{Recorded, StoreError};

/// Why the results in a folder cannot be read.
#[derive(Debug, Error)]
pub enum FolderError {
    #[error("there are no results in {}", .folder.display())]
    Nothing { folder: PathBuf },
    /// The folder has a summary, but no rows of trials.
    #[error(
        "{}: the rows of the trials are not kept here, only the summary and the figures; \
         `pgmbench report {}` shows them",
        .folder.display(), .folder.display()
    )]
    OnlySummary { folder: PathBuf },
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The manifest of the results in a folder, including those of shards.
pub fn read_manifest(folder: &Path) -> Result<Manifest, FolderError> {
    Manifest::read(folder).map_err(|error| match error {
        ManifestError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            FolderError::Nothing { folder: folder.into() }
        }
        error => error.into(),
    })
}

/// The manifest and the rows in a folder. Safe while runs write to it.
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
