//! Flushing small numbers to zero.
//!
//! Arithmetic on subnormal numbers, below 2.2e-308, is about a hundred times slower on many
//! processors. The tables of a model with many near-zero probabilities are full of numbers whose
//! products would be subnormal. Numbers below [`FLUSH_BELOW`] are therefore replaced by 0 before a
//! product: the product of two numbers above it is a normal number.

const FLUSH_BELOW: f64 = 1e-152;

/// ln(1e-152), to three digits: exponentials of smaller arguments are flushed to zero.
pub(super) const FLUSH_LOG: f64 = -350.0;

/// x, or 0 where x is below 1e-152. x must not be negative.
#[inline(always)]
pub(super) fn flush_to_zero(x: f64) -> f64 {
    if x < FLUSH_BELOW { 0.0 } else { x }
}
