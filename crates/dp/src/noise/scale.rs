//! The scale of discrete noise as an exact fraction.

use thiserror::Error;

/// A positive scale numerator / 2^shift, with numerator < 2^62 and shift <= 63.
///
/// # From a float
///
/// A float *is* such a fraction, m 2^e with m < 2^53. From 2^-10 up to [`Scale::MAX`] it is
/// converted exactly. Below 2^-10 its denominator can be larger than 2^63; the scale is then
/// rounded *up* to a multiple of 2^-63, which gives more noise and more privacy. (At such scales
/// noise is zero except with probability e^-1000.) Above the maximum the scale is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    numerator: u64,
    shift: u32,
}

/// A scale that the discrete samplers do not support, in grid steps.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("the scale of discrete noise must be positive and at most 2^60 grid steps, not {0}")]
pub struct ScaleOutOfRange(pub f64);

impl Scale {
    /// 2^60, about 10^18 steps.
    pub(crate) const MAX: f64 = (1u64 << 60) as f64;

    /// The smallest fraction of this form that is at least `scale`.
    pub(crate) fn at_least(scale: f64) -> Result<Self, ScaleOutOfRange> {
        if !(scale > 0.0 && scale <= Self::MAX) {
            return Err(ScaleOutOfRange(scale));
        }
        const DENOMINATOR: f64 = (1u64 << 63) as f64;
        if scale < 1.0 / 1024.0 {
            // The product and its ceiling are below 2^53 and therefore exact.
            let numerator = (scale * DENOMINATOR).ceil().max(1.0) as u64;
            return Ok(Self { numerator, shift: 63 }.reduced());
        }
        // The bits of a float encode 1.m 2^e = (2^52 + m) 2^(e - 52).
        let bits = scale.to_bits();
        let mantissa = (1 << 52) | (bits & ((1 << 52) - 1));
        let exponent = (bits >> 52) as i32 - 1023 - 52;
        Ok(if exponent >= 0 {
            Self { numerator: mantissa << exponent, shift: 0 }
        } else {
            Self { numerator: mantissa, shift: exponent.unsigned_abs() }.reduced()
        })
    }

    fn reduced(self) -> Self {
        let common = self.numerator.trailing_zeros().min(self.shift);
        Self { numerator: self.numerator >> common, shift: self.shift - common }
    }

    /// The numerator, at least 1 and below 2^62.
    pub(crate) fn numerator(self) -> u64 {
        self.numerator
    }

    /// The base-2 logarithm of the denominator, at most 63.
    pub(crate) fn shift(self) -> u32 {
        self.shift
    }

    /// The value. Exact: the numerator has at most 53 significant bits.
    pub(crate) fn get(self) -> f64 {
        self.numerator as f64 / 2f64.powi(self.shift as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ordinary_scales_are_converted_exactly(mantissa in 1.0..2.0f64, exponent in -10..60i32) {
            let scale = mantissa * 2f64.powi(exponent);
            prop_assert_eq!(Scale::at_least(scale).unwrap().get(), scale);
        }

        #[test]
        fn tiny_scales_are_rounded_up_by_less_than_a_step(
            mantissa in 1.0..2.0f64, e in -1022..-10i32
        ) {
            let scale = mantissa * 2f64.powi(e);
            let fraction = Scale::at_least(scale).unwrap();
            prop_assert!(fraction.get() >= scale);
            prop_assert!(fraction.get() < scale + 2f64.powi(-63) || scale < 2f64.powi(-63));
        }
    }

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(Scale::at_least(2.5).unwrap(), Scale { numerator: 5, shift: 1 });
        assert_eq!(Scale::at_least(Scale::MAX).unwrap(), Scale { numerator: 1 << 60, shift: 0 });
        assert_eq!(Scale::at_least(5e-324).unwrap(), Scale { numerator: 1, shift: 63 });
    }

    #[test]
    fn scales_out_of_range_are_rejected() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, Scale::MAX.next_up()] {
            assert!(Scale::at_least(bad).is_err(), "{bad}");
        }
    }
}
