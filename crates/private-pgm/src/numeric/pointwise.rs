//! Elementwise operations on slices of one length.

use multiversion::multiversion;
use rayon::prelude::*;

use super::exp::exp_all;
use super::flush_to_zero::flush_to_zero;

/// x *= y for each pair of nonnegative numbers, where both are flushed to zero below 1e-152.
pub(crate) fn multiply_assign(x: &mut [f64], y: &[f64], parallel: bool) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(x: &mut [f64], y: &[f64]) {
        for (x, y) in x.iter_mut().zip(y) {
            *x = flush_to_zero(*x) * flush_to_zero(*y);
        }
    }
    assert_eq!(x.len(), y.len());
    if !parallel || x.len() < PARALLEL {
        return block(x, y);
    }
    x.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).for_each(|(x, y)| block(x, y));
}

/// Flushes numbers below 1e-152 to zero; none may be negative.
pub(crate) fn flush_slice_to_zero(x: &mut [f64], parallel: bool) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x = flush_to_zero(*x));
    }
    if !parallel || x.len() < PARALLEL {
        return block(x);
    }
    x.par_chunks_mut(BLOCK).for_each(block);
}

/// x = exp(x + y) for each pair, 0 where either is minus infinity.
pub(crate) fn add_exp(x: &mut [f64], y: &[f64]) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
    exp_all(x);
}

/// x /= y for each pair with y >= `tiny`, flushed to zero below 1e-152; x must not be negative.
/// Where y < `tiny`, y becomes -x and x becomes 0. Returns the sum of these x.
pub(crate) fn divide_assign(x: &mut [f64], y: &mut [f64], tiny: f64, parallel: bool) -> f64 {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(x: &mut [f64], y: &mut [f64], tiny: f64) -> f64 {
        // Eight independent sums, so that additions do not wait for each other.
        let mut lost = [0.0; 8];
        let (xs, x_rest) = x.as_chunks_mut::<8>();
        let (ys, y_rest) = y.as_chunks_mut::<8>();
        // Loads precede stores, and every lane computes both cases: only so is it vectorised.
        for (x, y) in xs.iter_mut().zip(ys) {
            let (mut quotient, mut divisor) = (*x, *y);
            for i in 0..8 {
                let safe = divisor[i] >= tiny;
                let ratio = quotient[i] / if safe { divisor[i] } else { 1.0 };
                let mass = if safe { 0.0 } else { quotient[i] };
                lost[i] += mass;
                divisor[i] = if safe { divisor[i] } else { -mass };
                quotient[i] = if safe { flush_to_zero(ratio) } else { 0.0 };
            }
            (*x, *y) = (quotient, divisor);
        }
        for (x, y) in x_rest.iter_mut().zip(y_rest) {
            match *y >= tiny {
                true => *x = flush_to_zero(*x / *y),
                false => {
                    lost[0] += *x;
                    (*x, *y) = (0.0, -*x);
                }
            }
        }
        lost.iter().sum()
    }
    assert_eq!(x.len(), y.len());
    if !parallel || x.len() < PARALLEL {
        let blocks = x.chunks_mut(BLOCK).zip(y.chunks_mut(BLOCK));
        return blocks.map(|(x, y)| block(x, y, tiny)).sum();
    }
    let blocks = x.par_chunks_mut(BLOCK).zip(y.par_chunks_mut(BLOCK));
    blocks.map(|(x, y)| block(x, y, tiny)).collect::<Vec<f64>>().iter().sum()
}

/// What [`flag_rows`] compares with: masses from `margin` and `threshold` on, and numbers below
/// `near`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLimits {
    pub(crate) margin: f64,
    pub(crate) threshold: f64,
    pub(crate) near: f64,
}

/// For every row of `width` numbers, in which a number that is not positive is minus a mass: sets
/// the flag of a row with a mass above `margin` or a positive number below `near`, and clears that
/// of another row without masses. Returns whether a row has a mass above `threshold` (at least
/// `margin`) whose flag was not set before.
pub(crate) fn flag_rows(x: &[f64], width: usize, limits: RowLimits, flags: &mut [bool]) -> bool {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn all(x: &[f64], width: usize, limits: RowLimits, flags: &mut [bool]) -> bool {
        let RowLimits { margin, threshold, near } = limits;
        let mut unexpected = false;
        for (row, flag) in x.chunks_exact(width).zip(flags) {
            let (eights, rest) = row.as_chunks::<8>();
            let (mut low, mut positive) = ([f64::INFINITY; 8], [f64::INFINITY; 8]);
            for eight in eights {
                for i in 0..8 {
                    low[i] = if eight[i] < low[i] { eight[i] } else { low[i] };
                    let x = if eight[i] > 0.0 { eight[i] } else { f64::INFINITY };
                    positive[i] = if x < positive[i] { x } else { positive[i] };
                }
            }
            for &x in rest {
                low[0] = low[0].min(x);
                positive[0] = if x > 0.0 { positive[0].min(x) } else { positive[0] };
            }
            let low = low.iter().copied().fold(f64::INFINITY, f64::min);
            let positive = positive.iter().copied().fold(f64::INFINITY, f64::min);
            unexpected |= -low > threshold && !*flag;
            *flag = positive < near || low <= 0.0 && (*flag || -low > margin);
        }
        unexpected
    }
    assert_eq!(x.len(), width * flags.len());
    all(x, width, limits, flags)
}

/// Cells per block of work. Sums are formed block by block with and without threads, so that they
/// are the same.
pub(super) const BLOCK: usize = 1 << 13;

/// Shorter vectors are processed by one thread. Our choice.
pub(super) const PARALLEL: usize = 1 << 15;

/// out = a * x + b * y.
pub(crate) fn combine(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64], parallel: bool) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64]) {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = a * x + b * y;
        }
    }
    assert!(x.len() == out.len() && y.len() == out.len());
    if !parallel || out.len() < PARALLEL {
        return block(a, x, b, y, out);
    }
    let inputs = x.par_chunks(BLOCK).zip(y.par_chunks(BLOCK));
    out.par_chunks_mut(BLOCK).zip(inputs).for_each(|(out, (x, y))| block(a, x, b, y, out));
}

/// x = y.
pub(crate) fn copy(y: &[f64], x: &mut [f64], parallel: bool) {
    assert_eq!(x.len(), y.len());
    if !parallel || x.len() < PARALLEL {
        return x.copy_from_slice(y);
    }
    x.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).for_each(|(x, y)| x.copy_from_slice(y));
}

/// x += a * y; a structural zero, x of minus infinity, stays one for finite y.
#[inline]
pub fn add_scaled(a: f64, y: &[f64], x: &mut [f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += a * y;
    }
}

/// x = a * x + b * y.
pub(crate) fn blend(a: f64, x: &mut [f64], b: f64, y: &[f64], parallel: bool) {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(a: f64, x: &mut [f64], b: f64, y: &[f64]) {
        for (x, y) in x.iter_mut().zip(y) {
            *x = a * *x + b * y;
        }
    }
    assert_eq!(x.len(), y.len());
    if !parallel || x.len() < PARALLEL {
        return block(a, x, b, y);
    }
    x.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).for_each(|(x, y)| block(a, x, b, y));
}

/// The inner product, in eight independent sums, so that additions do not wait for each other.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x_chunks, x_rest) = x.as_chunks::<8>();
    let (y_chunks, y_rest) = y.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Writes x - y to `change` and returns <g, x> and <g, x - y>, bit-identical to [`dot`].
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(crate) fn products_and_change(g: &[f64], x: &[f64], y: &[f64], change: &mut [f64]) -> [f64; 2] {
    let n = g.len();
    assert!(x.len() == n && y.len() == n && change.len() == n);
    let (mut products, mut slopes) = ([0.0; 8], [0.0; 8]);
    let (gs, g_rest) = g.as_chunks::<8>();
    let (xs, x_rest) = x.as_chunks::<8>();
    let (ys, y_rest) = y.as_chunks::<8>();
    let (changes, change_rest) = change.as_chunks_mut::<8>();
    for (((g, x), y), change) in gs.iter().zip(xs).zip(ys).zip(changes) {
        let by: [f64; 8] = std::array::from_fn(|lane| x[lane] - y[lane]);
        for lane in 0..8 {
            products[lane] += g[lane] * x[lane];
            slopes[lane] += g[lane] * by[lane];
        }
        *change = by;
    }
    for ((x, y), change) in x_rest.iter().zip(y_rest).zip(&mut *change_rest) {
        *change = x - y;
    }
    let total = |lanes: [f64; 8], rest: &[f64]| lanes.iter().sum::<f64>() + dot(g_rest, rest);
    [total(products, x_rest), total(slopes, change_rest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_agree_with_their_formulas_for_any_length() {
        for n in [0, 1, 17, 1000, PARALLEL + 13] {
            let x: Vec<f64> = (0..n).map(|i| (i % 11) as f64).collect();
            let y: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 3.0).collect();
            let mut out = vec![0.0; n];
            combine(2.0, &x, -0.5, &y, &mut out, true);
            assert!((0..n).all(|i| out[i] == 2.0 * x[i] - 0.5 * y[i]));
            add_scaled(0.5, &y, &mut out);
            assert!((0..n).all(|i| out[i] == 2.0 * x[i]));
            let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&x, &y), expected, "sums of small integers are exact");
            let third: Vec<f64> = (0..n).map(|i| (i % 13) as f64 / 3.0).collect();
            let mut change = vec![0.0; n];
            let products = products_and_change(&third, &x, &y, &mut change);
            assert!((0..n).all(|i| change[i] == x[i] - y[i]));
            assert_eq!(products, [dot(&third, &x), dot(&third, &change)]);
            blend(2.0, &mut out, 3.0, &y, true);
            assert!((0..n).all(|i| out[i] == 4.0 * x[i] + 3.0 * y[i]));
            copy(&y, &mut out, true);
            assert_eq!(out, y);
            let tiny = |i: usize| if i.is_multiple_of(3) { 1e-153 } else { x[i] };
            let flushed = |i: usize| if i.is_multiple_of(3) { 0.0 } else { x[i] };
            let mut some: Vec<f64> = (0..n).map(tiny).collect();
            multiply_assign(&mut some, &third, true);
            assert!((0..n).all(|i| some[i] == flushed(i) * third[i]));
            let mut some: Vec<f64> = (0..n).map(tiny).collect();
            flush_slice_to_zero(&mut some, true);
            assert!((0..n).all(|i| some[i] == flushed(i)));
        }
    }

    #[test]
    fn rows_stay_flagged_while_they_have_masses() {
        let rows = [[3.0, -2.0], [-9.0, 1.0], [7.0, 7.0], [0.0, 2.0], [1.0, 0.0], [0.3, 8.0]];
        let mut flags = [false, true, true, true, false, false];
        let limits = RowLimits { margin: 1.0, threshold: 5.0, near: 0.5 };
        assert!(!flag_rows(rows.as_flattened(), 2, limits, &mut flags));
        assert_eq!(flags, [true, true, false, true, false, true]);
        for at in 0..19 {
            let number = |x: f64| (0..19).map(|i| if i == at { x } else { 1.0 }).collect();
            let (mass, near): (Vec<f64>, Vec<f64>) = (number(-6.0), number(0.4));
            let mut flag = [false];
            assert!(flag_rows(&mass, 19, limits, &mut flag), "a mass above the threshold");
            assert!(!flag_rows(&mass, 19, limits, &mut flag) && flag[0]);
            let mut flag = [false];
            assert!(!flag_rows(&near, 19, limits, &mut flag) && flag[0]);
        }
    }

    #[test]
    fn division_by_tiny_numbers_returns_the_lost_mass() {
        let (mut x, mut y) = ([6.0, 5.0, 0.0, 8.0], [3.0, 1e-300, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut x, &mut y, 1e-250, true), 5.0);
        assert_eq!(x, [2.0, 0.0, 0.0, 4.0]);
        assert_eq!(y, [3.0, -5.0, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut [1.0, 0.0], &mut [1.0, 0.0], 1e-250, true), 0.0);
    }
}
