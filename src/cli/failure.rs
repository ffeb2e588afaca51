use std::fmt::Display;
use std::process::ExitCode;

use super::output::note;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user has to change the input or the arguments: exit code 2.
    Input(anyhow::Error),
    /// Everything else: exit code 1.
    Unexpected(anyhow::Error),
    /// The reader closed the pipe, as `head` does. Not an error: exit code 0, so that scripts with
    /// `pipefail` continue.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Input(error) => (error, 2),
            Self::Unexpected(error) => (error, 1),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        note(format_args!("error: {}", with_causes(error)));
        ExitCode::from(code)
    }
}

/// The error and its causes, each once: many errors repeat the text of their cause.
fn with_causes(error: &anyhow::Error) -> String {
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

/// Turns errors into failures. With `_at`, the place is put in front of the message; without, the
/// error itself names the place.
pub(crate) trait ResultExt<T> {
    /// [`Failure::Input`].
    fn input_at(self, place: impl Display) -> Result<T, Failure>;

    /// [`Failure::Input`].
    fn input(self) -> Result<T, Failure>;

    /// [`Failure::Unexpected`].
    fn internal_at(self, place: impl Display) -> Result<T, Failure>;

    /// [`Failure::Unexpected`].
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
    use std::io;

    use super::*;
    use pgmbench::data::DataError;

    #[test]
    fn a_cause_is_not_repeated() {
        let error = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = DataError::Io { file: "nope.csv".into(), error };
        assert_eq!(with_causes(&error.into()), "nope.csv: no such file");
        let error = anyhow::anyhow!("no such file").context("mine.csv").context("cannot read");
        assert_eq!(with_causes(&error), "cannot read: mine.csv: no such file");
    }
}
