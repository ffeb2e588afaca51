//! Large tables, and what happens where there is no memory for one.
//!
//! The standard library ends the process when an allocation fails. A table from here that does not
//! fit unwinds instead, with [`OutOfMemory`] as its payload and without the message of a panic;
//! [`catch`] makes it an error again. Tables are made in the middle of calibrations and of the
//! methods of optimisers, none of which could do anything about it but pass it on.

use std::any::Any;
use std::hint::black_box;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use thiserror::Error;

use super::bytes::Bytes;

/// There is no memory for a table.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("out of memory: {} could not be allocated", Bytes(*.bytes))]
pub struct OutOfMemory {
    /// Of the table.
    pub bytes: f64,
}

/// Tables below this many bytes are allocated as everything else is. One megabyte.
const LARGE: usize = 1 << 20;

/// Bytes that have to be left after a large table, for allocations that do not come from here. Our
/// choice. More than the 32 MB up to which glibc would keep a freed block for itself.
const RESERVE: f64 = (1u64 << 25) as f64;

/// Between the proof that a table fits and its allocation no other large table is made.
static ALLOCATING: Mutex<()> = Mutex::new(());

/// Whether this many bytes could be allocated now, at once.
pub fn require(bytes: f64) -> Result<(), OutOfMemory> {
    let wanted = bytes + RESERVE;
    let mut probe = Vec::<u8>::new();
    // Unused allocations may be optimised away, and then count as successful.
    let fits = wanted < isize::MAX as f64 && probe.try_reserve_exact(wanted as usize).is_ok();
    black_box(&probe);
    if fits { Ok(()) } else { Err(OutOfMemory { bytes }) }
}

/// A table of zeros.
pub fn zeros(len: usize) -> Vec<f64> {
    filled(len, 0.0)
}

/// A table with this number in every cell.
pub fn filled(len: usize, value: f64) -> Vec<f64> {
    // Zeros come from the system, which maps their pages when they are first written.
    allocate::<f64>(len, || vec![value; len])
}

/// A copy of a table.
pub fn copied(values: &[f64]) -> Vec<f64> {
    let mut copy = allocate::<f64>(values.len(), || Vec::with_capacity(values.len()));
    copy.extend_from_slice(values);
    copy
}

/// All bytes of an input, which may have at most `limit`.
pub fn read_at_most(input: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Fails where there is no memory, and does not end the process.
    input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => {
            let message = format!("larger than {}, the limit for such files", Bytes(limit as f64));
            Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
        }
        false => Ok(bytes),
    }
}

/// What `make` allocates for this many values.
///
/// # Panics
/// If they do not fit into memory: with [`OutOfMemory`] as the payload.
pub fn allocate<T>(len: usize, make: impl FnOnce() -> Vec<T>) -> Vec<T> {
    let bytes = len.saturating_mul(size_of::<T>());
    if bytes < LARGE {
        return make();
    }
    let _alone = ALLOCATING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match require(bytes as f64) {
        Ok(()) => make(),
        Err(error) => resume_unwind(Box::new(error)),
    }
}

/// Returns [`OutOfMemory`] where `work` unwinds with it. Other panics pass through.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, OutOfMemory> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match in_panic(&*panic) {
        Some(error) => error,
        None => resume_unwind(panic),
    })
}

/// The error in the payload of a panic, if it is this one.
pub fn in_panic(payload: &(dyn Any + Send)) -> Option<OutOfMemory> {
    payload.downcast_ref().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any address space has.
    const IMPOSSIBLE: usize = 1 << 57;

    #[test]
    fn a_table_that_does_not_fit_is_an_error_and_not_the_end_of_the_process() {
        let bytes = 8.0 * IMPOSSIBLE as f64;
        assert_eq!(catch(|| zeros(IMPOSSIBLE)), Err(OutOfMemory { bytes }));
        assert_eq!(require(bytes), Err(OutOfMemory { bytes }));
        let said = OutOfMemory { bytes }.to_string();
        assert_eq!(said, "out of memory: 1.2 EB could not be allocated");
        // From another thread of the pool too.
        let both = catch(|| rayon::join(|| zeros(IMPOSSIBLE), || zeros(8)));
        assert_eq!(both, Err(OutOfMemory { bytes }));
    }

    #[test]
    fn tables_that_fit_have_their_values() {
        for len in [0, 3, LARGE] {
            assert_eq!(catch(|| zeros(len)).unwrap(), vec![0.0; len]);
            assert_eq!(catch(|| copied(&filled(len, 2.5))).unwrap(), vec![2.5; len]);
        }
    }

    #[test]
    fn an_input_without_end_is_refused_at_the_limit() {
        let error = read_at_most(io::repeat(1), 1_000_000).unwrap_err();
        assert_eq!(error.to_string(), "larger than 1.0 MB, the limit for such files");
        assert_eq!(read_at_most(&b"abc"[..], 3).unwrap(), b"abc");
        assert!(read_at_most(&b"abc"[..], 2).is_err());
    }

    #[test]
    fn other_panics_pass_through() {
        let panic = std::panic::catch_unwind(|| catch(|| std::panic::panic_any("other")));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"other"));
    }
}
