use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::line::Line;
use crate::atomic_file::NewFile;

/// The content of a file of lines.
pub(super) struct Content<T> {
    /// The complete records, up to the last one that `must_stay`.
    pub(super) records: Vec<T>,
    /// The length in bytes of the header and these records.
    kept: u64,
    /// The length in bytes of the tail.
    pub(super) dropped: u64,
    /// Whether its lines are without the optional columns.
    is_short: bool,
}

impl<T> Default for Content<T> {
    fn default() -> Self {
        Self { records: Vec::new(), kept: 0, dropped: 0, is_short: true }
    }
}

/// Reads the complete records of a file of lines; a missing file has none.
///
/// A killed run or a full disk leaves at most a tail: everything after the last record that
/// `must_stay`, such as the draws of a release without a row. The tail is not part of the content.
/// A line that is not a record belongs to the tail; if a record that must stay follows it, the file
/// is damaged, which is an error.
pub(super) fn read<T: Line>(
    path: &Path,
    must_stay: impl Fn(&T) -> bool,
) -> Result<Content<T>, StoreError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| StoreError::io(path, error))?,
    };
    let (full, short) = (T::header(), short_header::<T>());
    let is_torn =
        |header: &str| bytes.len() < header.len() && header.as_bytes().starts_with(&bytes);
    if is_torn(&full) || is_torn(&short) {
        return Ok(Content { dropped: bytes.len() as u64, ..Content::default() });
    }
    let is_short = bytes.starts_with(short.as_bytes());
    let header = if is_short { short } else { full };
    let Some(body) = bytes.strip_prefix(header.as_bytes()) else {
        return Err(StoreError::other_version(path, &header, &bytes));
    };
    let omitted = if is_short { omitted::<T>() } else { String::new() };
    let parse = |text: &str| match omitted.is_empty() {
        true => T::parse(text),
        false => T::parse(&format!("{text}{omitted}")),
    };
    let mut records = Vec::new();
    let (mut read, mut kept, mut staying) = (header.len(), header.len(), 0);
    let mut torn_line = None;
    let first_line = 1 + usize::from(!header.is_empty());
    for (number, line) in (first_line..).zip(body.split_inclusive(|&byte| byte == b'\n')) {
        let text = line.strip_suffix(b"\n").and_then(|text| str::from_utf8(text).ok());
        match (text.and_then(parse), torn_line) {
            (Some(record), None) => {
                read += line.len();
                let stays = must_stay(&record);
                records.push(record);
                if stays {
                    (kept, staying) = (read, records.len());
                }
            }
            (Some(record), Some(line)) if must_stay(&record) => {
                return Err(StoreError::Damaged { file: path.into(), line });
            }
            (Some(_), Some(_)) => {}
            (None, _) => torn_line = torn_line.or(Some(number)),
        }
    }
    records.truncate(staying);
    Ok(Content { records, kept: kept as u64, dropped: (bytes.len() - kept) as u64, is_short })
}

/// The header without the optional columns.
fn short_header<T: Line>() -> String {
    let header = T::header();
    let end = (0..T::optional_columns())
        .try_fold(header.trim_end(), |kept, _| kept.rsplit_once(',').map(|(others, _)| others));
    match (T::optional_columns(), end) {
        (1.., Some(kept)) => format!("{kept}\n"),
        _ => header,
    }
}

/// The end of a line whose optional columns are empty.
fn omitted<T: Line>() -> String {
    ",".repeat(T::optional_columns())
}

/// An append-only file of lines.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// The length in bytes of the complete and synced content.
    len: u64,
    /// Whether there may be a tail after it.
    has_tail: bool,
    /// Whether its lines are without the optional columns.
    is_short: bool,
}

impl Log {
    /// Opens the file for appending, or creates it, and truncates the tail.
    pub(super) fn open<T: Line>(path: PathBuf, content: &Content<T>) -> Result<Self, StoreError> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(|error| StoreError::io(&path, error))?;
        let &Content { kept: len, dropped, is_short, .. } = content;
        let mut log = Self { path, file, len, has_tail: dropped > 0, is_short };
        match len {
            0 => log.append(short_header::<T>().as_bytes())?,
            _ => log.cut_tail().map_err(|error| StoreError::io(&log.path, error))?,
        }
        Ok(log)
    }

    /// Appends a line that has all columns, in the columns of the file. If it fills an optional
    /// column that the file does not have, the file is replaced first by one that has it.
    pub(super) fn append_row<T: Line>(&mut self, line: &[u8]) -> Result<(), StoreError> {
        if !self.is_short {
            return self.append(line);
        }
        let omitted = omitted::<T>() + "\n";
        if let Some(filled) = line.strip_suffix(omitted.as_bytes()) {
            return self.append(&[filled, b"\n"].concat());
        }
        self.widen::<T>().map_err(|error| StoreError::io(&self.path, error))?;
        self.append(line)
    }

    /// Replaces the file by one with all columns, atomically.
    fn widen<T: Line>(&mut self) -> io::Result<()> {
        self.cut_tail()?;
        let (bytes, omitted) = (fs::read(&self.path)?, omitted::<T>());
        let mut file = NewFile::create(&self.path)?;
        file.write_all(T::header().as_bytes())?;
        for line in bytes.split_inclusive(|&byte| byte == b'\n').skip(1) {
            file.write_all(line.strip_suffix(b"\n").unwrap_or(line))?;
            writeln!(file, "{omitted}")?;
        }
        file.commit()?;
        self.file = OpenOptions::new().write(true).open(&self.path)?;
        self.len = self.file.metadata()?.len();
        self.is_short = false;
        Ok(())
    }

    /// Appends complete lines with one write and syncs them. If that fails, for instance because
    /// the disk is full, the file is restored: immediately if possible, otherwise before the next
    /// write.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.write(lines).map_err(|error| {
            // Report the first error. The tail is truncated later if not now.
            let _ = self.cut_tail();
            StoreError::io(&self.path, error)
        })
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.cut_tail()?;
        self.has_tail = true;
        self.file.seek(SeekFrom::Start(self.len))?;
        self.file.write_all(lines)?;
        self.file.sync_data()?;
        self.len += lines.len() as u64;
        self.has_tail = false;
        Ok(())
    }

    fn cut_tail(&mut self) -> io::Result<()> {
        if self.has_tail {
            // Not synced: a tail that reappears after a power failure is truncated again.
            self.file.set_len(self.len)?;
            self.has_tail = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::LedgerLine;
    use super::super::tests::draws;
    use super::*;

    fn line(release: &str) -> LedgerLine {
        LedgerLine { release: release.into(), draw: 0, entry: draws(1).remove(0) }
    }

    fn log_of(path: &Path) -> Log {
        Log::open(path.into(), &read::<LedgerLine>(path, |_| true).unwrap()).unwrap()
    }

    #[test]
    fn what_a_failed_write_left_is_cut_before_the_next_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = log_of(&path);
        log.append(&line("a").line().unwrap()).unwrap();
        // As after a partial write on a full disk that could not be undone.
        log.file.write_all(b"{\"release\":\"a line that is longer than the next one").unwrap();
        log.has_tail = true;
        log.append(&line("b").line().unwrap()).unwrap();
        let content = read::<LedgerLine>(&path, |_| true).unwrap();
        assert_eq!((content.records, content.dropped), (vec![line("a"), line("b")], 0));
    }

    #[test]
    fn a_write_that_fails_is_told_with_the_file_and_can_be_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = log_of(&path);
        let writable = std::mem::replace(&mut log.file, File::open(&path).unwrap());
        let error = log.append(&line("a").line().unwrap()).unwrap_err();
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
        assert_eq!((log.len, log.has_tail), (0, true));
        log.file = writable;
        log.append(&line("a").line().unwrap()).unwrap();
        assert_eq!(read::<LedgerLine>(&path, |_| true).unwrap().records, [line("a")]);
    }

    #[test]
    fn garbage_is_a_tail_until_a_record_that_must_stay_follows_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let good = |key| String::from_utf8(line(key).line().unwrap()).unwrap();
        fs::write(&path, format!("{}\0\0\0\n{}", good("a"), good("b"))).unwrap();
        let content = read::<LedgerLine>(&path, |record| record.release == "a").unwrap();
        assert_eq!(content.records, [line("a")]);
        assert_eq!(content.dropped, 4 + good("b").len() as u64);
        let error = read::<LedgerLine>(&path, |record| record.release == "b").err().unwrap();
        assert!(matches!(error, StoreError::Damaged { line: 2, .. }), "{error}");
    }
    #[test]
    fn records_after_the_last_one_that_must_stay_are_a_tail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let good = |release| String::from_utf8(line(release).line().unwrap()).unwrap();
        fs::write(&path, ["a", "b", "a", "b", "b"].map(good).concat()).unwrap();
        let content = read::<LedgerLine>(&path, |record| record.release == "a").unwrap();
        assert_eq!(content.records, ["a", "b", "a"].map(line));
        assert_eq!(content.dropped, 2 * good("b").len() as u64);
        drop(Log::open(path.clone(), &content).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), ["a", "b", "a"].map(good).concat());
    }
}
