//! Printing to the standard output. Files: [`super::output_file`].

use std::io::{self, BufWriter, Write};

use super::failure::{Failure, ResultExt};

/// Prints; a closed pipe is [`Failure::ClosedPipe`].
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let pipe = Pipe { output: io::stdout().lock(), is_closed: false };
    let mut stdout = BufWriter::new(pipe);
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(_) if stdout.get_ref().is_closed => Err(Failure::ClosedPipe),
        written => written.internal_at("cannot write to the standard output"),
    }
}

/// Records whether the reader has closed the pipe. The error alone does not tell: CSV and JSON
/// writers wrap it into errors of their own.
struct Pipe<W> {
    output: W,
    is_closed: bool,
}

impl<W> Pipe<W> {
    fn recorded<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.is_closed |= written.as_ref().is_err_and(is_closed);
        written
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes);
        self.recorded(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.output.flush();
        self.recorded(flushed)
    }
}

/// Prints a value as JSON on several lines.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(|output| {
        serde_json::to_writer_pretty(&mut *output, value)?;
        writeln!(output)
    })
}
