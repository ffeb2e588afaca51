use std::io;

use thiserror::Error;

use super::VERSION;

/// Why reading or writing a model file failed.
#[derive(Debug, Error)]
pub enum ModelFileError {
    /// The reader or the writer failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The first bytes are not the magic number.
    #[error("not a model file")]
    NotAModel,
    /// The version of the format is unknown to this release.
    #[error("a model file of version {found}; this release reads version {VERSION}")]
    Version {
        /// The version of the file.
        found: u32,
    },
    /// The file is shorter than its prefix says.
    #[error("the model file is cut off: {found} bytes of at least {expected}")]
    CutOff {
        /// The expected length in bytes; a lower bound if the prefix itself is incomplete.
        expected: u64,
        /// The length in bytes.
        found: u64,
    },
    /// The file is longer than its prefix says.
    #[error("the model file is damaged: {found} bytes where {expected} belong to the model")]
    TooLong {
        /// The expected length in bytes.
        expected: u64,
        /// The length in bytes.
        found: u64,
    },
    /// The content was changed after it was written.
    #[error("the model file is damaged: its checksum differs from that of its content")]
    Checksum,
    /// The header contradicts itself or the rest of the file.
    #[error("the header of the model file is wrong: {0}")]
    Header(String),
    /// A potential is NaN or plus infinity.
    #[error(
        "the potential of cell {cell} of the clique ({}) is {value}; \
         expected a finite number or minus infinity",
        .clique.join(", ")
    )]
    Potential {
        /// The names of the clique's attributes.
        clique: Vec<String>,
        /// The index of the cell, row-major in these attributes.
        cell: usize,
        /// The invalid value.
        value: f64,
    },
    /// The total is not positive and finite.
    #[error("the total is {0}; expected a positive number")]
    Total(f64),
    /// Allocating the potentials failed.
    #[error("no memory for {0} potentials")]
    Memory(u64),
}
