use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::results::folder::{self, FolderError};
use crate::results::manifest::{Manifest, ManifestError};
use crate::results::store::{Store, StoreError};

/// Why results were not put together.
#[derive(Debug, Error)]
pub enum CollectError {
    /// Some of them cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// They do not belong together.
    #[error("{} and {} are results of different configurations", .0.display(), .1.display())]
    Different(PathBuf, PathBuf),
    /// No folder was named.
    #[error("nothing to collect")]
    Nothing,
    /// The place where all should go cannot be opened.
    #[error(transparent)]
    Target(StoreError),
    /// They contradict each other, or are being written.
    #[error("cannot put these together: {0}")]
    Rows(#[source] StoreError),
    /// The manifest of all cannot be written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// Puts the results in these folders, with those of their shards, into one. Returns the number of
/// rows that came. Nothing has changed when it is refused.
pub fn collect(sources: &[PathBuf], target: &Path) -> Result<usize, CollectError> {
    let manifest = manifest(sources)?;
    let store = Store::open(target).map_err(CollectError::Target)?;
    let others: Vec<&PathBuf> = sources.iter().filter(|source| !is_same(source, target)).collect();
    let rows = store.collect(&others).map_err(CollectError::Rows)?;
    manifest.write(target)?;
    Manifest::remove_shards(target)?;
    Ok(rows)
}

/// The manifest of all, which must ask for the same rows.
fn manifest(sources: &[PathBuf]) -> Result<Manifest, CollectError> {
    let read = |source: &PathBuf| folder::read_manifest(source);
    let all = sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let first = all.first().ok_or(CollectError::Nothing)?;
    if let Some(other) = all.iter().position(|manifest| !manifest.asks_for_the_rows_of(first)) {
        return Err(CollectError::Different(sources[0].clone(), sources[other].clone()));
    }
    Manifest::newest(all).ok_or(CollectError::Nothing)
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
