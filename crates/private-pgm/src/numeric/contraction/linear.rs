//! Contractions in linear space.
//!
//! A *tile* is several rows of O that are computed together. Their sums are independent, and where
//! they share a factor, each of its numbers is loaded once for all rows. Short rows are computed
//! one by one, in a single pass over their terms.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::blocks::{block, of_length, store, sum};
use super::dots::dots;
use super::rows::rows;
use super::tiling::Part;
use super::{Contraction, Inner};

/// Computes the rows of O in `part`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn linear_tiles(plan: &Contraction, part: Part, a: &[f64], b: &[f64], o: &mut [f64]) {
    // 32 registers of eight numbers, or sixteen of four.
    let wide = target_cfg_f!(target_feature = "avx512f");
    of_length!(plan.length, rows_of(plan, part, wide, a, b, o));
}

/// [`linear_tiles`] for rows of `N` numbers, or of any length if `N` is 0.
#[inline(always)]
fn rows_of<const N: usize>(
    plan: &Contraction,
    part: Part,
    wide: bool,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    match plan.inner {
        Inner::Repeat => repeat(plan, part, a, b, o),
        Inner::RowRow if N > 0 => short::<N, false, false>(plan, part, a, b, o),
        Inner::RowScalar if N > 0 => short::<N, true, false>(plan, part, a, b, o),
        Inner::Dot if N > 0 => short::<N, false, true>(plan, part, a, b, o),
        Inner::Sum if N > 0 => short::<N, true, true>(plan, part, a, b, o),
        Inner::RowRow | Inner::RowScalar if wide => rows::<16>(plan, part, a, b, o),
        Inner::RowRow | Inner::RowScalar => rows::<8>(plan, part, a, b, o),
        Inner::Dot | Inner::Sum if wide => dots::<8>(plan, part, a, b, o),
        Inner::Dot | Inner::Sum => dots::<4>(plan, part, a, b, o),
    }
}

/// Calls `visit(a_start, b_start, row)` for each row of a tile: where its factors start, and its
/// index in O.
macro_rules! each_row {
    ($plan:ident, $part:ident, |$a:ident, $b:ident, $row:ident| $body:expr) => {
        let (across, along) = (&$plan.tiling.across, &$plan.tiling.along);
        for tile in $part.tiles {
            for i in 0..tile.across as usize {
                for j in 0..tile.along as usize {
                    let $a = tile.a as usize + i * across.steps[0] + j * along.steps[0];
                    let $b = tile.b as usize + i * across.steps[1] + j * along.steps[1];
                    let $row = tile.row as usize - $part.first_row
                        + i * across.row_step
                        + j * along.row_step;
                    $body
                }
            }
        }
    };
}

/// Rows of `N` numbers, one after the other. With `SCALAR` the factor from B lacks the inner axis,
/// with `SUMMED` O lacks it.
#[inline(always)]
fn short<const N: usize, const SCALAR: bool, const SUMMED: bool>(
    plan: &Contraction,
    part: Part,
    a: &[f64],
    b: &[f64],
    o: &mut [f64],
) {
    each_row!(plan, part, |a_start, b_start, row| {
        let mut sums = [0.0; N];
        for &[a_term, b_term] in &plan.terms {
            let (a_at, b_at) = (a_start + a_term as usize, b_start + b_term as usize);
            let x: &[f64; N] = block(a, a_at);
            let y: [f64; N] = if SCALAR { [b[b_at]; N] } else { *block(b, b_at) };
            for i in 0..N {
                sums[i] = x[i].mul_add(y[i], sums[i]);
            }
        }
        if SUMMED {
            o[row] = sum(sums);
        } else {
            store(o, row * N, sums);
        }
    });
}

/// Rows whose cells are all equal.
#[inline(always)]
fn repeat(plan: &Contraction, part: Part, a: &[f64], b: &[f64], o: &mut [f64]) {
    let n = plan.length;
    each_row!(plan, part, |a_start, b_start, row| {
        let term = |&[a_term, b_term]: &[u32; 2]| {
            a[a_start + a_term as usize] * b[b_start + b_term as usize]
        };
        o[row * n..(row + 1) * n].fill(plan.terms.iter().map(term).sum());
    });
}
