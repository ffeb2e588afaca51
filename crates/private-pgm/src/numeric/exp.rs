//! Exponentials and logarithms over a slice.
//!
//! exp(x) = 2^k p(r) with k = round(x / ln 2), r = x - k ln 2, and p a polynomial of degree 11
//! whose relative error on |r| <= ln(2)/2 is 3.7e-18. It uses additions, multiplications and
//! *explicit* fused multiply-adds only, so that every instruction set gives the same bits. It takes
//! about 1 ns per value with 256-bit vectors; processors without fused multiply-adds emulate them
//! slowly.

use multiversion::multiversion;

/// Below this, exp(x) is flushed to zero: subnormal numbers would slow down later arithmetic.
const LOWEST: f64 = -708.0;
/// Arguments are clamped to this; exp overflows above 709.78.
const HIGHEST: f64 = 709.0;

/// 1.5 * 2^52: adding it leaves the nearest integer in the low bits of the mantissa.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has so few bits that k times it is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Coefficients of r^2 to r^11, found by the Remez exchange for the relative error.
const TAIL: [f64; 10] = [
    0.500_000_000_000_001_1,
    0.166_666_666_666_664_1,
    0.041_666_666_666_529_725,
    0.008_333_333_333_494_976,
    0.001_388_888_894_375_996_5,
    0.000_198_412_695_057_737_76,
    2.480_149_294_963_387e-5,
    2.755_758_680_389_532_6e-6,
    2.763_030_625_029_36e-7,
    2.500_001_883_318_737_4e-8,
];

/// exp of one number, without branches, so that a loop over it vectorises. A NaN gives 0.
#[inline(always)]
pub(super) fn exp_one(x: f64) -> f64 {
    exp_above(LOWEST, x)
}

/// exp(x), flushed to zero where x is not above `lowest`, which is at least [`LOWEST`].
#[inline(always)]
pub(super) fn exp_above(lowest: f64, x: f64) -> f64 {
    let clamped = if x > lowest { x } else { lowest };
    let clamped = if clamped < HIGHEST { clamped } else { HIGHEST };
    let shifted = clamped.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, clamped));
    // Estrin's scheme shortens the chain of dependent operations.
    let r2 = r * r;
    let r4 = r2 * r2;
    let pair = |i: usize| r.mul_add(TAIL[i + 1], TAIL[i]);
    let (low, high) = (r2.mul_add(pair(2), pair(0)), r2.mul_add(pair(6), pair(4)));
    let tail = r4.mul_add(r4.mul_add(pair(8), high), low);
    let p = 1.0 + r2.mul_add(tail, r);
    // The integer k is in the low bits of `shifted`; shifted to the exponent field it gives 2^k.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let value = p * power;
    if x > lowest { value } else { 0.0 }
}

/// x = exp(x) for every x; minus infinity gives 0.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn exp_all(x: &mut [f64]) {
    for x in x {
        *x = exp_one(*x);
    }
}

/// Writes exp(x - shift) for every x of `from`; minus infinity gives 0.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(crate) fn exp_shifted(from: &[f64], shift: f64, to: &mut [f64]) {
    assert_eq!(from.len(), to.len());
    for (to, from) in to.iter_mut().zip(from) {
        *to = exp_one(from - shift);
    }
}

/// Coefficients of (ln((1 + s) / (1 - s)) - 2 s) / s^3 in powers of s^2, by the Remez exchange; the
/// error on |s| <= 0.1716 is 2.1e-18.
const ATANH_TAIL: [f64; 8] = [
    0.666_666_666_666_666_6,
    0.400_000_000_000_008_9,
    0.285_714_285_707_969_5,
    0.222_222_223_931_101_94,
    0.181_817_955_009_514_28,
    0.153_862_468_193_064_93,
    0.132_685_928_314_801_5,
    0.130_884_196_833_060_32,
];

/// ln of a normal positive number: x = 2^k m with m in [1/sqrt 2, sqrt 2), s = (m - 1) / (m + 1).
#[inline(always)]
pub(super) fn ln_one(x: f64) -> f64 {
    // Adding the distance from 1/sqrt 2 to 1 makes the exponent bits count from 1/sqrt 2.
    const HALF_ROOT: u64 = 0x3FE6_A09E_667F_3BCD;
    const ONE: u64 = 0x3FF0_0000_0000_0000;
    // The exponent is converted to a float through the mantissa of 2^52: AVX2 has no conversion.
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let offset = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let k = f64::from_bits((offset >> 52) | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    let f = f64::from_bits((offset & 0x000F_FFFF_FFFF_FFFF) + HALF_ROOT) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let pair = |i: usize| z.mul_add(ATANH_TAIL[i + 1], ATANH_TAIL[i]);
    let (low, high) = (z2.mul_add(pair(2), pair(0)), z2.mul_add(pair(6), pair(4)));
    let tail = (z2 * z2).mul_add(high, low);
    k.mul_add(LN_2_HIGH, s.mul_add(2.0, (s * z).mul_add(tail, k * LN_2_LOW)))
}

/// The largest value, minus infinity for an empty slice.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn maximum(values: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 16];
    let mut chunks = values.chunks_exact(16);
    for chunk in &mut chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().chain(chunks.remainder()).copied().fold(f64::NEG_INFINITY, f64::max)
}

/// ln(sum of exp(x)), minus infinity when every x is.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(crate) fn log_sum_exp(values: &[f64]) -> f64 {
    let shift = maximum(values);
    if shift == f64::NEG_INFINITY {
        return shift;
    }
    shift + values.iter().map(|&x| exp_one(x - shift)).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library_to_two_ulps() {
        let mut x = -707.9;
        while x < 708.9 {
            let (ours, reference) = (exp_one(x), x.exp());
            let ulps = ours.to_bits().abs_diff(reference.to_bits());
            assert!(ulps <= 2, "exp({x}) = {ours:e}, {ulps} ulps from {reference:e}");
            x += 0.000_731;
        }
    }

    #[test]
    fn logarithms_agree_with_the_standard_library() {
        let mut x = 1.1e-300;
        while x < 1e300 {
            let (ours, reference) = (ln_one(x), x.ln());
            assert!((ours - reference).abs() <= 4e-16 * reference.abs().max(0.2), "ln({x:e})");
            x *= 1.000_137;
        }
        for x in [0.5f64, 0.9999, 1.0, 1.0001, 2.0, std::f64::consts::FRAC_1_SQRT_2] {
            assert!((ln_one(x) - x.ln()).abs() <= 2e-16 * x.ln().abs().max(1e-3), "ln({x})");
        }
    }

    #[test]
    fn very_negative_arguments_give_zero() {
        for (x, expected) in [(f64::NEG_INFINITY, 0.0), (-1e300, 0.0), (-708.5, 0.0), (0.0, 1.0)] {
            assert_eq!(exp_one(x), expected, "exp({x})");
        }
    }

    #[test]
    fn log_sum_exp_handles_empty_excluded_and_large_arguments() {
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 3]), f64::NEG_INFINITY);
        let far = log_sum_exp(&[1e5, 1e5, -1e5]);
        assert!((far - (1e5 + 2f64.ln())).abs() < 1e-9);
    }

    #[test]
    fn the_maximum_is_right_for_every_length() {
        for n in 0..40 {
            let values: Vec<f64> = (0..n).map(|i| f64::from((i * 7) % 11) - 20.0).collect();
            let expected = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(maximum(&values), expected);
        }
    }
}
