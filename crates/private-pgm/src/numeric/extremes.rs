//! The smallest and the largest of many values.

use multiversion::multiversion;
use rayon::prelude::*;

use super::shift::{BLOCK, PARALLEL};

#[inline(always)]
fn smaller(x: f64, y: f64) -> f64 {
    if y < x { y } else { x }
}

#[inline(always)]
pub(super) fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// The smallest and the largest value.
pub fn extremes(values: &[f64], parallel: bool) -> [f64; 2] {
    if !parallel || values.len() < PARALLEL {
        return extremes_of(values);
    }
    values.par_chunks(BLOCK).map(extremes_of).reduce(
        || [f64::INFINITY, f64::NEG_INFINITY],
        |x, y| [smaller(x[0], y[0]), larger(x[1], y[1])],
    )
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn extremes_of(values: &[f64]) -> [f64; 2] {
    let mut range = Range::default();
    let (blocks, rest) = values.as_chunks::<8>();
    for block in blocks {
        range.include(block);
    }
    range.extremes(rest)
}

/// The smallest and the largest of many values, eight at a time: with more, a loop that does other things
/// too would run out of registers.
pub(super) struct Range {
    low: [f64; 8],
    high: [f64; 8],
}

impl Default for Range {
    #[inline(always)]
    fn default() -> Self {
        Self { low: [f64::INFINITY; 8], high: [f64::NEG_INFINITY; 8] }
    }
}

impl Range {
    #[inline(always)]
    pub(super) fn include(&mut self, values: &[f64; 8]) {
        for ((low, high), &value) in self.low.iter_mut().zip(&mut self.high).zip(values) {
            *low = smaller(*low, value);
            *high = larger(*high, value);
        }
    }

    /// The extremes of all that was included, and of some more values.
    #[inline(always)]
    pub(super) fn extremes(mut self, rest: &[f64]) -> [f64; 2] {
        for (i, &value) in rest.iter().enumerate() {
            self.low[i % 8] = smaller(self.low[i % 8], value);
            self.high[i % 8] = larger(self.high[i % 8], value);
        }
        // As a tree: a chain of eight comparisons would take as long as a short table.
        let mut half = 4;
        while half > 0 {
            for i in 0..half {
                self.low[i] = smaller(self.low[i], self.low[i + half]);
                self.high[i] = larger(self.high[i], self.high[i + half]);
            }
            half /= 2;
        }
        [self.low[0], self.high[0]]
    }
}
