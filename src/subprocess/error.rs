use std::io;
use std::process::ExitStatus;

use thiserror::Error;

/// Why a command has given no answer.
#[derive(Debug, Error)]
#[error("`{command}` {reason}")]
pub struct CommandError {
    /// With its arguments.
    pub(super) command: String,
    pub(super) reason: Reason,
}

impl CommandError {
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self.reason, Reason::Timeout)
    }
}

#[derive(Debug, Error)]
pub(super) enum Reason {
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("was stopped at the time limit")]
    Timeout,
    #[error("ended with {status}{}", after(.complaints))]
    Status { status: ExitStatus, complaints: String },
    #[error("has written more than 1 GiB")]
    TooLong,
    #[error("cannot be followed: {0}")]
    Io(io::Error),
    #[error("has not answered as expected: {0}")]
    Answer(String),
}

fn after(complaints: &str) -> String {
    match complaints.is_empty() {
        true => ", without a word on standard error".into(),
        false => format!("; the end of its standard error: {complaints}"),
    }
}
