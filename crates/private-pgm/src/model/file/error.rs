use std::io;

use thiserror::Error;

use super::VERSION;

/// Why a file could not be read as a model, or a model not written as a file.
#[derive(Debug, Error)]
pub enum ModelFileError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The first bytes are others.
    #[error("not a model file")]
    NotAModel,
    /// A format that this release does not know.
    #[error("a model file of version {found}; this release reads version {VERSION}")]
    Version {
        /// The version of the file.
        found: u32,
    },
    /// The file ends too early.
    #[error("the model file is cut off: {found} bytes of at least {expected}")]
    CutOff {
        /// The bytes that it should have, as far as can be told.
        expected: u64,
        /// The bytes that it has.
        found: u64,
    },
    /// Something follows the model.
    #[error("the model file is damaged: there is more behind the {expected} bytes of the model")]
    TooLong {
        /// The bytes that it should have.
        expected: u64,
    },
    /// The content is not what was written.
    #[error("the model file is damaged: its checksum differs from that of its content")]
    Checksum,
    /// The header contradicts itself or the rest of the file.
    #[error("the header of the model file is wrong: {0}")]
    Header(String),
    /// A number that is no log-potential.
    #[error(
        "the potential of cell {cell} of the clique ({}) is {value}; \
         expected a finite number or minus infinity",
        .clique.join(", ")
    )]
    Potential {
        /// The names of the clique's attributes.
        clique: Vec<String>,
        /// The cell, row-major in these attributes.
        cell: usize,
        /// The number.
        value: f64,
    },
    /// A model of this many records is none.
    #[error("the total is {0}; expected a positive number")]
    Total(f64),
    /// The potentials do not fit into the memory.
    #[error("no memory for {0} potentials")]
    Memory(u64),
}
