//! The real discrete Fourier transform in an orthonormal basis.

use std::f64::consts::PI;

/// The coefficients of `x`, whose length is a power of two, in the basis 1/sqrt(n), then sqrt(2/n)
/// cos(2 pi f t / n) and sqrt(2/n) sin(2 pi f t / n) for f = 1, 2, ..., and last (-1)^t / sqrt(n).
/// Cost: O(n log n).
pub fn real_fourier(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut transformed: Vec<(f64, f64)> = x.iter().map(|&x| (x, 0.0)).collect();
    fft(&mut transformed, -1.0);
    let (scale, pair) = ((n as f64).sqrt().recip(), (2.0 / n as f64).sqrt());
    let mut coefficients = vec![0.0; n];
    coefficients[0] = scale * transformed[0].0;
    for f in 1..n.div_ceil(2) {
        coefficients[2 * f - 1] = pair * transformed[f].0;
        coefficients[2 * f] = -pair * transformed[f].1;
    }
    if n > 1 {
        coefficients[n - 1] = scale * transformed[n / 2].0;
    }
    coefficients
}

/// The inverse of [`real_fourier`]. Cost: O(n log n).
pub fn real_fourier_inverse(coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.len();
    let (scale, half_pair) = ((n as f64).sqrt().recip(), 0.5 * (2.0 / n as f64).sqrt());
    let mut spectrum = vec![(0.0, 0.0); n];
    spectrum[0] = (scale * coefficients[0], 0.0);
    for f in 1..n.div_ceil(2) {
        let (cosine, sine) = (half_pair * coefficients[2 * f - 1], half_pair * coefficients[2 * f]);
        spectrum[f] = (cosine, -sine);
        spectrum[n - f] = (cosine, sine);
    }
    if n > 1 {
        spectrum[n / 2] = (scale * coefficients[n - 1], 0.0);
    }
    fft(&mut spectrum, 1.0);
    spectrum.into_iter().map(|(real, _)| real).collect()
}

/// Replaces x by the sums over t of x_t exp(sign 2 pi i f t / n), for n a power of two (Cooley and
/// Tukey, Math. Comp. 19, 1965).
fn fft(x: &mut [(f64, f64)], sign: f64) {
    let n = x.len();
    let bits = n.trailing_zeros();
    for place in 0..n {
        let other = if bits == 0 { 0 } else { place.reverse_bits() >> (usize::BITS - bits) };
        if place < other {
            x.swap(place, other);
        }
    }
    let mut half = 1;
    while half < n {
        let roots: Vec<(f64, f64)> = (0..half)
            .map(|k| {
                let angle = sign * PI * k as f64 / half as f64;
                (angle.cos(), angle.sin())
            })
            .collect();
        for block in x.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), root) in low.iter_mut().zip(high).zip(&roots) {
                let rotated = (b.0 * root.0 - b.1 * root.1, b.0 * root.1 + b.1 * root.0);
                (*a, *b) = ((a.0 + rotated.0, a.1 + rotated.1), (a.0 - rotated.0, a.1 - rotated.1));
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entry t of a basis vector, by its formula.
    fn basis(n: usize, coefficient: usize, t: usize) -> f64 {
        let (n, f) = (n as f64, coefficient.div_ceil(2));
        let angle = 2.0 * PI * (f * t) as f64 / n;
        match coefficient {
            0 => n.sqrt().recip(),
            _ if coefficient == n as usize - 1 => n.sqrt().recip() * angle.cos(),
            _ if coefficient % 2 == 1 => (2.0 / n).sqrt() * angle.cos(),
            _ => (2.0 / n).sqrt() * angle.sin(),
        }
    }

    #[test]
    fn coefficients_are_inner_products_with_the_basis_and_invert() {
        for n in [1usize, 2, 4, 8, 32] {
            let x: Vec<f64> = (0..n).map(|t| ((t * t + 3 * t) % 11) as f64 - 4.0).collect();
            let found = real_fourier(&x);
            for (coefficient, found) in found.iter().enumerate() {
                let expected: f64 = (0..n).map(|t| x[t] * basis(n, coefficient, t)).sum();
                assert!((found - expected).abs() < 1e-10, "{n} {coefficient}");
            }
            let back = real_fourier_inverse(&found);
            assert!(x.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }
}
