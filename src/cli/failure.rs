use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use pgmbench::problem::ProblemError;

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something that the user can mend: exit code 2.
    Input(anyhow::Error),
    /// Everything else: exit code 1.
    Unexpected(anyhow::Error),
    /// Whoever read the output has had enough, as `head` does; not an error.
    ClosedPipe,
}

impl Failure {
    /// Input that has to change, in words.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// A file with a problem or with queries that cannot be used.
    pub(crate) fn in_file(path: &Path, error: ProblemError) -> Self {
        match error {
            ProblemError::Io { .. } => Self::Input(error.into()),
            _ => Self::Input(anyhow::Error::new(error).context(path.display().to_string())),
        }
    }

    /// Tells the user, and the shell.
    pub(crate) fn report(&self) -> ExitCode {
        let (error, code) = match self {
            Self::Input(error) => (error, 2),
            Self::Unexpected(error) => (error, 1),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Nowhere is left to complain about a closed stderr.
        let _ = writeln!(io::stderr(), "error: {error:#}");
        ExitCode::from(code)
    }
}

/// Says whose fault an error is, and where it happened.
pub(crate) trait Blame<T> {
    /// The user can mend it.
    fn or_input(self, place: impl Display) -> Result<T, Failure>;

    /// Nobody can tell.
    fn or_unexpected(self, place: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> Blame<T> for Result<T, E> {
    fn or_input(self, place: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(error.into().context(place.to_string())))
    }

    fn or_unexpected(self, place: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Unexpected(error.into().context(place.to_string())))
    }
}
