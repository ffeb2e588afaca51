//! Numbers that are too small to count.
//!
//! Processors take a hundred times as long over a denormal number, one below 2e-308, as over any other.
//! Tables of a model that excludes more and more are full of numbers that would multiply to such. So
//! whatever is below [`FLUSH_BELOW`] is taken for 0 before it is multiplied: a product of two that are not is
//! a normal number.

/// See above.
const FLUSH_BELOW: f64 = 1e-152;

/// ln of that, to three digits: exponentials of anything less are taken for 0.
pub(super) const FLUSH_LOG: f64 = -350.0;

/// A number that is not negative, unless it is faint.
#[inline(always)]
pub(super) fn flush_to_zero(x: f64) -> f64 {
    if x < FLUSH_BELOW { 0.0 } else { x }
}
