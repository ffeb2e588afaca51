//! The set of numbers on which noise is added, and why a grid is safe in floating point.

use super::super::sensitivity::{Norm, Sensitivity};
use super::DrawError;

/// The set of numbers on which noise is added.
///
/// # Safety in floating point
///
/// The sum of an answer and floating-point noise can reveal the answer by its low bits (Mironov
/// 2012), and so can a discrete sampler with rounded probabilities. A grid avoids both:
///
/// 1. Each answer a is rounded to the nearest multiple R(a) of a spacing g = 2^e that does not
///    depend on the data, and clamped to +-2^62 g.
/// 2. Exact discrete noise in units of g is added in integers, with the sensitivity D' below.
/// 3. The integer is converted to a float and multiplied by g.
///
/// *Theorem.* With n answers of sensitivity D, let D' = D + n g in L1 and D' = D + sqrt(n) g in L2.
/// The result keeps the guarantee of the mechanism with sensitivity D'. *Proof.* |R(a) - a| <= g/2,
/// so two answers that are d apart are at most d + g apart after rounding, and clamping brings them
/// no further apart. Summed over n answers that is |d|_1 + n g; in L2, the norm of the vector with
/// entries |d_i| + g is at most |d|_2 + |(g, ..., g)|_2 = |d|_2 + sqrt(n) g by the triangle
/// inequality. So D' bounds the sensitivity of step 1, whose outputs are integers in units of g.
/// Step 2 is the mechanism on that lattice, sampled exactly, with a scale that is never rounded
/// down. Step 3 is a function of its output: post-processing.
///
/// Answers that are integers on *every* table (counts, and queries with integer coefficients) are
/// on the lattice g = 1 already, and D' = D.
///
/// The caller must ensure that D bounds the change of the answers as they are *computed*. Sums of
/// integers below 2^53 are exact; [`Sensitivity::enlarged`] adds an allowance for rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberLine {
    /// Answers that are integers on every table. Exact, and safe to release.
    Integers,
    /// Real answers, rounded to a grid first. Exact, and safe to release.
    Grid(Spacing),
    /// Floating-point noise, for comparisons with papers. Its guarantee holds in real arithmetic
    /// only: not for releases.
    Continuous,
}

/// The sensitivity and the spacing of answers on a number line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// Including the allowance for rounding.
    pub(super) sensitivity: f64,
    /// The distance of grid points, if there is a grid.
    pub(super) spacing: Option<f64>,
}

impl NumberLine {
    /// Rejects answers that are not on the line. `norm_of_ones` is the norm of the vector of ones,
    /// the number of g that the grid adds to the sensitivity.
    pub(super) fn place<N: Norm>(
        self,
        answers: &[f64],
        sensitivity: Sensitivity<N>,
        norm_of_ones: f64,
    ) -> Result<Placed, DrawError> {
        match self {
            NumberLine::Integers => {
                let whole = |a: f64| a.fract() == 0.0 && a.abs() <= (1u64 << 53) as f64;
                match answers.iter().position(|&a| !whole(a)) {
                    Some(index) => Err(DrawError::NotWhole { index }),
                    None => Ok(Placed { sensitivity: sensitivity.get(), spacing: Some(1.0) }),
                }
            }
            NumberLine::Grid(Spacing(g)) => {
                let allowance = (norm_of_ones * g).next_up();
                let allowance = sabotage!(allowance, "grid-does-not-count", 0.0);
                let enlarged = sensitivity.enlarged(allowance)?;
                Ok(Placed { sensitivity: enlarged.get(), spacing: Some(g) })
            }
            NumberLine::Continuous => Ok(Placed { sensitivity: sensitivity.get(), spacing: None }),
        }
    }
}

/// The distance between neighbouring points of a grid, a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing(f64);

impl Spacing {
    /// g = 2^exponent, for exponents between -900 and 900, so that 1/g and some multiples are
    /// floats. `None` for other exponents.
    pub fn power_of_two(exponent: i32) -> Option<Self> {
        (-900..=900).contains(&exponent).then(|| Self(2f64.powi(exponent)))
    }

    /// A grid so fine that rounding `answers` answers to it enlarges the sensitivity by less than a
    /// millionth: the largest power of two with answers * g <= 2^-20 * sensitivity, or half of it.
    /// `None` for sensitivities beyond about 2^880 or 2^-880.
    pub fn fine<N: Norm>(sensitivity: Sensitivity<N>, answers: usize) -> Option<Self> {
        let bound = sensitivity.get() / answers.max(1) as f64;
        // The exponent of a float is the exact floor of its base-2 logarithm.
        let floor = ((bound.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        Self::power_of_two(floor - 20)
    }

    /// The distance g.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sensitivity::brute_force::{Records, worst_case};
    use super::super::super::{L1, L2, Neighbours};
    use super::*;
    use proptest::prelude::*;

    /// Asserts that rounding to a coarse grid enlarges the sensitivity by no more than the theorem
    /// allows. Returns whether it enlarges it.
    fn assert_grid_theorem<N: Norm>(columns: &[[f64; 3]], g: f64, norm_of_ones: f64) -> bool {
        let rounded = |table: &[u64], g: Option<f64>| -> Vec<f64> {
            (0..3)
                .map(|query| {
                    let answer: f64 =
                        columns.iter().zip(table).map(|(q, &x)| q[query] * x as f64).sum();
                    g.map_or(answer, |g| (answer / g).round_ties_even() * g)
                })
                .collect()
        };
        let records = Records::Exactly(3);
        let before = worst_case::<N>(columns.len(), records, |t| rounded(t, None)).distance;
        let after = worst_case::<N>(columns.len(), records, |t| rounded(t, Some(g))).distance;
        let Ok(sensitivity) = Sensitivity::<N>::new(before, Neighbours::Replace) else {
            return false;
        };
        let spacing = Spacing(g);
        let placed = NumberLine::Grid(spacing).place(&[0.0; 3], sensitivity, norm_of_ones).unwrap();
        assert!(after <= placed.sensitivity * (1.0 + 1e-12), "{after} {placed:?}");
        after > before
    }

    #[test]
    fn rounding_enlarges_some_sensitivities() {
        assert!(assert_grid_theorem::<L1>(&[[0.3; 3], [0.6; 3]], 0.5, 3.0));
        assert!(assert_grid_theorem::<L2>(&[[0.3; 3], [0.6; 3]], 0.5, 3f64.sqrt()));
    }

    proptest! {
        #[test]
        fn rounding_enlarges_sensitivities_by_no_more_than_the_theorem_allows(
            columns in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 2..4),
            exponent in -4..2i32,
        ) {
            let g = 2f64.powi(exponent);
            assert_grid_theorem::<L1>(&columns, g, 3.0);
            assert_grid_theorem::<L2>(&columns, g, 3f64.sqrt());
        }

        #[test]
        fn fine_grids_cost_less_than_a_millionth(
            value in 1e-30..1e30f64, answers in 1usize..10_000
        ) {
            let sensitivity = Sensitivity::<L1>::new(value, Neighbours::Replace).unwrap();
            let g = Spacing::fine(sensitivity, answers).unwrap().get();
            prop_assert!(g * answers as f64 <= value / 1e6);
            prop_assert!(4.0 * g * answers as f64 > value / 1e6);
            prop_assert_eq!(g.log2().fract(), 0.0);
        }
    }

    #[test]
    fn spacings_out_of_range_are_rejected() {
        assert_eq!(Spacing::power_of_two(901), None);
        let tiny = Sensitivity::<L1>::new(1e-300, Neighbours::Replace).unwrap();
        assert_eq!(Spacing::fine(tiny, 1), None);
    }
}
