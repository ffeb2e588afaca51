//! Printing to the terminal. Files: [`super::output_file`].
//!
//! Names, labels and messages come from files of other people. What is printed for people has their
//! control characters escaped ([`printable`]), so that they cannot move the cursor, change what is
//! on the screen or type into it.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use super::failure::{Failure, ResultExt};

/// Prints text for people; a closed pipe is [`Failure::ClosedPipe`].
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut text = Vec::new();
    write(&mut text).internal_at("cannot write to the standard output")?;
    let text = String::from_utf8_lossy(&text);
    print_bytes(|output| output.write_all(printable(&text).as_bytes()))
}

/// Prints data for other programs, byte for byte; on a terminal, where people read them, like
/// [`print`].
pub(crate) fn print_data(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => print(write),
        false => print_bytes(write),
    }
}

/// Prints a line to the standard error output. A closed one does not stop the program.
pub(crate) fn note(line: impl Display) {
    let line = line.to_string();
    let _ = writeln!(io::stderr(), "{}", printable(&line));
}

/// The text with control characters escaped, except line feeds and tabs. So are the characters that
/// change the direction of what follows.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_harmful(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A name from a file, in output whose lines have a meaning: with line feeds and tabs escaped too.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t")
}

fn print_bytes(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
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
    print_data(|output| {
        serde_json::to_writer_pretty(&mut *output, value)?;
        writeln!(output)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_lines_stay_lines() {
        let text = "a\tb\n\u{1b}[31mred\r\u{7}\u{9b}2J\u{202e}ä";
        let shown = "a\tb\n\\u{1b}[31mred\\r\\u{7}\\u{9b}2J\\u{202e}ä";
        assert_eq!(printable(text), shown);
        assert!(matches!(printable("plain, ä\n"), Cow::Borrowed(_)));
    }
}
