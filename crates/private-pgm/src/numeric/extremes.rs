//! Minimum and maximum of a slice in one pass.

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

/// The smallest and the largest value; plus and minus infinity for an empty slice.
pub(crate) fn extremes(values: &[f64], parallel: bool) -> [f64; 2] {
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
    let mut range = RunningExtremes::default();
    let (blocks, rest) = values.as_chunks::<8>();
    for block in blocks {
        range.include(block);
    }
    range.extremes(rest)
}

/// Minima and maxima in eight lanes. With more lanes, a loop that also does other work would run
/// out of registers.
pub(super) struct RunningExtremes {
    low: [f64; 8],
    high: [f64; 8],
}

impl Default for RunningExtremes {
    #[inline(always)]
    fn default() -> Self {
        Self { low: [f64::INFINITY; 8], high: [f64::NEG_INFINITY; 8] }
    }
}

impl RunningExtremes {
    #[inline(always)]
    pub(super) fn include(&mut self, values: &[f64; 8]) {
        for ((low, high), &value) in self.low.iter_mut().zip(&mut self.high).zip(values) {
            *low = smaller(*low, value);
            *high = larger(*high, value);
        }
    }

    /// The extremes of all included values and of `rest`.
    #[inline(always)]
    pub(super) fn extremes(mut self, rest: &[f64]) -> [f64; 2] {
        for (i, &value) in rest.iter().enumerate() {
            self.low[i % 8] = smaller(self.low[i % 8], value);
            self.high[i % 8] = larger(self.high[i % 8], value);
        }
        // A tree reduction: a chain of eight comparisons would take as long as a short table.
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
