//! Elementwise operations on slices of one length.

use multiversion::multiversion;
use rayon::prelude::*;

use super::exp::exp_all;

/// x *= y for each pair.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn multiply_assign(x: &mut [f64], y: &[f64]) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter_mut().zip(y) {
        *x *= y;
    }
}

/// x = exp(x + y) for each pair, 0 where either is minus infinity.
pub fn add_exp(x: &mut [f64], y: &[f64]) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
    exp_all(x);
}

/// x /= y for each pair with y >= `tiny`. Where y is less, x becomes 0 and y becomes minus what x
/// was. Returns the sum of all such x, which are not negative.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn divide_assign(x: &mut [f64], y: &mut [f64], tiny: f64) -> f64 {
    assert_eq!(x.len(), y.len());
    let mut lost = 0.0;
    for (x, y) in x.iter_mut().zip(y) {
        let safe = *y >= tiny;
        let ratio = *x / if safe { *y } else { 1.0 };
        lost += if safe { 0.0 } else { *x };
        *y = if safe { *y } else { -*x };
        *x = if safe { ratio } else { 0.0 };
    }
    lost
}

/// Cells that one thread handles at a time. Sums are formed block by block whether or not there
/// are threads, so that they do not depend on it.
const BLOCK: usize = 1 << 13;

/// Vectors shorter than this are not shared among threads.
const PARALLEL: usize = 1 << 16;

/// out = a * x + b * y.
pub fn combine(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64]) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
    fn block(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64]) {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = a * x + b * y;
        }
    }
    assert!(x.len() == out.len() && y.len() == out.len());
    if out.len() < PARALLEL {
        return block(a, x, b, y, out);
    }
    let inputs = x.par_chunks(BLOCK).zip(y.par_chunks(BLOCK));
    out.par_chunks_mut(BLOCK).zip(inputs).for_each(|(out, (x, y))| block(a, x, b, y, out));
}

/// x += a * y; where x is minus infinity it stays so.
pub fn add_scaled(a: f64, y: &[f64], x: &mut [f64]) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
    fn block(a: f64, y: &[f64], x: &mut [f64]) {
        for (x, y) in x.iter_mut().zip(y) {
            *x += a * y;
        }
    }
    assert_eq!(x.len(), y.len());
    if x.len() < PARALLEL {
        return block(a, y, x);
    }
    x.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).for_each(|(x, y)| block(a, y, x));
}

/// The inner product.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
    fn block(x: &[f64], y: &[f64]) -> f64 {
        let mut lanes = [0.0; 16];
        let (xs, ys) = (x.chunks_exact(16), y.chunks_exact(16));
        for (lane, (x, y)) in lanes.iter_mut().zip(xs.remainder().iter().zip(ys.remainder())) {
            *lane = x * y;
        }
        for (x, y) in xs.zip(ys) {
            for i in 0..16 {
                lanes[i] += x[i] * y[i];
            }
        }
        lanes.iter().sum()
    }
    assert_eq!(x.len(), y.len());
    if x.len() < PARALLEL {
        return x.chunks(BLOCK).zip(y.chunks(BLOCK)).map(|(x, y)| block(x, y)).sum();
    }
    let blocks = x.par_chunks(BLOCK).zip(y.par_chunks(BLOCK));
    blocks.map(|(x, y)| block(x, y)).collect::<Vec<f64>>().iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_vectors_follow_the_obvious_formulas() {
        for n in [0, 1, 17, 1000, PARALLEL + 13] {
            let x: Vec<f64> = (0..n).map(|i| (i % 11) as f64).collect();
            let y: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 3.0).collect();
            let mut out = vec![0.0; n];
            combine(2.0, &x, -0.5, &y, &mut out);
            assert!((0..n).all(|i| out[i] == 2.0 * x[i] - 0.5 * y[i]));
            add_scaled(0.5, &y, &mut out);
            assert!((0..n).all(|i| out[i] == 2.0 * x[i]));
            let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&x, &y), expected, "sums of small integers are exact");
        }
    }

    #[test]
    fn ratios_and_what_cannot_be_divided() {
        let (mut x, mut y) = ([6.0, 5.0, 0.0, 8.0], [3.0, 1e-300, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut x, &mut y, 1e-250), 5.0);
        assert_eq!(x, [2.0, 0.0, 0.0, 4.0]);
        assert_eq!(y, [3.0, -5.0, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut [1.0, 0.0], &mut [1.0, 0.0], 1e-250), 0.0);
    }
}
