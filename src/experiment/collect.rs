use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::results::folder::{self, FolderError};
use crate::results::manifest::{Manifest, ManifestError};
use crate::results::store::{Store, StoreError};

/// Why results cannot be merged.
#[derive(Debug, Error)]
pub enum CollectError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Two folders schedule different rows.
    #[error("{} and {} are results of different configurations", .0.display(), .1.display())]
    Different(PathBuf, PathBuf),
    #[error("nothing to collect")]
    Nothing,
    /// The target folder cannot be opened.
    #[error(transparent)]
    Target(StoreError),
    /// Two rows contradict each other, or a run is still writing.
    #[error("cannot put these together: {0}")]
    Rows(#[source] StoreError),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// Merges the results in these folders and their shards into one folder. Returns the number of rows
/// added. Refusing different or contradictory results leaves all files unchanged.
pub fn collect(sources: &[PathBuf], target: &Path) -> Result<usize, CollectError> {
    let manifest = manifest(sources)?;
    let store = Store::open(target).map_err(CollectError::Target)?;
    let others: Vec<&PathBuf> = sources.iter().filter(|source| !is_same(source, target)).collect();
    let rows = store.collect(&others).map_err(CollectError::Rows)?;
    manifest.write(target)?;
    Manifest::remove_shards(target)?;
    Ok(rows)
}

/// The newest manifest. All of them must schedule the same rows.
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
