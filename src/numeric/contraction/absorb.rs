//! The way back through a table that took in a smaller one.

use multiversion::multiversion;

use super::blocks::{block, factors, in_blocks, store, total};
use super::{Contraction, Inner};

/// For every term full * other of every cell of O: full *= other * d, and the adjoint of other gets
/// what full * d was before.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn absorb_rows(
    plan: &Contraction,
    full: &mut [f64],
    other: &[f64],
    d: &[f64],
    adjoint: &mut [f64],
) {
    let n = plan.length;
    let second = plan.full == Some(1);
    adjoint.fill(0.0);
    for (row, &starts) in plan.rows.iter().enumerate() {
        for &term in &plan.terms {
            let (a_start, b_start) = factors(starts, term);
            let (full_start, other_start) =
                if second { (b_start, a_start) } else { (a_start, b_start) };
            match plan.inner {
                Inner::Dot => {
                    let d = d[row];
                    in_blocks!(n, |first, W| {
                        let mut both: [f64; W] = *block(full, full_start + first);
                        for both in &mut both {
                            *both *= d;
                        }
                        add(both, other, other_start + first, adjoint, full, full_start + first);
                    });
                }
                Inner::RowRow => in_blocks!(n, |first, W| {
                    let d: &[f64; W] = block(d, row * n + first);
                    let mut both: [f64; W] = *block(full, full_start + first);
                    for i in 0..W {
                        both[i] *= d[i];
                    }
                    add(both, other, other_start + first, adjoint, full, full_start + first);
                }),
                Inner::RowScalar | Inner::Sum | Inner::Repeat => {
                    let factor = other[other_start];
                    let mut lanes = [0.0; 8];
                    in_blocks!(8, n, |first, W| {
                        let mut both: [f64; W] = *block(full, full_start + first);
                        if plan.inner == Inner::RowScalar {
                            let d: &[f64; W] = block(d, row * n + first);
                            for i in 0..W {
                                both[i] *= d[i];
                            }
                        } else {
                            for both in &mut both {
                                *both *= d[row];
                            }
                        }
                        for i in 0..W {
                            lanes[i] += both[i];
                        }
                        for both in &mut both {
                            *both *= factor;
                        }
                        store(full, full_start + first, both);
                    });
                    adjoint[other_start] += total(lanes);
                }
            }
        }
    }
}

#[inline(always)]
fn add<const W: usize>(
    both: [f64; W],
    other: &[f64],
    at_other: usize,
    adjoint: &mut [f64],
    full: &mut [f64],
    at_full: usize,
) {
    let other: &[f64; W] = block(other, at_other);
    let mut adjoints: [f64; W] = *block(adjoint, at_other);
    for i in 0..W {
        adjoints[i] += both[i];
    }
    store(adjoint, at_other, adjoints);
    let mut products = both;
    for i in 0..W {
        products[i] *= other[i];
    }
    store(full, at_full, products);
}
