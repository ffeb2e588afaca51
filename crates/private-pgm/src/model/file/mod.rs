//! Models as files.
//!
//! # The format
//!
//! Numbers are little-endian. A file is data and nothing else; no reader executes any of it.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `89 50 47 4D 0D 0A 1A 0A`, which no text file begins with |
//! | 4 | the format's version, 1, as an unsigned integer |
//! | 8 | h, the length of the header, as an unsigned integer |
//! | 8 | n, the number of potentials, as an unsigned integer |
//! | h | the header, JSON |
//! | 8n | the potentials, IEEE 754 double precision |
//! | 32 | the BLAKE3 checksum of everything before it |
//!
//! The header is an object:
//!
//! ```json
//! { "domain": [["age", 12], ["sex", 2], ["hrs", 8]],
//!   "total": 800.0,
//!   "cliques": [["sex", "age"], ["hrs"]],
//!   "origin": {"release": "0.1.0", "algorithm": "mirror", "loss": 17.2, "gap": 0.001} }
//! ```
//!
//! - `domain`: the attributes and how many values each has, in their declared order.
//! - `total`: the number of records, positive.
//! - `cliques`: the attributes of each table of potentials. The tables follow one another in this
//!   order, each row-major in its attributes as listed; a reader needs no other rule for the order
//!   of axes.
//! - `origin`: an [`Origin`](super::Origin), or `null`; it and each of its fields may be missing.
//!
//! A potential is finite or minus infinity, which marks combinations of values that no record has.
//!
//! A reader passes over fields of the header that it does not know. The version changes only when
//! a reader of the older one would go wrong; later releases read all earlier versions.

mod error;
mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use error::ModelFileError;

/// Not text, and damaged by whatever translates the ends of lines.
const MAGIC: [u8; 8] = *b"\x89PGM\r\n\x1a\n";

/// The version that is written, and the only one that there has been.
const VERSION: u32 = 1;

/// The magic, the version, and the two lengths.
const PREFIX_BYTES: u64 = 28;

const CHECKSUM_BYTES: u64 = 32;

/// Potentials go through a buffer of this many bytes, enough for BLAKE3 to work at full width.
const CHUNK_BYTES: usize = 1 << 16;

/// The first potential that is not one, with its place.
fn invalid_potential(values: &[f64]) -> Option<(usize, f64)> {
    let is_invalid = |value: f64| value.is_nan() || value == f64::INFINITY;
    values.iter().copied().enumerate().find(|&(_, value)| is_invalid(value))
}
