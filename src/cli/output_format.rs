//! What a run prints, and where.

use std::io::{self, Write};

use pgmbench::experiment::{Observer, Plan, Silent, Trial};
use pgmbench::results::TrialRecord;
use serde_json::{Value, json};

use super::output::note;
use super::trial_progress::TrialProgress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Lines and progress bars on the standard error output, tables on the standard output.
    Text,
    /// Errors only.
    Quiet,
    /// One JSON object per line and event, on the standard output.
    Json,
}

impl OutputFormat {
    /// Reports an event: as `message` in text, as `fields` in JSON.
    pub(crate) fn emit(self, event: &str, message: &str, fields: Value) {
        match self {
            Self::Text => note(message),
            Self::Quiet => {}
            Self::Json => print_event(event, fields),
        }
    }

    /// Reports the progress of trials in this format.
    pub(crate) fn observer(self, plan: &Plan, rows: &[TrialRecord]) -> Box<dyn Observer> {
        match self {
            Self::Text => Box::new(TrialProgress::new(plan, rows)),
            Self::Quiet => Box::new(Silent),
            Self::Json => Box::new(Events),
        }
    }
}

/// One line of JSON: the name under `event`, followed by the fields.
fn print_event(event: &str, fields: Value) {
    let mut line = json!({ "event": event });
    if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
        line.extend(fields);
    }
    let mut stdout = io::stdout().lock();
    // A closed pipe does not stop the run.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

struct Events;

impl Observer for Events {
    fn begins(&self, _trial: &Trial, name: &str) {
        print_event("trial", json!({ "name": name }));
    }

    fn ended(&self, record: &TrialRecord) {
        print_event("arm", serde_json::to_value(record).unwrap_or_default());
    }
}
