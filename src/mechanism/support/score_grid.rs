//! Rounding of estimates, so that scores of the exponential mechanism are exact.

/// Doubles from 2^32 to 2^33 are the multiples of 2^-20 there, so adding 2^32 to a smaller number
/// rounds it to one.
const SHIFT: f64 = (1u64 << 32) as f64;

/// The nearest multiple of 2^-20, for numbers up to 2^32 in size; a near multiple of a larger power
/// of two beyond. Sums and differences of such numbers and of integers are exact up to 2^33.
///
/// Two additions in place of a call of `round`, so that loops over tables are vectorised.
pub(crate) fn on_grid(value: f64) -> f64 {
    ((value.abs() + SHIFT) - SHIFT).copysign(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_nearest_multiple() {
        const GRID: f64 = (1u64 << 20) as f64;
        for i in 0..10_000 {
            let value = (f64::from(i) * 0.37 - 1800.0).powi(3) / 7.0;
            let rounded = on_grid(value);
            assert_eq!((rounded * GRID).fract(), 0.0, "{value}");
            assert!((rounded - value).abs() <= 0.5 / GRID, "{value} {rounded}");
        }
        for value in [0.0, 1.0, -3.0, 4294967295.0, -4294967296.0, 9.5e12, -9.5e12] {
            assert_eq!(on_grid(value), value);
        }
        assert_eq!(on_grid(1e13 + 0.001953125) * GRID % 1.0, 0.0);
    }
}
