use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that the user can mend: exit code 2.
    Input(anyhow::Error),
    /// Everything else: exit code 1.
    Unexpected(anyhow::Error),
    /// Whoever read the output has had enough, as `head` does. Not an error: exit code 0, so that
    /// scripts which stop at the first failing part of a pipeline go on.
    ClosedPipe,
}

impl Failure {
    /// Input that has to change, in words.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// Tells the user, and the shell.
    pub(crate) fn report(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Input(error) => (error, 2),
            Self::Unexpected(error) => (error, 1),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Nowhere is left to complain about a closed stderr.
        let _ = writeln!(io::stderr(), "error: {}", in_full(error));
        ExitCode::from(code)
    }
}

/// The error and its causes, each once: many errors have the text of their cause in their own.
fn in_full(error: &anyhow::Error) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if last.contains(&cause) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause);
        last = cause;
    }
    text
}

/// Says whose fault an error is, and where it happened.
pub(crate) trait ResultExt<T> {
    /// The user can mend it.
    fn input_at(self, place: impl Display) -> Result<T, Failure>;

    /// The user can mend it, and the error itself says where.
    fn input(self) -> Result<T, Failure>;

    /// Nobody can tell.
    fn internal_at(self, place: impl Display) -> Result<T, Failure>;

    /// Nobody can tell, and the error itself says where.
    fn internal(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> ResultExt<T> for Result<T, E> {
    fn input_at(self, place: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(error.into().context(place.to_string())))
    }

    fn input(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(error.into()))
    }

    fn internal_at(self, place: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Unexpected(error.into().context(place.to_string())))
    }

    fn internal(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Unexpected(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgmbench::data::DataError;

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let error = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = DataError::Io { file: "nope.csv".into(), error };
        assert_eq!(in_full(&error.into()), "nope.csv: no such file");
        let error = anyhow::anyhow!("no such file").context("mine.csv").context("cannot read");
        assert_eq!(in_full(&error), "cannot read: mine.csv: no such file");
    }
}
