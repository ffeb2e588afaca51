//! Products with a matrix along one axis of a row-major table: the steps of a Kronecker product.
//!
//! The input consists of blocks of `len` rows of `inner` cells each, where `len` is the size of the
//! axis and `inner` the product of the sizes after it. The output, which is overwritten, has as
//! many blocks, the same `inner`, and as many rows per block as the matrix. A function for a
//! transpose takes the length of the axis that it *writes*.

use multiversion::multiversion;

use super::matrix::Matrix;
use super::pointwise::{add_scaled, dot};

/// Row b becomes the sum of the rows 0..=b.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn running_sums(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    let block = len * inner;
    for (input, output) in input.chunks_exact(block).zip(output.chunks_exact_mut(block)) {
        if inner == 1 {
            let mut sum = 0.0;
            for (o, &i) in output.iter_mut().zip(input) {
                sum += i;
                *o = sum;
            }
        } else {
            output[..inner].copy_from_slice(&input[..inner]);
            for (row, input) in input.chunks_exact(inner).enumerate().skip(1) {
                let (before, from_row) = output.split_at_mut(row * inner);
                add_rows(&mut from_row[..inner], &before[(row - 1) * inner..], input);
            }
        }
    }
}

/// Row a becomes the sum of the rows a..len: the transpose of [`running_sums`].
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn running_sums_transposed(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    let block = len * inner;
    for (input, output) in input.chunks_exact(block).zip(output.chunks_exact_mut(block)) {
        if inner == 1 {
            let mut sum = 0.0;
            for (o, &i) in output.iter_mut().zip(input).rev() {
                sum += i;
                *o = sum;
            }
        } else {
            output[block - inner..].copy_from_slice(&input[block - inner..]);
            for (row, input) in input.chunks_exact(inner).enumerate().rev().skip(1) {
                let (to_row, after) = output.split_at_mut((row + 1) * inner);
                add_rows(&mut to_row[row * inner..], &after[..inner], input);
            }
        }
    }
}

#[inline(always)]
fn add_rows(target: &mut [f64], a: &[f64], b: &[f64]) {
    for ((t, &a), &b) in target.iter_mut().zip(a).zip(b) {
        *t = a + b;
    }
}

/// The sum of all rows of a block.
pub fn sums(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    output.fill(0.0);
    for (input, output) in input.chunks_exact(len * inner).zip(output.chunks_exact_mut(inner)) {
        sums_onto(output, input);
    }
}

/// Adds all rows to `target`, which has the length of a row.
fn sums_onto(target: &mut [f64], rows: &[f64]) {
    if let [target] = target {
        *target += rows.iter().sum::<f64>();
    } else {
        rows.chunks_exact(target.len()).for_each(|row| add_scaled(1.0, row, target));
    }
}

/// Every row of a block becomes the one row of the input: the transpose of [`sums`].
pub fn sums_transposed(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    for (input, output) in input.chunks_exact(inner).zip(output.chunks_exact_mut(len * inner)) {
        if inner == 1 {
            output.fill(input[0]);
        } else {
            output.chunks_exact_mut(inner).for_each(|row| row.copy_from_slice(input));
        }
    }
}

/// The number of ranges i..=j with i <= j < len.
pub fn range_count(len: usize) -> usize {
    len.saturating_mul(len.saturating_add(1)) / 2
}

/// The sums over all ranges i..=j of rows, in the order (0,0), (0,1), ..., (0,len-1), (1,1), ...
pub fn range_sums(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    let ranges = range_count(len) * inner;
    for (input, output) in input.chunks_exact(len * inner).zip(output.chunks_exact_mut(ranges)) {
        let mut rest = output;
        for first in 0..len {
            let (these, others) = rest.split_at_mut((len - first) * inner);
            running_sums(&input[first * inner..], these, len - first, inner);
            rest = others;
        }
    }
}

/// The sums over half-open ranges `start..end` of rows, as differences of running sums: exact for
/// integers whose sum stays below 2^53.
pub fn interval_sums(
    intervals: &[(usize, usize)],
    input: &[f64],
    output: &mut [f64],
    len: usize,
    inner: usize,
) {
    let mut running = super::memory::zeros((len + 1) * inner);
    let outputs = output.chunks_exact_mut(intervals.len() * inner);
    for (input, output) in input.chunks_exact(len * inner).zip(outputs) {
        running_sums(input, &mut running[inner..], len, inner);
        for (&(start, end), sum) in intervals.iter().zip(output.chunks_exact_mut(inner)) {
            let (upper, lower) = (&running[end * inner..][..inner], &running[start * inner..]);
            sum.iter_mut().zip(upper).zip(lower).for_each(|((s, u), l)| *s = u - l);
        }
    }
}

/// Row a becomes the sum over the intervals that contain a: the transpose of [`interval_sums`].
pub fn interval_sums_transposed(
    intervals: &[(usize, usize)],
    input: &[f64],
    output: &mut [f64],
    len: usize,
    inner: usize,
) {
    let mut changes = super::memory::zeros((len + 1) * inner);
    let inputs = input.chunks_exact(intervals.len() * inner);
    for (input, output) in inputs.zip(output.chunks_exact_mut(len * inner)) {
        changes.fill(0.0);
        for (&(start, end), row) in intervals.iter().zip(input.chunks_exact(inner)) {
            changes[start * inner..][..inner].iter_mut().zip(row).for_each(|(c, r)| *c += r);
            changes[end * inner..][..inner].iter_mut().zip(row).for_each(|(c, r)| *c -= r);
        }
        running_sums(&changes[..len * inner], output, len, inner);
    }
}

/// Row a becomes the sum over all ranges that contain a: the transpose of [`range_sums`].
///
/// Row a is row a - 1 plus the ranges that start at a, minus those that end at a - 1.
pub fn range_sums_transposed(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    output.fill(0.0);
    let ranges = range_count(len) * inner;
    for (input, output) in input.chunks_exact(ranges).zip(output.chunks_exact_mut(len * inner)) {
        let mut rest = input;
        for first in 0..len {
            let (these, others) = rest.split_at((len - first) * inner);
            rest = others;
            // The ranges that start at `first`, by their ends: each is added to the row `first`
            // and, except for the last, subtracted from the row after its end.
            let (start, after) = output[first * inner..].split_at_mut(inner);
            sums_onto(start, these);
            after.iter_mut().zip(these).for_each(|(o, &i)| *o -= i);
        }
        for row in 1..len {
            let (before, from_row) = output.split_at_mut(row * inner);
            add_scaled(1.0, &before[(row - 1) * inner..], &mut from_row[..inner]);
        }
    }
}

/// Row i becomes the sum over a of `matrix[i, a]` times row a.
pub fn multiply(matrix: &Matrix, input: &[f64], output: &mut [f64], inner: usize) {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let outputs = output.chunks_exact_mut(rows * inner);
    for (input, output) in input.chunks_exact(cols * inner).zip(outputs) {
        if inner == 1 {
            for (row, o) in output.iter_mut().enumerate() {
                *o = dot(matrix.row(row), input);
            }
        } else {
            output.fill(0.0);
            for (row, output) in output.chunks_exact_mut(inner).enumerate() {
                for (&weight, input) in matrix.row(row).iter().zip(input.chunks_exact(inner)) {
                    add_scaled(weight, input, output);
                }
            }
        }
    }
}

/// Row a becomes the sum over i of `matrix[i, a]` times row i: the transpose of [`multiply`].
pub fn multiply_transposed(matrix: &Matrix, input: &[f64], output: &mut [f64], inner: usize) {
    output.fill(0.0);
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let outputs = output.chunks_exact_mut(cols * inner);
    for (input, output) in input.chunks_exact(rows * inner).zip(outputs) {
        for (row, input) in input.chunks_exact(inner).enumerate() {
            if inner == 1 {
                add_scaled(input[0], matrix.row(row), output);
            } else {
                for (&weight, output) in matrix.row(row).iter().zip(output.chunks_exact_mut(inner))
                {
                    add_scaled(weight, input, output);
                }
            }
        }
    }
}
