//! Limits on what is read from files, so that no file can take all memory.
//!
//! | input | limit |
//! | --- | --- |
//! | experiment files, schemas, manifests of stored data | [`TEXT`] |
//! | manifests, budget files, figures, lists of queries | [`JSON`] |
//! | a record of a data set, with the blank lines before it | [`RECORD`] |
//! | the codes of all records of a data set | a quarter of the machine's memory |
//!
//! Compressed data is read as a stream, so that its size on disk does not matter.

use private_pgm::fit::default_memory_limit;
use private_pgm::problem;

/// Bytes of a text that people write: 16 MB.
pub const TEXT: u64 = 16_000_000;
/// Bytes of a text that programs write: those of a problem.
pub const JSON: u64 = problem::MAX_BYTES;
/// Bytes of a record: 16 MB.
pub const RECORD: u64 = 16_000_000;

/// Bytes of the codes of a data set. A list doubles when it grows, so that twice as much is taken.
pub fn data_bytes() -> u64 {
    default_memory_limit() / 2
}
