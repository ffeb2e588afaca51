//! Laplace and Gaussian noise.
//!
//! # The mechanisms
//!
//! *Laplace.* With an L1 sensitivity D, independent noise with probabilities proportional to
//! exp(-|k|/b), b = D/epsilon, on the lattice of the answers is epsilon-private. The probabilities
//! of an output y under two neighbours a, a' differ by the factor
//! prod_i exp((|y_i - a'_i| - |y_i - a_i|)/b) <= exp(|a - a'|_1 / b) <= e^epsilon (Dwork, McSherry,
//! Nissim, Smith 2006; on a lattice: Ghosh, Roughgarden, Sundararajan 2009).
//!
//! *Gaussian.* With an L2 sensitivity D, independent noise with probabilities proportional to
//! exp(-k^2/(2 sigma^2)), sigma = D / sqrt(2 rho), is rho-zCDP. A coordinate that differs by m
//! lattice steps has a Renyi divergence of at most alpha m^2/(2 sigma^2), and the divergences of
//! the coordinates add up to alpha D^2/(2 sigma^2) (Canonne, Kamath, Steinke 2020, theorem 4 and
//! section 2.2). A share in (epsilon, delta) pays for the largest rho that implies it.
//!
//! Both are sampled exactly on a grid ([`NumberLine`]), or in floating point for comparisons.

pub(super) mod bernoulli;
mod continuous;
mod discrete;
mod number_line;
#[cfg(feature = "sabotage")]
mod sabotaged;
pub(super) mod scale;

#[cfg(test)]
mod floating_point_attack;
#[cfg(test)]
pub(super) mod frequencies;

pub use number_line::{NumberLine, Spacing};

use number_line::Placed;
use scale::{Scale, ScaleOutOfRange};
use thiserror::Error;

use super::draw::{Draw, Mechanism};
use super::exact_sum::divide_up;
use super::sensitivity::{L1, L2, Norm, Sensitivity, SensitivityError};
use super::transcript::Event;
use super::{Epsilon, Guarantee, Neighbours, NoiseSource, ParameterError, Rho, Share};

/// Noisy answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Noisy {
    /// The noisy answers, in the order of the answers.
    pub values: Vec<f64>,
    /// The scale: b of Laplace noise, sigma of Gaussian noise.
    pub scale: f64,
    /// The standard deviation of the noise that was added to each answer.
    pub noise_stddev: f64,
}

/// Why a draw was rejected. Messages name positions but no values, since an error may be visible to
/// someone who must not see the data.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum DrawError {
    /// The sensitivity and the share have different neighbouring relations.
    #[error("the sensitivity is for {sensitivity:?} neighbours, the share for {share:?}")]
    WrongNeighbours {
        /// The share's relation.
        share: Neighbours,
        /// The sensitivity's relation.
        sensitivity: Neighbours,
    },
    /// There are no answers, candidates or selections.
    #[error("there is nothing to draw")]
    Nothing,
    /// An answer or score is NaN or infinite.
    #[error("value {index} is not a finite number")]
    NotFinite {
        /// Its position.
        index: usize,
    },
    /// An answer on [`NumberLine::Integers`] is not an integer of at most 2^53.
    #[error("value {index} is not an integer of at most 2^53 in absolute value")]
    NotWhole {
        /// Its position.
        index: usize,
    },
    /// Gaussian noise from a pure share.
    #[error("Gaussian noise needs a share in (epsilon, delta) or rho, not a pure one")]
    GaussianIsNotPure,
    /// A draw of an advanced composition is larger than planned.
    #[error("a draw of epsilon = {epsilon}, but the composition was planned for at most {largest}")]
    LargerThanPlanned {
        /// The epsilon of the draw.
        epsilon: f64,
        /// The largest planned epsilon.
        largest: Epsilon,
    },
    /// Monotone scores under [`Neighbours::Replace`].
    #[error("scores can be monotone when a record is added or removed, not when it is replaced")]
    MonotoneUnderReplace,
    /// The scale is outside the range of the samplers.
    #[error(transparent)]
    Scale(#[from] ScaleOutOfRange),
    /// The sensitivity is too large for the allowance for rounding.
    #[error(transparent)]
    Sensitivity(#[from] SensitivityError),
    /// The share converts to a number that is not a parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Share {
    /// Adds Laplace noise of scale sensitivity / epsilon to the answers (Dwork, McSherry, Nissim,
    /// Smith 2006). A share in rho pays for epsilon = sqrt(2 rho). The delta of a share in
    /// (epsilon, delta) stays unused.
    pub fn laplace(
        self,
        label: impl Into<String>,
        answers: &[f64],
        sensitivity: Sensitivity<L1>,
        line: NumberLine,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        self.check(answers, sensitivity)?;
        let epsilon = self.guarantee().pure_epsilon()?.get();
        self.check_size(epsilon)?;
        let placed = line.place(answers, sensitivity, answers.len() as f64)?;
        let epsilon = sabotage!(epsilon, "laplace-for-twice-the-epsilon", 2.0 * epsilon);
        let scale = divide_up(placed.sensitivity, epsilon);
        self.add_noise(Family::Laplace, label.into(), answers, placed, scale, source)
    }

    /// Adds Gaussian noise of standard deviation sensitivity / sqrt(2 rho) to the answers (Bun and
    /// Steinke 2016, proposition 1.6; discrete: Canonne, Kamath, Steinke 2020). A share in
    /// (epsilon, delta) pays for the rho of [`Rho::implying`].
    pub fn gaussian(
        self,
        label: impl Into<String>,
        answers: &[f64],
        sensitivity: Sensitivity<L2>,
        line: NumberLine,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        self.check(answers, sensitivity)?;
        let rho = match self.guarantee() {
            Guarantee::Pure { .. } => return Err(DrawError::GaussianIsNotPure),
            Guarantee::Approximate { epsilon, delta } => Rho::implying(epsilon, delta)?,
            Guarantee::Concentrated { rho } => rho,
        };
        let placed = line.place(answers, sensitivity, (answers.len() as f64).sqrt().next_up())?;
        let twice = sabotage!(2.0 * rho.get(), "gaussian-for-twice-the-rho", 4.0 * rho.get());
        // If the root was rounded up, the quotient is one unit in the last place too small.
        let sigma = divide_up(placed.sensitivity, twice.sqrt()).next_up();
        self.add_noise(Family::Gaussian, label.into(), answers, placed, sigma, source)
    }

    fn add_noise(
        self,
        family: Family,
        label: String,
        answers: &[f64],
        placed: Placed,
        scale: f64,
        source: &mut NoiseSource,
    ) -> Result<Noisy, DrawError> {
        let replayed = source.replayed(|transcript| transcript.noisy(answers.len()));
        let (noisy, mechanism) = match placed.spacing {
            Some(g) => {
                let steps = Scale::at_least(scale / g)?;
                let sample = || family.on_grid(answers, g, steps, source);
                let values = replayed.unwrap_or_else(sample);
                let noise_stddev = family.stddev_on_grid(steps) * g;
                (Noisy { values, scale: steps.get() * g, noise_stddev }, family.discrete())
            }
            None if scale.is_finite() => {
                let values = replayed.unwrap_or_else(|| family.in_floats(answers, scale, source));
                let noise_stddev = family.stddev_in_floats(scale);
                (Noisy { values, scale, noise_stddev }, family.continuous())
            }
            None => return Err(ScaleOutOfRange(scale).into()),
        };
        let draw = Draw {
            label,
            mechanism,
            sensitivity: placed.sensitivity,
            scale: noisy.scale,
            spacing: placed.spacing,
            values: answers.len(),
            randomness: source.provenance(),
        };
        source.note(|| Event::Noise {
            handed: self.hands(&draw, answers),
            noisy: noisy.values.clone(),
        });
        sabotage!(self.record(draw), "noise-not-in-the-ledger", drop(draw));
        Ok(noisy)
    }

    /// The conditions on values and sensitivity that all draws share.
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

/// The distribution of the noise.
#[derive(Clone, Copy)]
enum Family {
    Laplace,
    Gaussian,
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

    fn on_grid(self, answers: &[f64], g: f64, steps: Scale, source: &mut NoiseSource) -> Vec<f64> {
        let rng = source.generator();
        let limit = (1u64 << 62) as f64;
        #[cfg(feature = "sabotage")]
        let mut last = None;
        let noisy = |answer: &f64| {
            // Division by a power of two is exact; the clamp covers an overflow.
            let rounded = (answer / g).round_ties_even().clamp(-limit, limit) as i128;
            let noise = match self {
                Family::Laplace => discrete::laplace(rng, steps),
                Family::Gaussian => discrete::gaussian(rng, steps),
            };
            #[cfg(feature = "sabotage")]
            let noise = sabotaged::noise(self, noise, rng, steps, &mut last);
            (rounded + noise) as f64 * g
        };
        answers.iter().map(noisy).collect()
    }

    /// In grid steps.
    fn stddev_on_grid(self, steps: Scale) -> f64 {
        match self {
            Family::Laplace => discrete::laplace_stddev(steps),
            Family::Gaussian => discrete::gaussian_stddev(steps),
        }
    }

    fn in_floats(self, answers: &[f64], scale: f64, source: &mut NoiseSource) -> Vec<f64> {
        let rng = source.generator();
        let noise = |answer: &f64| match self {
            Family::Laplace => answer + continuous::laplace(rng, scale),
            Family::Gaussian => answer + continuous::gaussian(rng, scale),
        };
        answers.iter().map(noise).collect()
    }

    fn stddev_in_floats(self, scale: f64) -> f64 {
        match self {
            Family::Laplace => std::f64::consts::SQRT_2 * scale,
            Family::Gaussian => scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    fn source() -> NoiseSource {
        NoiseSource::seeded(&SeedPath::new("test", "noise"))
    }

    fn share(total: impl Into<Guarantee>) -> Share {
        Budget::new(total, Neighbours::Replace).rest().unwrap()
    }

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    fn sensitivity<N: Norm>(value: f64) -> Sensitivity<N> {
        Sensitivity::new(value, Neighbours::Replace).unwrap()
    }

    #[test]
    fn scales_are_sensitivity_over_epsilon_or_root_two_rho() {
        let answers = [3.0, 0.0, 8.0];
        for line in [NumberLine::Integers, NumberLine::Continuous] {
            let noisy = share(epsilon(0.5))
                .laplace("counts", &answers, sensitivity(2.0), line, &mut source())
                .unwrap();
            assert_eq!(noisy.scale, 4.0);
            let noisy = share(Rho::new(0.125).unwrap())
                .laplace("counts", &answers, sensitivity(2.0), line, &mut source())
                .unwrap();
            assert!((noisy.scale - 4.0).abs() < 1e-14 && noisy.scale >= 4.0);
            let noisy = share(Rho::new(0.125).unwrap())
                .gaussian("counts", &answers, sensitivity(2.0), line, &mut source())
                .unwrap();
            assert!((noisy.scale - 4.0).abs() < 1e-14 && noisy.scale >= 4.0);
            assert!((noisy.noise_stddev - 4.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_share_in_epsilon_and_delta_pays_for_the_rho_that_implies_it() {
        let (e, d) = (epsilon(1.0), Delta::new(1e-6).unwrap());
        let noisy = share((e, d))
            .gaussian("x", &[0.0], sensitivity(1.0), NumberLine::Integers, &mut source())
            .unwrap();
        let rho = Rho::new(0.5 / noisy.scale.powi(2)).unwrap();
        assert!(rho.epsilon(d).unwrap() <= e);
        // Less noise than sqrt(2 ln(1.25/delta)) / epsilon, the classical calibration.
        assert!(noisy.scale < (2.0 * (1.25e6f64).ln()).sqrt());
    }

    #[test]
    fn noise_on_a_grid_is_centred_on_the_answers_and_stays_on_the_grid() {
        let answers = vec![100.0 / 3.0; 20_000];
        let g = Spacing::power_of_two(-8).unwrap();
        for noisy in [
            share(epsilon(1.0)).laplace(
                "x",
                &answers,
                sensitivity(200.0),
                NumberLine::Grid(g),
                &mut source(),
            ),
            share(Rho::new(0.5).unwrap()).gaussian(
                "x",
                &answers,
                sensitivity(200.0),
                NumberLine::Grid(g),
                &mut source(),
            ),
        ] {
            let noisy = noisy.unwrap();
            assert!(noisy.values.iter().all(|y| (y / g.get()).fract() == 0.0));
            let n = answers.len() as f64;
            let mean = noisy.values.iter().sum::<f64>() / n;
            let error = noisy.noise_stddev / n.sqrt();
            assert!((mean - 100.0 / 3.0).abs() < 5.0 * error, "{mean}, {error}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let draw = || {
            share(epsilon(0.1))
                .laplace("x", &[1.0; 50], sensitivity(2.0), NumberLine::Integers, &mut source())
                .unwrap()
        };
        assert_eq!(draw(), draw());
    }

    #[test]
    fn draws_that_would_break_the_guarantee_are_rejected() {
        let laplace = |answers: &[f64], sensitivity, line| {
            share(epsilon(1.0)).laplace("x", answers, sensitivity, line, &mut source()).unwrap_err()
        };
        use NumberLine::{Continuous, Integers};
        let added = Sensitivity::new(1.0, Neighbours::AddRemove).unwrap();
        assert!(matches!(laplace(&[1.0], added, Integers), DrawError::WrongNeighbours { .. }));
        let one = sensitivity(1.0);
        assert_eq!(laplace(&[1.0, 0.5], one, Integers), DrawError::NotWhole { index: 1 });
        assert_eq!(laplace(&[2f64.powi(54)], one, Integers), DrawError::NotWhole { index: 0 });
        assert_eq!(laplace(&[f64::NAN], one, Continuous), DrawError::NotFinite { index: 0 });
        assert_eq!(laplace(&[], one, Continuous), DrawError::Nothing);
        let huge = sensitivity(1e300);
        assert!(matches!(laplace(&[1.0], huge, Integers), DrawError::Scale(_)));
        let pure =
            share(epsilon(1.0)).gaussian("x", &[1.0], sensitivity(1.0), Integers, &mut source());
        assert_eq!(pure.unwrap_err(), DrawError::GaussianIsNotPure);
    }
}
