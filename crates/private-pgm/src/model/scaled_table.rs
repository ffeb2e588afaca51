use crate::domain::Clique;
use crate::numeric::exp::{exp_shifted, maximum};
use crate::numeric::memory;

/// A table in log space and in linear space, scaled so that the largest magnitude is 1.
#[derive(Clone, Debug)]
pub(super) struct ScaledTable {
    pub(super) clique: Clique,
    /// ln |v| of every cell v.
    pub(super) log: Vec<f64>,
    /// Every cell v, flushed to 0 below 1e-307.
    pub(super) linear: Vec<f64>,
}

impl ScaledTable {
    /// The table with these logarithms, and the maximum that was subtracted. `None` if every cell
    /// is minus infinity.
    pub(super) fn from_log(clique: Clique, mut log: Vec<f64>) -> Option<(Self, f64)> {
        let shift = maximum(&log);
        if shift == f64::NEG_INFINITY {
            return None;
        }
        let mut linear = memory::zeros(log.len());
        exp_shifted(&log, shift, &mut linear);
        log.iter_mut().for_each(|cell| *cell -= shift);
        Some((Self { clique, log, linear }, shift))
    }

    /// The table with these numbers, which may be negative, and ln of the magnitude by which they
    /// were divided. `None` if every cell is zero.
    pub(super) fn from_numbers(clique: Clique, numbers: &[f64]) -> Option<(Self, f64)> {
        let largest = numbers.iter().fold(0.0, |largest, v| f64::max(largest, v.abs()));
        if largest == 0.0 {
            return None;
        }
        let linear: Vec<f64> = numbers.iter().map(|v| v / largest).collect();
        let log = linear.iter().map(|v| v.abs().ln()).collect();
        Some((Self { clique, log, linear }, largest.ln()))
    }
}
