use crate::domain::Clique;
use crate::numeric::exp::{exp_shifted, maximum};

/// A table of a model, both as logarithms and as ordinary numbers, scaled so that the largest
/// magnitude is 1.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) clique: Clique,
    /// ln |v| of every cell.
    pub(super) log: Vec<f64>,
    /// v of every cell; 0 where that is below 1e-307.
    pub(super) linear: Vec<f64>,
}

impl Table {
    /// The table with these logarithms, and the maximum that was taken out. `None` when every cell
    /// is impossible.
    pub(super) fn from_log(clique: Clique, mut log: Vec<f64>) -> Option<(Self, f64)> {
        let shift = maximum(&log);
        if shift == f64::NEG_INFINITY {
            return None;
        }
        let mut linear = vec![0.0; log.len()];
        exp_shifted(&log, shift, &mut linear);
        log.iter_mut().for_each(|cell| *cell -= shift);
        Some((Self { clique, log, linear }, shift))
    }

    /// The table with these numbers, which may be negative, and the logarithm of the magnitude
    /// that was taken out. `None` when every cell is zero.
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
