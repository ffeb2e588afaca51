//! How a run talks: to people, to programs, or not at all.

use std::io::{self, Write, stderr};

use pgmbench::experiment::{Observer, Plan, Silent, Trial};
use pgmbench::results::TrialRecord;
use serde_json::{Value, json};

use super::trial_progress::TrialProgress;

/// Who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// People: lines and bars on the standard error output, tables on the standard output.
    People,
    /// Nobody: errors alone.
    Quiet,
    /// A program: an event a line, as JSON, on the standard output.
    Json,
}

impl OutputFormat {
    /// Says something in passing: the words are for people, the fields for programs.
    pub(crate) fn say(self, event: &str, words: &str, fields: Value) {
        match self {
            // Nobody may be listening.
            Self::Text => drop(writeln!(stderr(), "{words}")),
            Self::Quiet => {}
            Self::Json => emit(event, fields),
        }
    }

    /// What tells how the trials get on.
    pub(crate) fn observer(self, plan: &Plan, rows: &[TrialRecord]) -> Box<dyn Observer> {
        match self {
            Self::Text => Box::new(TrialProgress::new(plan, rows)),
            Self::Quiet => Box::new(Silent),
            Self::Json => Box::new(Events),
        }
    }
}

/// One event as one line: the name under `event`, and the fields beside it.
fn emit(event: &str, fields: Value) {
    let mut line = json!({ "event": event });
    if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
        line.extend(fields);
    }
    let mut stdout = io::stdout().lock();
    // A reader that has gone does not stop the run.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

struct Events;

impl Observer for Events {
    fn begins(&self, _trial: &Trial, name: &str) {
        emit("trial", json!({ "name": name }));
    }

    fn ended(&self, record: &TrialRecord) {
        emit("arm", serde_json::to_value(record).unwrap_or_default());
    }
}
