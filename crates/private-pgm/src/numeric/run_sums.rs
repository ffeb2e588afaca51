//! The kernels of [`Projection::sum`](super::strided::Projection::sum).
#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays")]

use multiversion::multiversion;

/// Adds each run of `n` cells to the run of the small table at its start.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn add_runs(starts: &[u32], n: usize, big: &[f64], small: &mut [f64]) {
    for (&start, run) in starts.iter().zip(big.chunks_exact(n)) {
        for (s, &b) in small[start as usize..][..n].iter_mut().zip(run) {
            *s += b;
        }
    }
}

/// Adds the sum of each run of `n` cells to the cell of the small table at its start. Eight runs
/// are summed at a time: a single sum would wait for each of its additions.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn add_sums_of_runs(starts: &[u32], n: usize, big: &[f64], small: &mut [f64]) {
    let (eights, rest) = starts.as_chunks::<8>();
    let (of_eights, of_rest) = big.split_at(8 * eights.len() * n);
    for (starts, runs) in eights.iter().zip(of_eights.chunks_exact(8 * n)) {
        let mut run: [&[f64]; 8] = [&[]; 8];
        for k in 0..8 {
            run[k] = &runs[k * n..][..n];
        }
        let mut sums = [0.0; 8];
        for i in 0..n {
            for k in 0..8 {
                sums[k] += run[k][i];
            }
        }
        for k in 0..8 {
            small[starts[k] as usize] += sums[k];
        }
    }
    for (&start, run) in rest.iter().zip(of_rest.chunks_exact(n)) {
        small[start as usize] += run.iter().sum::<f64>();
    }
}
