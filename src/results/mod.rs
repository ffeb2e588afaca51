//! The results of experiments: rows of trials, manifests, summaries and checked claims.

mod bootstrap;
pub mod change;
pub mod claims;
mod convergence;
mod csv_records;
#[cfg(test)]
pub(crate) mod examples;
pub mod folder;
mod machine;
pub mod manifest;
mod metric;
mod progress;
mod rates;
mod record;
pub mod schedule;
mod shard;
mod statistics;
pub mod store;
pub mod summary;
mod text_table;
mod timestamp;

pub use convergence::{UNCONVERGED_MARK, is_converged, unconverged_note};
pub use machine::Machine;
pub use progress::Progress;
pub use rates::above_minimum;
pub use record::{Difference, TraceRecord, TrialRecord};
pub use shard::{NotAShard, Shard};
pub use statistics::{Interval, Mean, PairedRatio, Spread};
pub use text_table::number;
pub use timestamp::rfc3339;

pub use crate::config::{Metric, Status};
