//! Rounding of estimates, so that scores of the exponential mechanism are exact.

/// Estimates are rounded to multiples of 1 / GRID before they are compared with counts.
const GRID: f64 = (1 << 20) as f64;

/// The nearest multiple of 2^-20. Sums and differences of such numbers and of integers are exact up
/// to 2^32.
pub(crate) fn on_grid(value: f64) -> f64 {
    (value * GRID).round() / GRID
}
