use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The files that exist, so that an interrupt can remove them.
static EXISTING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn existing() -> MutexGuard<'static, Vec<PathBuf>> {
    EXISTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all of them. For a program that is about to end.
pub(super) fn remove_all() {
    existing().iter().for_each(|path| drop(std::fs::remove_file(path)));
}

/// A temporary file that only its owner can read. It is removed when it is dropped.
pub(crate) struct PrivateFile(NamedTempFile);

impl PrivateFile {
    pub(crate) fn new(suffix: &str, content: &[u8]) -> io::Result<Self> {
        let mut file = tempfile::Builder::new().prefix("pgmbench-").suffix(suffix).tempfile()?;
        existing().push(file.path().to_path_buf());
        file.write_all(content)?;
        Ok(Self(file))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        let path = self.path();
        existing().retain(|other| other != path);
    }
}
