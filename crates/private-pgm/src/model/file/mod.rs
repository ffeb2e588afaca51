//! Model files.
//!
//! # Format
//!
//! All numbers are little-endian. A file holds data only; a reader executes none of it.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | the magic number `89 50 47 4D 0D 0A 1A 0A` |
//! | 4 | the version of the format, 1, as an unsigned integer |
//! | 8 | h, the length of the header in bytes, as an unsigned integer |
//! | 8 | n, the number of potentials, as an unsigned integer |
//! | h | the header, JSON |
//! | 8n | the potentials, IEEE 754 double precision |
//! | 32 | the BLAKE3 checksum of all preceding bytes |
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
//! - `domain`: the name and the number of values of each attribute, in declared order.
//! - `total`: the number of records, positive.
//! - `cliques`: the attributes of each table of potentials. The tables are stored in this order,
//!   each row-major in its attributes as listed.
//! - `origin`: an [`Origin`](super::Origin), or `null`; it and each of its fields may be missing.
//!
//! A potential is finite, or minus infinity for a combination of values that no record has.
//!
//! A reader ignores unknown fields of the header. The version changes only when a reader of the
//! older version would misread the file; later releases read all earlier versions.

mod error;
mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use error::ModelFileError;

/// Not valid text, and changed by any conversion of line ends, like the signature of PNG files.
pub const MAGIC: [u8; 8] = *b"\x89PGM\r\n\x1a\n";

/// The version that is written, and the only one so far.
const VERSION: u32 = 1;

/// The bytes of the magic number, the version and the two lengths.
const PREFIX_BYTES: u64 = 28;

const CHECKSUM_BYTES: u64 = 32;

/// The size of the buffer for potentials, enough for BLAKE3 to hash at full SIMD width.
const CHUNK_BYTES: usize = 1 << 16;

/// The first value that is NaN or plus infinity, with its index.
fn invalid_potential(values: &[f64]) -> Option<(usize, f64)> {
    let is_invalid = |value: f64| value.is_nan() || value == f64::INFINITY;
    values.iter().copied().enumerate().find(|&(_, value)| is_invalid(value))
}
