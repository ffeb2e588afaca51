//! Moving the largest value of each row of a table of logarithms in and out.
//!
//! A *row* here is all cells of a big table with one partner in the small table of a
//! [`Projection`].

use multiversion::multiversion;

use super::exp::{exp_all, ln_block};
use super::strided::Projection;

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// Writes each row's maximum to `small` and exp(cell - maximum) to `to`. A row without finite
/// cells has the maximum minus infinity and zeros.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn exp_rows(projection: &Projection, big: &[f64], small: &mut [f64], to: &mut [f64]) {
    let n = projection.run();
    assert!(big.len() == to.len() && small.len() == projection.small_len());
    small.fill(f64::NEG_INFINITY);
    for (&start, run) in projection.starts().iter().zip(big.chunks_exact(n)) {
        let start = start as usize;
        if projection.inner_kept() {
            for (s, &b) in small[start..start + n].iter_mut().zip(run) {
                *s = larger(*s, b);
            }
        } else {
            let mut lanes = [f64::NEG_INFINITY; 8];
            let mut eights = run.chunks_exact(8);
            for eight in &mut eights {
                (0..8).for_each(|i| lanes[i] = larger(lanes[i], eight[i]));
            }
            let best = lanes.iter().chain(eights.remainder()).copied();
            small[start] = best.fold(small[start], larger);
        }
    }
    // Subtracting minus infinity would make a NaN.
    let finite = |shift: f64| if shift == f64::NEG_INFINITY { 0.0 } else { shift };
    let runs = big.chunks_exact(n).zip(to.chunks_exact_mut(n));
    for (&start, (run, to)) in projection.starts().iter().zip(runs) {
        let start = start as usize;
        if projection.inner_kept() {
            for ((to, &b), &s) in to.iter_mut().zip(run).zip(&small[start..start + n]) {
                *to = b - finite(s);
            }
        } else {
            let shift = finite(small[start]);
            to.iter_mut().zip(run).for_each(|(to, &b)| *to = b - shift);
        }
    }
    // In one go over all rows: a row alone may be too short to fill the vector units.
    exp_all(to);
}

/// Writes ln(x) for every x, or ln(`floor`) where that is more; `floor` is a normal number.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn ln_all(from: &[f64], floor: f64, to: &mut [f64]) {
    assert_eq!(from.len(), to.len());
    let mut blocks = from.chunks_exact(16).zip(to.chunks_exact_mut(16));
    for (from, to) in &mut blocks {
        let mut x = [0.0; 16];
        (0..16).for_each(|i| x[i] = larger(floor, from[i]));
        to.copy_from_slice(&ln_block(x));
    }
    let done = from.len() / 16 * 16;
    for (to, &from) in to[done..].iter_mut().zip(&from[done..]) {
        *to = ln_block([larger(floor, from)])[0];
    }
}

/// big += its partner in small, for every cell.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn add_rows(projection: &Projection, small: &[f64], big: &mut [f64]) {
    let n = projection.run();
    for (&start, run) in projection.starts().iter().zip(big.chunks_exact_mut(n)) {
        let start = start as usize;
        if projection.inner_kept() {
            for (b, &s) in run.iter_mut().zip(&small[start..start + n]) {
                *b += s;
            }
        } else {
            let s = small[start];
            run.iter_mut().for_each(|b| *b += s);
        }
    }
}
