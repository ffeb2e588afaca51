//! What experiments leave behind: rows of trials, where they came from, and what they add up to.

mod csv_records;
#[cfg(test)]
mod examples;
mod record;
pub mod store;

pub use record::{Status, TraceRecord, TrialRecord};
