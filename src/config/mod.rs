//! Experiment files: their syntax, their validation, and errors with the location in the file.
//!
//! A file is TOML. [`Source::parse`] reads it in two steps: the syntax (unknown keys, wrong types),
//! then the meaning (ranges, settings that exclude each other, defaults). Properties that depend on
//! more than the file, such as whether an attribute exists, are checked later by other modules; the
//! values keep their span for that, and [`Source::error`] reports an error at a span.
//!
//! ```
//! use pgmbench::config::Source;
//!
//! let text = "name = 'mine'\nepsilon = 1\ndatasets = ['adult']\n[[mechanism]]\nname = 'hdmm'\n";
//! let source = Source { path: "mine.toml".into(), text: text.into() };
//! let experiment = source.parse()?;
//! assert_eq!(experiment.trials, 5);
//!
//! let dataset = &experiment.datasets[0].name;
//! let error = source.error(dataset.span(), "there is no data set `adult`", None);
//! assert_eq!(
//!     error.to_string(),
//!     "there is no data set `adult`
//!  --> mine.toml:3:13
//!   |
//! 3 | datasets = ['adult']
//!   |             ^^^^^^^"
//! );
//! # Ok::<(), pgmbench::config::ConfigError>(())
//! ```
//!
//! Most settings have defaults. All settings, except those of other kinds of experiments:
//!
//! ```toml
#![doc = include_str!("tests/everything.toml")]
//! ```

mod byte_size;
mod check;
pub mod claim;
mod command;
mod dataset;
mod error;
mod estimation;
mod evaluation;
mod experiment;
mod figure;
mod form;
mod layers;
mod metric;
mod raw;
mod schema;
mod shipped;
mod source;
mod status;
mod stored;
mod sweep;
#[cfg(test)]
mod tests;
mod workload;

pub use crate::did_you_mean::closest;
pub use byte_size::{ByteSize, NotAByteSize};
pub use claim::Claim;
pub use command::{EstimatorCommand, MechanismCommand};
pub use dataset::{Chain, Dataset};
pub use error::{ConfigError, Mistake};
pub use estimation::Estimation;
pub use evaluation::Evaluation;
pub use experiment::{
    Arm, Changes, DEFAULT_ARMS, Experiment, Kind, Limits, Mechanism, Overrides, Parameters, Scaling,
};
pub use figure::{ArmStyle, Emphasis, Figure, FigureKind, Statistic};
pub use metric::Metric;
pub use schema::json_schema;
pub use shipped::{SHIPPED, ShippedFile};
pub use source::Source;
pub use status::Status;
pub use sweep::Sweep;
pub use workload::{AttributeNames, Queries, RandomMarginals, RandomRanges, Workload};
