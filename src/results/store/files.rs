use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::super::shard::Shard;
use super::error::StoreError;

pub(super) const TRIALS: &str = "trials.csv";
pub(super) const TRACES: &str = "traces.csv";
pub(super) const LEDGER: &str = "ledger.jsonl";
const LOCK: &str = ".lock";

/// The files that one process appends to: those of the whole results, or of one shard.
#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
    shard: Option<Shard>,
}

impl Files {
    pub(super) fn new(folder: &Path, shard: Option<Shard>) -> Self {
        Self { folder: folder.into(), shard }
    }

    /// The sets of files in a folder: the whole results first, even if absent, then the shards in
    /// order.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>, StoreError> {
        let shards = shards(folder).map_err(|error| StoreError::io(folder, error))?;
        let whole = [None].into_iter();
        Ok(whole.chain(shards.into_iter().map(Some)).map(|s| Self::new(folder, s)).collect())
    }

    pub(super) fn shard(&self) -> Option<Shard> {
        self.shard
    }

    fn file(&self, whole: &str) -> PathBuf {
        self.folder.join(self.shard.map_or(whole.to_string(), |shard| shard.file_name(whole)))
    }

    pub(super) fn trials(&self) -> PathBuf {
        self.file(TRIALS)
    }

    pub(super) fn traces(&self) -> PathBuf {
        self.file(TRACES)
    }

    pub(super) fn ledger(&self) -> PathBuf {
        self.file(LEDGER)
    }

    /// Removes the files. Rows first: even after an interruption there must be no row without its
    /// traces and draws.
    pub(super) fn remove(&self) -> Result<(), StoreError> {
        for path in [self.trials(), self.ledger(), self.traces()] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io(&path, error));
                }
                _ => sync_folder(&self.folder)?,
            }
        }
        Ok(())
    }

    /// Creates the folder and takes the lock, which the system releases when the process ends. The
    /// lock file stays: a process that has it open would otherwise lock a removed file. Some
    /// cluster file systems do not support locks; then none is held, and the user is warned.
    pub(super) fn lock(&self) -> Result<Lock, StoreError> {
        fs::create_dir_all(&self.folder).map_err(|error| StoreError::io(&self.folder, error))?;
        let path = self.file(LOCK);
        let failed = |error| StoreError::io(&path, error);
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut is_held = true;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                is_held = false;
            }
            Err(TryLockError::WouldBlock) => {
                let text = fs::read_to_string(&path).ok();
                let process = text.and_then(|text| text.trim().parse().ok());
                return Err(StoreError::Locked { folder: self.folder.clone(), process });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // For the message of a process that finds it locked.
        file.set_len(0).and_then(|()| writeln!(file, "{}", process::id())).map_err(failed)?;
        Ok(Lock { is_held, _file: file })
    }
}

/// Prevents a second process from writing to the same files.
#[derive(Debug)]
pub(super) struct Lock {
    /// Whether the file system supports locks.
    is_held: bool,
    /// Locked until it is closed, at the latest by the end of the process.
    _file: File,
}

impl Lock {
    pub(super) fn note(&self) -> Option<String> {
        let note = "this file system knows no locks: see to it that no other run writes the same";
        (!self.is_held).then(|| note.into())
    }
}

/// The shards with rows in a folder.
fn shards(folder: &Path) -> io::Result<Vec<Shard>> {
    let mut shards = Vec::new();
    for entry in fs::read_dir(folder)? {
        shards.extend(Shard::of_file(&entry?.file_name().to_string_lossy(), TRIALS));
    }
    shards.sort();
    Ok(shards)
}

/// Syncs the directory, so that created and removed files survive a power failure.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| StoreError::io(folder, error))?;
    }
    Ok(())
}
