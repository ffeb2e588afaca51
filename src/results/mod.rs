//! What experiments leave behind: rows of trials, where they came from, and what they add up to.

mod record;

pub use record::{Status, TraceRecord, TrialRecord};
