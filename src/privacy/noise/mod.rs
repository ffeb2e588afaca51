//! Laplace and Gaussian noise, paid for with a share of the budget.
//!
//! # The mechanisms
//!
//! *Laplace.* With an L1 sensitivity D, adding independent noise with weights exp(-|k|/b),
//! b = D/epsilon, on the lattice of the answers is epsilon-private: the probabilities of an output
//! y under two neighbours a, a' differ by the factor prod_i exp((|y_i - a'_i| - |y_i - a_i|)/b)
//! <= exp(|a - a'|_1 / b) <= e^epsilon (Dwork, McSherry, Nissim, Smith 2006; on a lattice: Ghosh,
//! Roughgarden, Sundararajan 2009).
//!
//! *Gaussian.* With an L2 sensitivity D, weights exp(-k^2/(2 sigma^2)), sigma = D / sqrt(2 rho), are
//! rho-zCDP: a coordinate that differs by m lattice steps has a Renyi divergence of at most
//! alpha m^2/(2 sigma^2), and the coordinates' divergences add up to alpha D^2/(2 sigma^2)
//! (Canonne, Kamath, Steinke 2020, theorem 4 and section 2.2). A share in (epsilon, delta) pays for
//! the largest rho that implies it.
//!
//! # Noise that withstands floating point
//!
//! A float plus noise computed in floating point lands on numbers that betray the float (Mironov
//! 2012); so does a discrete sampler whose decisions are rounded. Here:
//!
//! 1. Each answer a is rounded to the nearest multiple R(a) of a spacing g = 2^e that does not
//!    depend on the data, and clamped to +-2^62 g.
//! 2. Exact discrete noise in units of g is added in integers, with the sensitivity D' below.
//! 3. The integer is converted to a float and multiplied by g.
//!
//! *Theorem.* With n answers, D' = D + n g in L1 and D' = D + sqrt(n) g in L2, the result keeps the
//! guarantee of the mechanism above. *Proof.* |R(a) - a| <= g/2, so two answers that are d apart
//! are at most d + g apart after rounding, and clamping brings them no further apart. Summed over n
//! answers that is |d|_1 + n g; in L2, the norm of the vector with entries |d_i| + g is at most
//! |d|_2 + |(g, ..., g)|_2 = |d|_2 + sqrt(n) g by the triangle inequality. So D' bounds the
//! sensitivity of step 1, whose outputs are integers in units of g. Step 2 is the mechanism on
//! that lattice, sampled exactly, with a scale that is rounded up wherever it is rounded. Step 3 is
//! a function of its output: post-processing. QED.
//!
//! Answers that are whole numbers on *every* table ([`NumberLine::Integers`]: counts, and any query
//! with whole coefficients) are on the lattice g = 1 already, and D' = D.
//!
//! What remains the caller's part: D must bound the answers as they are *computed*. Sums of whole
//! numbers below 2^53 are exact; where rounding comes in,
//! [`Sensitivity::enlarged`](super::Sensitivity::enlarged) makes room for it.

pub(super) mod bernoulli;
mod continuous;
mod discrete;
pub(super) mod scale;

#[cfg(test)]
mod floating_point_attack;
#[cfg(test)]
pub(super) mod frequencies;

use thiserror::Error;

use scale::{Scale, ScaleOutOfRange};

use super::exact_sum::divide_up;
use super::ledger::{Draw, Mechanism};
use super::sensitivity::{InvalidSensitivity, L1, L2, Norm, Sensitivity};
use super::{Guarantee, Neighbours, NoiseSource, ParameterError, Rho, Share};

/// The numbers that noise is added on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberLine {
    /// The answers are whole numbers, on every table. Exact, and safe to release.
    Integers,
    /// Real answers are rounded to a grid first. Exact, and safe to release.
    Grid(Spacing),
    /// Floating point, with the textbook scales, to compare with papers. Its guarantee is that of
    /// real arithmetic, which floats do not have: not for releases.
    Continuous,
}

/// The distance between neighbouring points of a grid, a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing(f64);

impl Spacing {
    /// 2^exponent, for exponents between -900 and 900: 1/g, and a few powers beyond, are floats.
    pub fn power_of_two(exponent: i32) -> Option<Self> {
        (-900..=900).contains(&exponent).then(|| Self(2f64.powi(exponent)))
    }

    /// A grid fine enough that rounding `answers` answers to it enlarges the sensitivity by less
    /// than a millionth: the largest power of two with answers * g <= 2^-20 * sensitivity.
    pub fn fine<N: Norm>(sensitivity: Sensitivity<N>, answers: usize) -> Option<Self> {
        let bound = sensitivity.get() / answers.max(1) as f64;
        // The exponent of a float is the floor of its logarithm, without rounding.
        let floor = ((bound.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        Self::power_of_two(floor - 20)
    }

    /// The distance g.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Answers with noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Noisy {
    /// One for each answer.
    pub values: Vec<f64>,
    /// b for Laplace, sigma for Gaussian.
    pub scale: f64,
    /// The standard deviation of the noise that was added to each answer.
    pub noise_stddev: f64,
}

/// Why nothing was drawn. The messages say where, and nothing about the values: an error can be
/// seen by those who must not see the data.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum DrawError {
    /// The sensitivity was proved for another relation than the budget's.
    #[error("the sensitivity is for {sensitivity:?} neighbours, the share for {share:?}")]
    WrongNeighbours {
        /// The share's relation.
        share: Neighbours,
        /// The sensitivity's relation.
        sensitivity: Neighbours,
    },
    /// No answers, candidates or selections.
    #[error("there is nothing to draw")]
    Nothing,
    /// An answer or score is NaN or infinite.
    #[error("value {index} is not a finite number")]
    NotFinite {
        /// Its position.
        index: usize,
    },
    /// An answer said to be whole is not, or is past 2^53.
    #[error("value {index} is not a whole number of at most 2^53")]
    NotWhole {
        /// Its position.
        index: usize,
    },
    /// Gaussian noise is never purely private.
    #[error("Gaussian noise needs a share in (epsilon, delta) or rho, not a pure one")]
    GaussianIsNotPure,
    /// A replaced record can move scores both ways.
    #[error("scores can be monotone when a record is added or removed, not when it is replaced")]
    MonotoneUnderReplace,
    /// The noise is too large for the samplers.
    #[error(transparent)]
    Scale(#[from] ScaleOutOfRange),
    /// The sensitivity is too large to be enlarged.
    #[error(transparent)]
    Sensitivity(#[from] InvalidSensitivity),
    /// The share is too small or too large to compute with.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

#[derive(Clone, Copy)]
enum Family {
    Laplace,
    Gaussian,
}

impl Share {
    /// The answers with Laplace noise of scale sensitivity / epsilon. A share in rho pays for
    /// epsilon = sqrt(2 rho); of (epsilon, delta) the delta goes unused.
    pub fn laplace(
        self,
        label: impl Into<String>,
        answers: &[f64],
        sensitivity: Sensitivity<L1>,
        line: NumberLine,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        let epsilon = self.guarantee().pure_epsilon()?.get();
        let count = answers.len() as f64;
        let scale = |sensitivity| divide_up(sensitivity, epsilon);
        self.add_noise(
            Family::Laplace,
            label.into(),
            answers,
            sensitivity,
            count,
            scale,
            line,
            source,
        )
    }

    /// The answers with Gaussian noise of standard deviation sensitivity / sqrt(2 rho). A share in
    /// (epsilon, delta) pays for [`Rho::implying`] it.
    pub fn gaussian(
        self,
        label: impl Into<String>,
        answers: &[f64],
        sensitivity: Sensitivity<L2>,
        line: NumberLine,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        let rho = match self.guarantee() {
            Guarantee::Pure { .. } => return Err(DrawError::GaussianIsNotPure),
            Guarantee::Approximate { epsilon, delta } => Rho::implying(epsilon, delta)?,
            Guarantee::Concentrated { rho } => rho,
        };
        let root = (answers.len() as f64).sqrt().next_up();
        // Two roundings down are possible, in the root and the quotient.
        let scale = |sensitivity: f64| divide_up(sensitivity, (2.0 * rho.get()).sqrt()).next_up();
        self.add_noise(
            Family::Gaussian,
            label.into(),
            answers,
            sensitivity,
            root,
            scale,
            line,
            source,
        )
    }

    /// `rounding` is the norm of the vector of ones: by how many g the grid enlarges a sensitivity.
    #[allow(clippy::too_many_arguments)]
    fn add_noise<N: Norm>(
        self,
        family: Family,
        label: String,
        answers: &[f64],
        sensitivity: Sensitivity<N>,
        rounding: f64,
        scale: impl Fn(f64) -> f64,
        line: NumberLine,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        self.check(answers, sensitivity)?;
        let (enlarged, spacing) = match line {
            NumberLine::Integers => {
                let whole = |a: f64| a.fract() == 0.0 && a.abs() <= (1u64 << 53) as f64;
                if let Some(index) = answers.iter().position(|&a| !whole(a)) {
                    return Err(DrawError::NotWhole { index });
                }
                (sensitivity, Some(1.0))
            }
            NumberLine::Grid(Spacing(g)) => {
                (sensitivity.enlarged((rounding * g).next_up())?, Some(g))
            }
            NumberLine::Continuous => (sensitivity, None),
        };
        let scale = scale(enlarged.get());
        let (noisy, mechanism) = match spacing {
            Some(g) => {
                let steps = Scale::at_least(scale / g)?;
                (family.on_grid(answers, g, steps, source), family.discrete())
            }
            None if scale.is_finite() => {
                (family.in_floats(answers, scale, source), family.continuous())
            }
            None => return Err(ScaleOutOfRange(scale).into()),
        };
        self.settle(Draw {
            label,
            mechanism,
            sensitivity: enlarged.get(),
            scale: noisy.scale,
            spacing,
            values: answers.len(),
            randomness: source.provenance(),
        });
        Ok(noisy)
    }

    /// What every draw asks of its values and its sensitivity.
    pub(super) fn check<N: Norm>(
        &self,
        values: &[f64],
        sensitivity: Sensitivity<N>,
    ) -> Result<(), DrawError> {
        if sensitivity.neighbours() != self.neighbours() {
            return Err(DrawError::WrongNeighbours {
                share: self.neighbours(),
                sensitivity: sensitivity.neighbours(),
            });
        }
        if values.is_empty() {
            return Err(DrawError::Nothing);
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(DrawError::NotFinite { index }),
            None => Ok(()),
        }
    }
}

impl Family {
    fn discrete(self) -> Mechanism {
        match self {
            Family::Laplace => Mechanism::DiscreteLaplace,
            Family::Gaussian => Mechanism::DiscreteGaussian,
        }
    }

    fn continuous(self) -> Mechanism {
        match self {
            Family::Laplace => Mechanism::ContinuousLaplace,
            Family::Gaussian => Mechanism::ContinuousGaussian,
        }
    }

    fn on_grid(self, answers: &[f64], g: f64, steps: Scale, source: &mut NoiseSource) -> Noisy {
        let rng = source.generator();
        let limit = (1u64 << 62) as f64;
        let values = answers
            .iter()
            .map(|answer| {
                // Division by a power of two is exact; past the range of floats the clamp holds.
                let rounded = (answer / g).round_ties_even().clamp(-limit, limit) as i128;
                let noise = match self {
                    Family::Laplace => discrete::laplace(rng, steps),
                    Family::Gaussian => discrete::gaussian(rng, steps),
                };
                (rounded + noise) as f64 * g
            })
            .collect();
        let stddev = match self {
            Family::Laplace => discrete::laplace_stddev(steps),
            Family::Gaussian => discrete::gaussian_stddev(steps),
        };
        Noisy { values, scale: steps.get() * g, noise_stddev: stddev * g }
    }

    fn in_floats(self, answers: &[f64], scale: f64, source: &mut NoiseSource) -> Noisy {
        let rng = source.generator();
        let (values, noise_stddev) = match self {
            Family::Laplace => (
                answers.iter().map(|a| a + continuous::laplace(rng, scale)).collect(),
                std::f64::consts::SQRT_2 * scale,
            ),
            Family::Gaussian => {
                (answers.iter().map(|a| a + continuous::gaussian(rng, scale)).collect(), scale)
            }
        };
        Noisy { values, scale, noise_stddev }
    }
}
