use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use thiserror::Error;

use crate::fit::{EstimateError, Fit, Settings};
use crate::loss::{Measurement, Norm, estimate_total};
use crate::model::{Calibrated, InferenceError, Model};
use crate::problem::Problem;

/// Iterations of a replicate at most, our choice: it starts from the model, and ends earlier by its
/// gap.
const ITERATIONS: usize = 1000;

/// The gap at which a replicate ends, per measured answer. For the L2 loss a gap of g answers
/// bounds the mean squared distance from the optimum by 2 g variances of the noise: here 1.4 % of a
/// standard deviation.
const GAP_PER_ANSWER: f64 = 1e-4;

/// A parametric bootstrap: the model's own measurements are simulated with the noise of the
/// problem, and a model is fitted to each simulation.
///
/// The error of an answer is the root mean square of the replicates' deviations from the model. It
/// contains their bias: a model's counts are not negative, which moves small counts up and large
/// ones down. Quantiles and standard deviations of the replicates do not, and cover the truth less
/// often near zero.
///
/// The interval of [`z_score`](super::z_score) errors on both sides is an approximation, because
/// the truth is not the model. In simulations of single tables (`scripts/compare_intervals.py`)
/// nominal 95 % intervals cover 92 to 95 % of the counts above three standard deviations of the
/// noise and 92 to 94 % of smaller ones, but 35 % of small counts among hundreds of empty cells,
/// which are estimated as 0. The test `intervals_of_a_model_cover_the_truth` uses whole models.
///
/// Noise is simulated as Gaussian whatever its kind, as a problem states its standard deviation
/// only.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// The number of simulations. The error of an answer is known to about 1 / sqrt(2 replicates)
    /// of itself.
    pub replicates: usize,
    /// Bytes that the tables of all fits at one time may take. Default: half of the machine's
    /// memory.
    pub memory_limit: Option<u64>,
    /// There is no result if it takes longer.
    pub deadline: Option<Instant>,
    /// A flag that other threads may set. There is no result then.
    pub stop_flag: Option<Arc<AtomicBool>>,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { replicates: 100, memory_limit: None, deadline: None, stop_flag: None }
    }
}

/// Why there are no simulated errors.
#[derive(Debug, Error)]
pub enum BootstrapError {
    /// Nothing would be simulated.
    #[error("expected at least one replicate")]
    NoReplicates,
    /// The model is about other attributes, or another number of records, than the problem.
    #[error("the model was not fitted to this problem: {what} differ")]
    OtherProblem {
        /// What differs.
        what: &'static str,
    },
    /// The model was fitted with an approximate oracle.
    #[error("the model was fitted with the {oracle} oracle; error bars need an exact one")]
    Approximate {
        /// The oracle's name.
        oracle: String,
    },
    /// The stop flag was set.
    #[error("stopped before the last of {replicates} replicates")]
    Stopped {
        /// How many were asked for.
        replicates: usize,
    },
    /// A replicate could not be fitted.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The model cannot answer.
    #[error(transparent)]
    Inference(#[from] InferenceError),
}

impl Bootstrap {
    /// The error of each of `answers`, which are computed from the model and from each replicate.
    /// `model` must have been fitted to `problem`.
    ///
    /// The result depends neither on the number of threads nor on the order of the replicates.
    /// Cost: a fit from a warm start for each replicate.
    pub fn errors<A>(
        &self,
        problem: &Problem,
        model: &Model,
        answers: A,
        rng: &mut dyn Rng,
    ) -> Result<Vec<f64>, BootstrapError>
    where
        A: Fn(&Calibrated) -> Result<Vec<f64>, InferenceError> + Sync,
    {
        if self.replicates == 0 {
            return Err(BootstrapError::NoReplicates);
        }
        let settings = self.settings(problem, model)?;
        let calibrated = model.calibrate()?;
        let center = answers(&calibrated)?;
        let exact = measured(problem, &calibrated)?;
        let seeds: Vec<u64> = (0..self.replicates).map(|_| rng.random()).collect();
        let replicate = |&seed: &u64| -> Result<Vec<f64>, BootstrapError> {
            self.check_stop_flag()?;
            let simulated = simulate(problem, &exact, &mut ChaCha20Rng::seed_from_u64(seed));
            let limit = self.memory_limit.unwrap_or_else(crate::fit::default_memory_limit);
            let fitted = Fit::new(&simulated)
                .settings(settings.clone())
                .memory_limit(limit / rayon::current_num_threads() as u64)
                .deadline(self.deadline)
                .stop_flag(self.stop_flag.as_deref())
                .parallel(false)
                .warm_start(model)
                .run()?;
            // The fit ends early by the same flag.
            self.check_stop_flag()?;
            Ok(answers(&fitted.model.calibrate()?)?)
        };
        let replicates: Vec<Result<Vec<f64>, BootstrapError>> =
            seeds.par_iter().map(replicate).collect();
        let mut squares = vec![0.0; center.len()];
        for replicate in replicates {
            let deviations = replicate?.into_iter().zip(&center).map(|(found, at)| found - at);
            squares.iter_mut().zip(deviations).for_each(|(sum, d)| *sum += d * d);
        }
        Ok(squares.into_iter().map(|sum| (sum / self.replicates as f64).sqrt()).collect())
    }

    fn check_stop_flag(&self) -> Result<(), BootstrapError> {
        match &self.stop_flag {
            Some(flag) if flag.load(Ordering::Relaxed) => {
                Err(BootstrapError::Stopped { replicates: self.replicates })
            }
            _ => Ok(()),
        }
    }

    /// The settings of a replicate: the model's loss, less exactly minimised.
    fn settings(&self, problem: &Problem, model: &Model) -> Result<Settings, BootstrapError> {
        if problem.domain != *model.domain() {
            return Err(BootstrapError::OtherProblem { what: "the attributes" });
        }
        if (problem.total / model.total() - 1.0).abs() > 1e-9 {
            return Err(BootstrapError::OtherProblem { what: "the numbers of records" });
        }
        let origin = model.origin().cloned().unwrap_or_default();
        if model.origin().is_some() && !origin.oracle_is_exact {
            return Err(BootstrapError::Approximate { oracle: origin.oracle });
        }
        let answers: usize = problem.measurements.iter().map(|measured| measured.y.len()).sum();
        Ok(Settings {
            loss: origin.norm.parse().unwrap_or(Norm::L2),
            iterations: Some(ITERATIONS),
            gap: Some(GAP_PER_ANSWER * answers as f64),
            ..Settings::default()
        })
    }
}

/// The model's answers to the queries of all measurements.
fn measured(problem: &Problem, model: &Calibrated) -> Result<Vec<Vec<f64>>, InferenceError> {
    let cliques: Vec<_> = problem.measurements.iter().map(|m| m.clique.clone()).collect();
    let marginals = model.marginals(&cliques)?;
    let pairs = problem.measurements.iter().zip(marginals);
    let answered = pairs.map(|(Measurement { query, .. }, marginal)| {
        let mut answers = vec![0.0; query.rows()];
        query.apply(marginal.values(), &mut answers, &mut vec![0.0; query.scratch_len()]);
        answers
    });
    Ok(answered.collect())
}

/// The problem with these answers and new noise.
fn simulate(problem: &Problem, exact: &[Vec<f64>], rng: &mut ChaCha20Rng) -> Problem {
    let pairs = problem.measurements.iter().zip(exact);
    let measurements: Vec<Measurement> = pairs
        .map(|(measured, exact)| {
            let y = exact.iter().map(|answer| answer + measured.stddev * gaussian(rng)).collect();
            Measurement { y, ..measured.clone() }
        })
        .collect();
    // Noise can make the estimate of a small total negative.
    let total = match problem.total_is_estimated {
        true => estimate_total(&measurements).filter(|&total| total >= 1.0).unwrap_or(1.0),
        false => problem.total,
    };
    Problem { measurements, total, ..problem.clone() }
}

/// A standard Gaussian number (Box and Muller).
fn gaussian(rng: &mut ChaCha20Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.random::<f64>()).cos()
}
