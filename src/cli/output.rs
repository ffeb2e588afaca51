//! Where results go: files that are checked before the work starts, and the standard output.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pgmbench::storage::NewFile;

use super::failure::{Blame, Failure};

/// Whether a file can be written at `path`, which must be none of the `others` that the command
/// reads or writes, each with what it is. Nothing is left of the attempt.
pub(crate) fn check_output(path: &Path, others: &[(&str, &Path)]) -> Result<(), Failure> {
    if let Some((what, _)) = others.iter().find(|(_, other)| is_same_file(other, path)) {
        let message = format!("cannot write {}: it is also {what}", path.display());
        return Err(Failure::input(message));
    }
    NewFile::create(path).map(drop).or_input(format!("cannot write {}", path.display()))
}

/// Where the facts of a release are: `synthetic.csv` has them in `synthetic.release.json`.
pub(crate) fn facts_path(out: &Path) -> PathBuf {
    out.with_extension("release.json")
}

/// Whether two paths lead to the same file, which need not exist.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder),
        _ => fs::canonicalize("."),
    };
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (folder(one), folder(other)) {
            (Ok(a), Ok(b)) => a == b && one.file_name() == other.file_name(),
            _ => false,
        },
    }
}

/// Prints, without a fuss when nobody listens any more.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let pipe = Pipe { output: io::stdout().lock(), is_closed: false };
    let mut stdout = BufWriter::new(pipe);
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(_) if stdout.get_ref().is_closed => Err(Failure::ClosedPipe),
        written => written.or_unexpected("cannot write to the standard output"),
    }
}

/// Remembers whether the reader has left. The error itself need not tell: writers of tables wrap it
/// into errors of their own.
struct Pipe<W> {
    output: W,
    is_closed: bool,
}

impl<W> Pipe<W> {
    fn noted<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.is_closed |= written.as_ref().is_err_and(is_closed);
        written
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.output.flush();
        self.noted(flushed)
    }
}

/// Prints a value as JSON on several lines.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(|output| {
        serde_json::to_writer_pretty(&mut *output, value)?;
        writeln!(output)
    })
}
