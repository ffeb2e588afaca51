//! Atomic output files: a file appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Large enough for efficient writes and for checksums over many blocks at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// What happens to an existing file with the name of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Replaced,
    /// The new file is refused, even if the other one appears just before the commit: of two
    /// processes that write the same name, one fails.
    Kept,
}

/// A file under construction, with a temporary name in the folder of its target until
/// [`NewFile::commit`]. Dropping it before that removes it and leaves the target unchanged.
#[derive(Debug)]
pub struct NewFile {
    target: PathBuf,
    temporary: PathBuf,
    writer: BufWriter<File>,
    existing: Existing,
    is_committed: bool,
}

impl NewFile {
    /// Starts a file that will replace an existing one at `path`.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::start(path, Existing::Replaced)
    }

    /// Starts a file that will be at `path`.
    ///
    /// Fails if the folder does not exist or is not writable, or if `path` is something other than
    /// a regular file, such as a folder or a device. For a symbolic link, the file that it points
    /// to is replaced.
    pub fn start(path: impl AsRef<Path>, existing: Existing) -> io::Result<Self> {
        // A dangling symbolic link counts as existing.
        if existing == Existing::Kept && fs::symlink_metadata(&path).is_ok() {
            return Err(already_there());
        }
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.as_ref().to_path_buf());
        let refused = |kind, message: String| Err(io::Error::new(kind, message));
        if target.is_dir() {
            return refused(io::ErrorKind::IsADirectory, "is a folder, not a file".into());
        }
        if target.exists() && !target.is_file() {
            return refused(io::ErrorKind::InvalidInput, "is not a regular file".into());
        }
        if target.file_name().is_none() {
            return refused(io::ErrorKind::InvalidInput, "is not the name of a file".into());
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !folder.is_dir() {
            let message = format!("there is no folder {}", folder.display());
            return refused(io::ErrorKind::NotFound, message);
        }
        let (temporary, file) = temporary_file(&folder)?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { target, temporary, writer, existing, is_committed: false })
    }

    /// Syncs the file to the disk and renames it to its target.
    pub fn commit(mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()?;
        match self.existing {
            Existing::Replaced => fs::rename(&self.temporary, &self.target)?,
            Existing::Kept => rename_without_replacing(&self.temporary, &self.target)?,
        }
        self.is_committed = true;
        Ok(())
    }
}

fn already_there() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "there is such a file already")
}

/// Renames a file to a name that must be free; of several processes that try, one succeeds.
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // The new name is complete, even if the old one cannot be removed.
        Ok(()) => drop(fs::remove_file(from)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(already_there()),
        // On a file system without hard links, an empty file reserves the name.
        Err(_) => {
            let reserved = OpenOptions::new().write(true).create_new(true).open(to);
            reserved.map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => already_there(),
                _ => error,
            })?;
            if let Err(error) = fs::rename(from, to) {
                let _ = fs::remove_file(to);
                return Err(error);
            }
        }
    }
    Ok(())
}

const PREFIX: &str = ".pgmbench-";
const SUFFIX: &str = ".tmp";

/// A new file in `folder`. It stays locked until it is committed or dropped; files without a lock
/// were left by killed processes ([`remove_abandoned`]).
fn temporary_file(folder: &Path) -> io::Result<(PathBuf, File)> {
    let mut attempt = 0u32;
    loop {
        let path = folder.join(format!("{PREFIX}{}-{attempt}{SUFFIX}", process::id()));
        attempt += 1;
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => {
                // Without file locks, no process considers the file abandoned either.
                let _ = file.lock();
                // Another process may have removed it before the lock was acquired.
                if path.exists() {
                    return Ok((path, file));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the temporary files in `folder` that killed processes left behind.
pub(crate) fn remove_abandoned(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (name, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        // A file that cannot be opened was renamed or removed in the meantime.
        if let Ok(file) = OpenOptions::new().write(true).open(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_committed {
            // `drop` cannot report an error.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_exists_only_after_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(names(folder.path()), ["out"]);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_dropped_file_leaves_the_old_one_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(names(folder.path()), ["out"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_file_that_appears_before_the_commit_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let start = || NewFile::start(&path, Existing::Kept);
        let mut late = start().unwrap();
        late.write_all(b"late").unwrap();
        let mut early = start().unwrap();
        early.write_all(b"early").unwrap();
        early.commit().unwrap();
        assert_eq!(late.commit().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(start().unwrap_err().to_string(), "there is such a file already");
        assert_eq!(fs::read(&path).unwrap(), b"early");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn of_concurrent_writers_of_one_name_exactly_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let write = |text: String| {
            let mut file = NewFile::start(&path, Existing::Kept)?;
            file.write_all(text.as_bytes())?;
            file.commit().map(|()| text)
        };
        let written: Vec<io::Result<String>> = std::thread::scope(|scope| {
            let writers: Vec<_> =
                (0..8).map(|i| scope.spawn(move || write(format!("writer {i}")))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let winners: Vec<String> = written.into_iter().flatten().collect();
        assert_eq!(winners.len(), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), winners[0]);
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn two_files_under_construction_are_independent() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let mut files = [NewFile::create(&one).unwrap(), NewFile::create(&two).unwrap()];
        files[0].write_all(b"1").unwrap();
        files[1].write_all(b"2").unwrap();
        files.into_iter().for_each(|file| file.commit().unwrap());
        assert_eq!([fs::read(one).unwrap(), fs::read(two).unwrap()], [b"1", b"2"]);
    }

    #[test]
    fn only_files_of_killed_processes_are_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".pgmbench-123-0.tmp"), "half").unwrap();
        fs::write(folder.path().join("other.tmp"), "not ours").unwrap();
        let path = folder.path().join("out");
        let file = NewFile::create(&path).unwrap();
        remove_abandoned(folder.path()).unwrap();
        file.commit().unwrap();
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["other.tmp", "out"]);
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| NewFile::create(path).unwrap_err().to_string();
        assert_eq!(refused(folder.path()), "is a folder, not a file");
        let missing = folder.path().join("missing");
        let message = refused(&missing.join("out"));
        assert_eq!(message, format!("there is no folder {}", missing.display()));
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_symbolic_link_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = NewFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(link.is_symlink());
        let nowhere = folder.path().join("nowhere");
        std::os::unix::fs::symlink(folder.path().join("missing"), &nowhere).unwrap();
        assert!(NewFile::start(&nowhere, Existing::Kept).is_err(), "a link is not replaced either");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(NewFile::create("/dev/null").unwrap_err().to_string(), "is not a regular file");
    }
}
