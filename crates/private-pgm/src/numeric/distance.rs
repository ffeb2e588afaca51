//! Sums over all cells for losses that are a squared distance |mu - y|^2, each in one pass.

use std::array;

use multiversion::multiversion;
use rayon::prelude::*;

use super::pointwise::{BLOCK, PARALLEL};

/// Adds the sums of a block. Blocks are added in order, so that the result does not depend on the
/// threads.
fn add<const K: usize>(sum: [f64; K], part: [f64; K]) -> [f64; K] {
    array::from_fn(|i| sum[i] + part[i])
}

/// The sums of `block` over all blocks of inputs of one length.
fn sums<const I: usize, const K: usize>(
    inputs: [&[f64]; I],
    parallel: bool,
    block: impl Fn([&[f64]; I]) -> [f64; K] + Sync,
) -> [f64; K] {
    let n = inputs[0].len();
    assert!(inputs.iter().all(|input| input.len() == n));
    let part = |index: usize| {
        let cells = index * BLOCK..n.min((index + 1) * BLOCK);
        block(inputs.map(|input| &input[cells.clone()]))
    };
    let blocks = n.div_ceil(BLOCK);
    if !parallel || n < PARALLEL {
        return (0..blocks).map(part).fold([0.0; K], add);
    }
    let parts: Vec<[f64; K]> = (0..blocks).into_par_iter().map(part).collect();
    parts.into_iter().fold([0.0; K], add)
}

/// |mu - y|^2.
pub fn squared_distance(mu: &[f64], y: &[f64], parallel: bool) -> f64 {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(mu: &[f64], y: &[f64]) -> f64 {
        let (mus, mu_rest) = mu.as_chunks::<8>();
        let (ys, y_rest) = y.as_chunks::<8>();
        let mut lanes = [0.0; 8];
        for (mu, y) in mus.iter().zip(ys) {
            let r: [f64; 8] = array::from_fn(|i| mu[i] - y[i]);
            lanes = array::from_fn(|i| r[i].mul_add(r[i], lanes[i]));
        }
        let rest: f64 = mu_rest.iter().zip(y_rest).map(|(mu, y)| (mu - y) * (mu - y)).sum();
        lanes.iter().sum::<f64>() + rest
    }
    sums([mu, y], parallel, |[mu, y]| [block(mu, y)])[0]
}

/// For r = mu - y: writes base - weight * r, and returns <r, r> and <r, mu>.
pub(crate) fn distance_descent(
    weight: f64,
    [mu, y, base]: [&[f64]; 3],
    out: &mut [f64],
    parallel: bool,
) -> [f64; 2] {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block(weight: f64, [mu, y, base]: [&[f64]; 3], out: &mut [f64]) -> [f64; 2] {
        let (mus, mu_rest) = mu.as_chunks::<8>();
        let (ys, y_rest) = y.as_chunks::<8>();
        let (bases, base_rest) = base.as_chunks::<8>();
        let (outs, out_rest) = out.as_chunks_mut::<8>();
        let (mut squares, mut products) = ([0.0; 8], [0.0; 8]);
        for (((mu, y), base), out) in mus.iter().zip(ys).zip(bases).zip(outs) {
            let r: [f64; 8] = array::from_fn(|i| mu[i] - y[i]);
            squares = array::from_fn(|i| r[i].mul_add(r[i], squares[i]));
            products = array::from_fn(|i| r[i].mul_add(mu[i], products[i]));
            *out = array::from_fn(|i| (-weight).mul_add(r[i], base[i]));
        }
        for (((mu, y), base), out) in mu_rest.iter().zip(y_rest).zip(base_rest).zip(out_rest) {
            let r = mu - y;
            squares[0] += r * r;
            products[0] += r * mu;
            *out = (-weight).mul_add(r, *base);
        }
        [squares.iter().sum(), products.iter().sum()]
    }
    let n = out.len();
    assert!(mu.len() == n && y.len() == n && base.len() == n);
    let part = |(index, out): (usize, &mut [f64])| {
        let cells = index * BLOCK..index * BLOCK + out.len();
        block(weight, [mu, y, base].map(|input| &input[cells.clone()]), out)
    };
    if !parallel || n < PARALLEL {
        return out.chunks_mut(BLOCK).enumerate().map(part).fold([0.0; 2], add);
    }
    let parts: Vec<[f64; 2]> = out.par_chunks_mut(BLOCK).enumerate().map(part).collect();
    parts.into_iter().fold([0.0; 2], add)
}

/// For g = old * mean + new * nu - y and d = next - nu: the inner products <g, next>, <g, d> and
/// <d, d>.
pub(crate) fn distance_products(
    [old, new]: [f64; 2],
    [mean, nu]: [&[f64]; 2],
    y: &[f64],
    next: &[f64],
    parallel: bool,
) -> [f64; 3] {
    #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
    fn block([old, new]: [f64; 2], [mean, nu, y, next]: [&[f64]; 4]) -> [f64; 3] {
        // Arrays by value, so that the three sums stay in registers.
        #[inline(always)]
        fn gather<const W: usize>(
            sums: &mut [[f64; W]; 3],
            [old, new]: [f64; 2],
            [mean, nu, y, next]: [&[f64; W]; 4],
        ) {
            let g: [f64; W] = array::from_fn(|i| old.mul_add(mean[i], new.mul_add(nu[i], -y[i])));
            let d: [f64; W] = array::from_fn(|i| next[i] - nu[i]);
            let [g_next, g_d, d_d] = *sums;
            *sums = [
                array::from_fn(|i| g[i].mul_add(next[i], g_next[i])),
                array::from_fn(|i| g[i].mul_add(d[i], g_d[i])),
                array::from_fn(|i| d[i].mul_add(d[i], d_d[i])),
            ];
        }
        let (means, mean_rest) = mean.as_chunks::<4>();
        let (nus, nu_rest) = nu.as_chunks::<4>();
        let (ys, y_rest) = y.as_chunks::<4>();
        let (nexts, next_rest) = next.as_chunks::<4>();
        let mut sums = [[0.0; 4]; 3];
        for (((mean, nu), y), next) in means.iter().zip(nus).zip(ys).zip(nexts) {
            gather(&mut sums, [old, new], [mean, nu, y, next]);
        }
        let mut rest = [[0.0]; 3];
        for (((mean, nu), y), next) in mean_rest.iter().zip(nu_rest).zip(y_rest).zip(next_rest) {
            gather(&mut rest, [old, new], [mean, nu, y, next].map(array::from_ref));
        }
        array::from_fn(|k| sums[k].iter().sum::<f64>() + rest[k][0])
    }
    sums([mean, nu, y, next], parallel, |inputs| block([old, new], inputs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::pointwise::dot;

    #[test]
    fn sums_agree_with_their_formulas_for_any_length_and_threads() {
        for n in [0, 1, 17, 1000, PARALLEL + 13] {
            // Sums of small integers and halves are exact.
            let numbers =
                |period: usize| -> Vec<f64> { (0..n).map(|i| (i % period) as f64 - 3.0).collect() };
            let [x, y, z] = [11, 7, 5].map(numbers);
            let by_cell = |f: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..n).map(f).collect() };
            let r = by_cell(&|i| x[i] - y[i]);
            for parallel in [false, true] {
                assert_eq!(squared_distance(&x, &y, parallel), dot(&r, &r));

                let mut base = z.clone();
                base.iter_mut().step_by(3).for_each(|cell| *cell = f64::NEG_INFINITY);
                let mut out = vec![0.0; n];
                let found = distance_descent(0.5, [&x, &y, &base], &mut out, parallel);
                assert_eq!(found, [dot(&r, &r), dot(&r, &x)]);
                assert_eq!(out, by_cell(&|i| base[i] - 0.5 * r[i]));

                let g = by_cell(&|i| 0.5 * x[i] + 0.25 * y[i] - z[i]);
                let products = distance_products([0.5, 0.25], [&x, &y], &z, &x, parallel);
                assert_eq!(products, [dot(&g, &x), dot(&g, &r), dot(&r, &r)]);
            }
        }
    }
}
