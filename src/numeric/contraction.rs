//! Products of two tables, summed over some axes: O = sum of A * B.
//!
//! All tables keep their axes in one common order. A [`Contraction`] is compiled once from what
//! axes each of the three tables has, and then run many times, in one of three algebras:
//! ordinary numbers, logarithms (log-sum-exp), or logarithms with maxima instead of sums.
//!
//! The last axis is the inner loop. Everything before it is reduced to two lists of offsets, one
//! for the rows of O and one for the terms that are summed into a row. A row of O is built in
//! registers, block by block, so that O is written once. Each number is summed in one fixed
//! order, whatever the instruction set and the number of threads.

use multiversion::multiversion;
use rayon::prelude::*;

use super::exp::exp_one;

/// One axis of a contraction: its length, and the tables that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Number of values along the axis.
    pub size: usize,
    /// Whether the first factor has it.
    pub in_a: bool,
    /// Whether the second factor has it.
    pub in_b: bool,
    /// Whether the result keeps it; otherwise it is summed out.
    pub in_o: bool,
}

impl Axis {
    fn presence(&self) -> (bool, bool, bool) {
        (self.in_a, self.in_b, self.in_o)
    }
}

/// Who has the inner axis, after A and B were swapped where that helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inner {
    /// A, B and O: rows are multiplied.
    RowRow,
    /// A and O: rows of A times numbers of B.
    RowScalar,
    /// A and B: inner products.
    Dot,
    /// A alone: sums of A's rows.
    Sum,
    /// O alone: each number is repeated along the row.
    Repeat,
}

/// O = sum of A * B for given axes, compiled.
#[derive(Debug)]
pub struct Contraction {
    inner: Inner,
    length: usize,
    swapped: bool,
    /// For each row of O, where its factors start in A and in B.
    rows: Vec<[u32; 2]>,
    /// For each term of the sum, how much further on its factors are.
    terms: Vec<[u32; 2]>,
    /// Whether the first factor (after a swap) has every axis.
    absorbs: bool,
}

/// Multiply-adds below which a contraction is not worth sharing among threads.
const PARALLEL_WORK: usize = 1 << 17;

impl Contraction {
    /// Compiles the contraction with these axes, outermost first.
    ///
    /// # Panics
    /// When a table has 2^32 cells or more.
    pub fn new(axes: &[Axis]) -> Self {
        let mut merged: Vec<Axis> = Vec::new();
        for axis in axes {
            match merged.last_mut() {
                _ if axis.size == 1 || axis.presence() == (false, false, false) => {}
                Some(last) if last.presence() == axis.presence() => last.size *= axis.size,
                _ => merged.push(*axis),
            }
        }
        let inner_axis =
            merged.pop().unwrap_or(Axis { size: 1, in_a: true, in_b: true, in_o: true });
        let (inner, swapped) = match inner_axis.presence() {
            (true, true, true) => (Inner::RowRow, false),
            (true, false, true) => (Inner::RowScalar, false),
            (false, true, true) => (Inner::RowScalar, true),
            (true, true, false) => (Inner::Dot, false),
            (true, false, false) => (Inner::Sum, false),
            (false, true, false) => (Inner::Sum, true),
            (false, false, _) => (Inner::Repeat, false),
        };
        let mut strides = [
            if inner_axis.in_a { inner_axis.size } else { 1 },
            if inner_axis.in_b { inner_axis.size } else { 1 },
        ];
        let absorbs = inner == Inner::RowScalar && merged.iter().all(|axis| axis.in_a && axis.in_b);
        let (mut rows, mut terms) = (vec![[0u32; 2]], vec![[0u32; 2]]);
        for axis in merged.iter().rev() {
            let step =
                [if axis.in_a { strides[0] } else { 0 }, if axis.in_b { strides[1] } else { 0 }];
            let list = if axis.in_o { &mut rows } else { &mut terms };
            *list = (0..axis.size)
                .flat_map(|i| {
                    list.iter()
                        .map(move |&o| [at(o[0], i * step[0]), at(o[1], i * step[1])])
                        .collect::<Vec<_>>()
                })
                .collect();
            for (stride, present) in strides.iter_mut().zip([axis.in_a, axis.in_b]) {
                if present {
                    *stride *= axis.size;
                }
            }
        }
        if swapped {
            rows.iter_mut().chain(&mut terms).for_each(|offsets| offsets.swap(0, 1));
        }
        Self { inner, length: inner_axis.size, swapped, rows, terms, absorbs }
    }

    /// The number of multiply-adds of one run.
    pub fn work(&self) -> usize {
        self.rows.len() * self.terms.len() * self.length
    }

    fn row_length(&self) -> usize {
        match self.inner {
            Inner::RowRow | Inner::RowScalar | Inner::Repeat => self.length,
            Inner::Dot | Inner::Sum => 1,
        }
    }

    /// O = sum of A * B, for ordinary numbers.
    pub fn multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, linear_rows);
    }

    /// O = ln of sum of exp(A + B): the same for logarithms.
    pub fn log_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, logarithm_rows);
    }

    /// O = max of A + B.
    pub fn max_multiply(&self, a: &[f64], b: &[f64], o: &mut [f64], parallel: bool) {
        self.run(a, b, o, parallel, max_rows);
    }

    /// When one factor has every axis, as when a table takes in a message: whether that is the
    /// second one. `None` when no factor does, and in some cases that have no short way back.
    pub fn absorbs(&self) -> Option<bool> {
        self.absorbs.then_some(self.swapped)
    }

    /// The way back through O = sum of `full` * `other` in one pass, for a contraction that
    /// [`absorbs`](Self::absorbs). With D the adjoint of O: writes full * other * D to `product`
    /// and the sum of full * D over the axes that `other` lacks to `adjoint`.
    pub fn absorb_back(
        &self,
        full: &[f64],
        other: &[f64],
        d: &[f64],
        product: &mut [f64],
        adjoint: &mut [f64],
    ) {
        assert!(self.absorbs);
        assert_eq!(full.len(), product.len());
        assert_eq!(other.len(), adjoint.len());
        absorb_rows(self, full, other, d, product, adjoint);
    }

    /// Calls `visit` with the positions in A and B of every term of one cell of O.
    pub fn each_term(&self, cell: usize, mut visit: impl FnMut(usize, usize)) {
        let width = self.row_length();
        let (row, column) = (self.rows[cell / width], cell % width);
        // How far the inner axis moves in each factor, and over how much of it the cell sums.
        let (a_step, b_step, length) = match self.inner {
            Inner::RowRow => (1, 1, 1),
            Inner::RowScalar => (1, 0, 1),
            Inner::Dot => (1, 1, self.length),
            Inner::Sum => (1, 0, self.length),
            Inner::Repeat => (0, 0, 1),
        };
        for &term in &self.terms {
            let (a, b) = factors(row, term);
            for i in column..column + length {
                let (a, b) = (a + i * a_step, b + i * b_step);
                if self.swapped { visit(b, a) } else { visit(a, b) }
            }
        }
    }

    fn run(
        &self,
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        parallel: bool,
        fill: impl Fn(&Contraction, &[[u32; 2]], &[f64], &[f64], &mut [f64]) + Sync,
    ) {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        let width = self.row_length();
        assert_eq!(o.len(), self.rows.len() * width);
        if parallel && self.rows.len() >= 4 && self.work() >= PARALLEL_WORK {
            let share = self.rows.len().div_ceil(4 * rayon::current_num_threads());
            o.par_chunks_mut(share * width)
                .zip(self.rows.par_chunks(share))
                .for_each(|(o, rows)| fill(self, rows, a, b, o));
        } else {
            fill(self, &self.rows, a, b, o);
        }
    }
}

fn at(start: u32, further: usize) -> u32 {
    u32::try_from(start as usize + further).expect("tables of fewer than 2^32 cells")
}

/// Runs `$body` for blocks of 16, 8, 4, 2 and 1 values that cover `0..$n`, with the block's start
/// bound to `$first` and its width to the constant `$W`.
macro_rules! in_blocks {
    ($n:expr, |$first:ident, $W:ident| $body:expr) => {{
        let n: usize = $n;
        let mut $first = 0;
        while n - $first >= 16 {
            const $W: usize = 16;
            $body;
            $first += 16;
        }
        if n - $first >= 8 {
            const $W: usize = 8;
            $body;
            $first += 8;
        }
        if n - $first >= 4 {
            const $W: usize = 4;
            $body;
            $first += 4;
        }
        if n - $first >= 2 {
            const $W: usize = 2;
            $body;
            $first += 2;
        }
        if n - $first >= 1 {
            const $W: usize = 1;
            $body;
        }
    }};
}

#[inline(always)]
fn block<const W: usize>(table: &[f64], start: usize) -> &[f64; W] {
    table[start..start + W].try_into().expect("W values")
}

#[inline(always)]
fn store<const W: usize>(o: &mut [f64], start: usize, values: [f64; W]) {
    o[start..start + W].copy_from_slice(&values);
}

/// Where the factors of one term of one row start.
#[inline(always)]
fn factors(row: [u32; 2], term: [u32; 2]) -> (usize, usize) {
    (row[0] as usize + term[0] as usize, row[1] as usize + term[1] as usize)
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn linear_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    let (n, terms) = (plan.length, &plan.terms[..]);
    match plan.inner {
        Inner::RowRow => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                in_blocks!(n, |first, W| {
                    let mut sums = [0.0; W];
                    for &term in terms {
                        let (a_start, b_start) = factors(row, term);
                        let a: &[f64; W] = block(a, a_start + first);
                        let b: &[f64; W] = block(b, b_start + first);
                        (0..W).for_each(|i| sums[i] += a[i] * b[i]);
                    }
                    store(o, first, sums);
                });
            }
        }
        Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                in_blocks!(n, |first, W| {
                    let mut sums = [0.0; W];
                    for &term in terms {
                        let (a_start, b_start) = factors(row, term);
                        let a: &[f64; W] = block(a, a_start + first);
                        let b = b[b_start];
                        (0..W).for_each(|i| sums[i] += a[i] * b);
                    }
                    store(o, first, sums);
                });
            }
        }
        Inner::Dot => {
            for (o, &row) in o.iter_mut().zip(rows) {
                let mut lanes = [0.0; 16];
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    in_blocks!(n, |first, W| {
                        let a: &[f64; W] = block(a, a_start + first);
                        let b: &[f64; W] = block(b, b_start + first);
                        (0..W).for_each(|i| lanes[i] += a[i] * b[i]);
                    });
                }
                *o = total(lanes);
            }
        }
        Inner::Sum => {
            for (o, &row) in o.iter_mut().zip(rows) {
                let mut lanes = [0.0; 16];
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    let b = b[b_start];
                    in_blocks!(n, |first, W| {
                        let a: &[f64; W] = block(a, a_start + first);
                        (0..W).for_each(|i| lanes[i] += a[i] * b);
                    });
                }
                *o = total(lanes);
            }
        }
        Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(n).zip(rows) {
                let mut sum = 0.0;
                for &term in terms {
                    let (a_start, b_start) = factors(row, term);
                    sum += a[a_start] * b[b_start];
                }
                o.fill(sum);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn absorb_rows(
    plan: &Contraction,
    full: &[f64],
    other: &[f64],
    d: &[f64],
    product: &mut [f64],
    adjoint: &mut [f64],
) {
    let n = plan.length;
    adjoint.fill(0.0);
    if plan.inner == Inner::Dot {
        for (&d, &row) in d.iter().zip(&plan.rows) {
            for &term in &plan.terms {
                let (full_start, other_start) = factors(row, term);
                in_blocks!(n, |first, W| {
                    let full: &[f64; W] = block(full, full_start + first);
                    let other: &[f64; W] = block(other, other_start + first);
                    let mut adjoints: [f64; W] = *block(adjoint, other_start + first);
                    let mut products = [0.0; W];
                    for i in 0..W {
                        let both = full[i] * d;
                        adjoints[i] += both;
                        products[i] = both * other[i];
                    }
                    store(product, full_start + first, products);
                    store(adjoint, other_start + first, adjoints);
                });
            }
        }
        return;
    }
    for (d, &row) in d.chunks_exact(n).zip(&plan.rows) {
        for &term in &plan.terms {
            let (full_start, other_start) = factors(row, term);
            let factor = other[other_start];
            let mut lanes = [0.0; 16];
            in_blocks!(n, |first, W| {
                let full: &[f64; W] = block(full, full_start + first);
                let d: &[f64; W] = block(d, first);
                let mut products = [0.0; W];
                for i in 0..W {
                    let both = full[i] * d[i];
                    lanes[i] += both;
                    products[i] = factor * both;
                }
                store(product, full_start + first, products);
            });
            adjoint[other_start] += total(lanes);
        }
    }
}

/// The sum of sixteen lanes, always in the same order.
#[inline(always)]
fn total(lanes: [f64; 16]) -> f64 {
    let mut eight = [0.0; 8];
    (0..8).for_each(|i| eight[i] = lanes[i] + lanes[i + 8]);
    let mut four = [0.0; 4];
    (0..4).for_each(|i| four[i] = eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Calls `visit` with the sum A + B of every term of the block of W values at `first` of a row.
#[inline(always)]
fn each_term<const W: usize>(
    plan: &Contraction,
    row: [u32; 2],
    first: usize,
    a: &[f64],
    b: &[f64],
    mut visit: impl FnMut([f64; W]),
) {
    for &term in &plan.terms {
        let (a_start, b_start) = factors(row, term);
        let a: &[f64; W] = block(a, a_start + first);
        match plan.inner {
            Inner::RowScalar => visit(a.map(|a| a + b[b_start])),
            _ => {
                let b: &[f64; W] = block(b, b_start + first);
                visit(std::array::from_fn(|i| a[i] + b[i]));
            }
        }
    }
}

/// Calls `visit` with A + B for every term of a result that has no inner axis of its own.
#[inline(always)]
fn each_scalar_term(
    plan: &Contraction,
    row: [u32; 2],
    a: &[f64],
    b: &[f64],
    mut visit: impl FnMut(f64),
) {
    let n = if plan.inner == Inner::Repeat { 1 } else { plan.length };
    let b_step = usize::from(plan.inner == Inner::Dot);
    for &term in &plan.terms {
        let (a_start, b_start) = factors(row, term);
        for i in 0..n {
            visit(a[a_start + i] + b[b_start + i * b_step]);
        }
    }
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn max_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    let mut best = [f64::NEG_INFINITY; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        (0..W).for_each(|i| best[i] = larger(best[i], x[i]));
                    });
                    store(o, first, best);
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                let mut best = f64::NEG_INFINITY;
                each_scalar_term(plan, row, a, b, |x| best = larger(best, x));
                o.fill(best);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn logarithm_rows(plan: &Contraction, rows: &[[u32; 2]], a: &[f64], b: &[f64], o: &mut [f64]) {
    /// A shift that keeps exp in range and never turns an infinity into a NaN.
    #[inline(always)]
    fn finite(shift: f64) -> f64 {
        if shift == f64::NEG_INFINITY { 0.0 } else { shift }
    }
    match plan.inner {
        Inner::RowRow | Inner::RowScalar => {
            for (o, &row) in o.chunks_exact_mut(plan.length).zip(rows) {
                in_blocks!(plan.length, |first, W| {
                    let mut best = [f64::NEG_INFINITY; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        (0..W).for_each(|i| best[i] = larger(best[i], x[i]));
                    });
                    let shift = best.map(finite);
                    let mut sums = [0.0; W];
                    each_term::<W>(plan, row, first, a, b, |x| {
                        (0..W).for_each(|i| sums[i] += exp_one(x[i] - shift[i]));
                    });
                    store(o, first, std::array::from_fn::<f64, W, _>(|i| shift[i] + sums[i].ln()));
                });
            }
        }
        Inner::Dot | Inner::Sum | Inner::Repeat => {
            for (o, &row) in o.chunks_exact_mut(plan.row_length()).zip(rows) {
                let mut best = f64::NEG_INFINITY;
                each_scalar_term(plan, row, a, b, |x| best = larger(best, x));
                let shift = finite(best);
                let mut sum = 0.0;
                each_scalar_term(plan, row, a, b, |x| sum += exp_one(x - shift));
                o.fill(shift + sum.ln());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::strided::{for_each_offset, row_major_strides};
    use proptest::prelude::*;

    fn cells(axes: &[Axis], has: impl Fn(&Axis) -> bool) -> usize {
        axes.iter().filter(|axis| has(axis)).map(|axis| axis.size).product()
    }

    /// The obvious version: every combination of all axes, one at a time.
    fn obvious(
        axes: &[Axis],
        a: &[f64],
        b: &[f64],
        o: &mut [f64],
        join: impl Fn(f64, f64, f64) -> f64,
    ) {
        let strides = |has: &dyn Fn(&Axis) -> bool| -> Vec<usize> {
            let shape: Vec<usize> =
                axes.iter().map(|axis| if has(axis) { axis.size } else { 1 }).collect();
            let strides = row_major_strides(&shape);
            axes.iter().zip(strides).map(|(axis, s)| if has(axis) { s } else { 0 }).collect()
        };
        let shape: Vec<usize> = axes.iter().map(|axis| axis.size).collect();
        let offsets = |strides: &[usize]| {
            let mut list = Vec::new();
            for_each_offset(&shape, strides, |_, offset| list.push(offset));
            list
        };
        let (at_a, at_b, at_o) = (
            offsets(&strides(&|axis| axis.in_a)),
            offsets(&strides(&|axis| axis.in_b)),
            offsets(&strides(&|axis| axis.in_o)),
        );
        for i in 0..at_a.len() {
            o[at_o[i]] = join(o[at_o[i]], a[at_a[i]], b[at_b[i]]);
        }
    }

    fn axes() -> impl Strategy<Value = Vec<Axis>> {
        let size = prop_oneof![4 => 1usize..6, 1 => 6usize..40];
        let axis = (size, 0usize..7).prop_map(|(size, kind)| {
            // Every way to be somewhere; an axis of O alone only multiplies the sum by its size.
            let (in_a, in_b, in_o) = [
                (true, true, true),
                (true, false, true),
                (false, true, true),
                (true, true, false),
                (true, false, false),
                (false, true, false),
                (false, false, true),
            ][kind];
            Axis { size, in_a, in_b, in_o }
        });
        prop::collection::vec(axis, 0..5)
            .prop_filter("small", |axes| cells(axes, |_| true) <= 20_000)
    }

    fn numbers(n: usize, salt: u64) -> Vec<f64> {
        (0..n as u64)
            .map(|i| {
                ((i.wrapping_mul(0x9E37_79B9).wrapping_add(salt * 77)) % 1009) as f64 / 300.0 - 1.2
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_algebra_agrees_with_the_obvious_version(axes in axes(), salt in 0u64..1000) {
            let a = numbers(cells(&axes, |axis| axis.in_a), salt);
            let b = numbers(cells(&axes, |axis| axis.in_b), salt + 1);
            let n = cells(&axes, |axis| axis.in_o);
            let plan = Contraction::new(&axes);
            let mut ours = vec![f64::NAN; n];
            let mut expected = vec![0.0; n];

            plan.multiply(&a, &b, &mut ours, true);
            obvious(&axes, &a, &b, &mut expected, |o, a, b| o + a * b);
            for (x, y) in ours.iter().zip(&expected) {
                prop_assert!((x - y).abs() <= 1e-10 * (1.0 + y.abs()), "{x} {y}");
            }

            plan.log_multiply(&a, &b, &mut ours, true);
            expected.fill(0.0);
            obvious(&axes, &a, &b, &mut expected, |o, a, b| o + (a + b).exp());
            for (x, y) in ours.iter().zip(&expected) {
                prop_assert!((x - y.ln()).abs() <= 1e-12 * (1.0 + y.abs()), "{x} {y}");
            }

            for (cell, expected) in expected.iter().enumerate() {
                let mut sum = 0.0;
                plan.each_term(cell, |at_a, at_b| sum += (a[at_a] + b[at_b]).exp());
                prop_assert!((sum - expected).abs() <= 1e-12 * (1.0 + sum));
            }

            plan.max_multiply(&a, &b, &mut ours, true);
            expected.fill(f64::NEG_INFINITY);
            obvious(&axes, &a, &b, &mut expected, |o, a, b| o.max(a + b));
            prop_assert_eq!(&ours, &expected);
        }

        #[test]
        fn absorbing_is_two_contractions_and_a_product(
            axes in prop::collection::vec((1usize..6, 0usize..4), 1..5),
            last in 1usize..40,
            swap: bool,
        ) {
            // The full table has every axis; the other table and O have some.
            let sizes = axes.iter().map(|axis| axis.0).chain([last]);
            let kinds = axes.iter().map(|axis| axis.1).chain([1 + axes[0].0 % 2]);
            let axes: Vec<Axis> = sizes.zip(kinds).map(|(size, kind)| {
                let (in_other, in_o) = ([true, false, true, false][kind], kind != 2);
                let (in_a, in_b) = if swap { (in_other, true) } else { (true, in_other) };
                Axis { size, in_a, in_b, in_o }
            }).collect();
            let plan = Contraction::new(&axes);
            if plan.absorbs() != Some(swap) {
                // Axes of size 1 can leave nothing to absorb, or make both tables full.
                return Ok(());
            }
            let has_other = |axis: &Axis| if swap { axis.in_a } else { axis.in_b };
            let full = numbers(cells(&axes, |_| true), 1);
            let other = numbers(cells(&axes, has_other), 2);
            let d = numbers(cells(&axes, |axis| axis.in_o), 3);
            let (mut product, mut adjoint) = (vec![0.0; full.len()], vec![f64::NAN; other.len()]);
            plan.absorb_back(&full, &other, &d, &mut product, &mut adjoint);

            let mut back = vec![0.0; full.len()];
            let to_full: Vec<Axis> = axes.iter().map(|axis| {
                Axis { size: axis.size, in_a: has_other(axis), in_b: axis.in_o, in_o: true }
            }).collect();
            obvious(&to_full, &other, &d, &mut back, |o, a, b| o + a * b);
            for i in 0..full.len() {
                prop_assert!((product[i] - full[i] * back[i]).abs() < 1e-12);
            }
            let mut expected = vec![0.0; other.len()];
            let to_other: Vec<Axis> = axes.iter().map(|axis| {
                Axis { size: axis.size, in_a: true, in_b: axis.in_o, in_o: has_other(axis) }
            }).collect();
            obvious(&to_other, &full, &d, &mut expected, |o, a, b| o + a * b);
            for (ours, theirs) in adjoint.iter().zip(&expected) {
                prop_assert!((ours - theirs).abs() < 1e-9);
            }
        }

        #[test]
        fn threads_do_not_change_a_bit(rows in 300usize..400, length in 20usize..60, terms in 10usize..20) {
            let axes = [
                Axis { size: terms, in_a: true, in_b: true, in_o: false },
                Axis { size: rows, in_a: true, in_b: false, in_o: true },
                Axis { size: length, in_a: true, in_b: true, in_o: true },
            ];
            let (a, b) = (numbers(rows * length * terms, 1), numbers(terms * length, 2));
            let plan = Contraction::new(&axes);
            let (mut alone, mut shared) = (vec![0.0; rows * length], vec![0.0; rows * length]);
            plan.multiply(&a, &b, &mut alone, false);
            plan.multiply(&a, &b, &mut shared, true);
            prop_assert_eq!(alone, shared);
        }
    }

    #[test]
    fn excluded_cells_stay_excluded_in_the_log_algebra() {
        let axes = [
            Axis { size: 2, in_a: true, in_b: true, in_o: true },
            Axis { size: 3, in_a: true, in_b: true, in_o: false },
        ];
        let plan = Contraction::new(&axes);
        let zero = f64::NEG_INFINITY;
        let mut o = [f64::NAN; 2];
        plan.log_multiply(&[zero, zero, zero, 1.0, zero, 2.0], &[zero; 6], &mut o, false);
        assert_eq!(o, [zero, zero]);
        plan.log_multiply(&[zero, zero, zero, 1.0, zero, 2.0], &[0.0; 6], &mut o, false);
        assert_eq!(o[0], zero);
        assert!((o[1] - (1f64.exp() + 2f64.exp()).ln()).abs() < 1e-14);
    }
}
