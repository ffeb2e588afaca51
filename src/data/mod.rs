//! Data: files, the schemas that describe them, and the records as codes over a
//! [`Domain`](private_pgm::domain::Domain).
//!
//! A dataset is a folder with a `schema.toml` ([`Schema`]) and the files that it names. The
//! [`Registry`] finds it by name or by path:
//!
//! ```
//! use pgmbench::data::Registry;
//! use private_pgm::domain::Clique;
//! use private_pgm::model::Projectable;
//!
//! let titanic = Registry::default().load("titanic")?;
//! assert_eq!(titanic.len(), 1304);
//! let sex = titanic.domain().id("Sex").unwrap();
//! let marginal = titanic.project(&Clique::new([sex]))?;
//! assert_eq!(marginal.total(), 1304.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Some data may not be distributed. Then only the schema ships, and [`Entry::import`] makes a
//! dataset from the file that a user has obtained from its publisher. [`infer`] drafts a schema for
//! a file without one.

mod code_cache;
mod column;
mod counts;
mod dataset;
mod describe;
mod entry;
mod error;
mod generate;
mod infer;
mod lines;
mod profile;
mod record_form;
mod registry;
mod repeated;
mod schema;
mod shipped;
mod source;
mod stored;
mod synthetic;
mod table;

pub use dataset::{CodesError, Dataset, Provenance};
pub use describe::{AttributeDescription, Description};
pub use entry::{Availability, Entry, Import};
pub use error::DataError;
pub use infer::{Draft, infer, infer_stream};
pub use record_form::{FormError, RecordWriter, ValueForm};
pub use registry::Registry;
pub(crate) use repeated::Repeated;
pub(crate) use schema::AttributeKind;
pub use schema::{
    AttributeProblem, AttributeSchema, CellProblem, Expected, Missing, Schema, SchemaError,
    TripleWorkload,
};
pub use source::SourceFile;
pub use stored::{Manifest, StandIn};
pub use synthetic::{read_labelled, read_synthetic};

#[cfg(test)]
mod tests;
