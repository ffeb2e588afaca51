//! The alternating direction method of multipliers (ADMM), with the stopping rule of KDD 2015,
//! section 4.4.

use std::fmt;
use std::time::Instant;

use thiserror::Error;

use super::copies::{Change, Copies};
use super::map::Map;
use super::proximal::{Projection, Proximal};
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;

/// A term f(A x) of the objective.
pub(crate) struct Term<'a> {
    /// A.
    pub(crate) map: Map<'a>,
    /// f.
    pub(crate) function: &'a dyn Proximal,
}

/// The Cholesky factor of the sum of A_i^T A_i, for the update of x.
pub(crate) struct Factor(Cholesky);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The penalty parameter of the constraints A_i x = z_i. It changes the path of the iterations.
    /// It changes the result only if several x are optimal, which is possible if no term is
    /// strictly convex.
    pub rho: f64,
    pub tolerance: Tolerance,
    /// The most iterations.
    pub iterations: usize,
    pub deadline: Option<Instant>,
}

/// Limits on the root mean squares of the residuals. tau_1 and tau_2 of (22) are these times the
/// root of the number of entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In the unit of the answers.
    pub primal: f64,
    /// In the unit of the objective's slope, objective per answer.
    pub dual: f64,
}

impl Tolerance {
    /// For the distance alpha |y|_1 + (1 - alpha) |y|_2^2 from answers with this noise: a fraction
    /// of the noise, and the same fraction of the slope of the distance at the noise, alpha + 2 (1
    /// - alpha) stddev.
    ///
    /// For pure least squares both limits mean the same accuracy of x. For pure L1 the slope is
    /// alpha for any noise.
    pub fn relative(fraction: f64, alpha: f64, stddev: f64) -> Self {
        Self { primal: fraction * stddev, dual: fraction * (alpha + 2.0 * (1.0 - alpha) * stddev) }
    }
}

/// The remaining residuals relative to the noise. Our choice, far below the noise.
const RELATIVE_TOLERANCE: f64 = 1e-4;

impl Default for Settings {
    /// For answers in units of their noise, with the slope of L1, which is the smallest. rho is
    /// from section 5; the number of iterations is our choice.
    fn default() -> Self {
        let tolerance = Tolerance::relative(RELATIVE_TOLERANCE, 1.0, 1.0);
        Self { rho: 2.0, tolerance, iterations: 20_000, deadline: None }
    }
}

#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SettingsError {
    #[error("rho must be a positive number, found {0}")]
    Rho(f64),
    #[error("alpha must be between 0 and 1, found {0}")]
    Alpha(f64),
}

impl Settings {
    /// For the distance alpha |y|_1 + (1 - alpha) |y|_2^2 from answers with this noise, both in the
    /// same unit.
    ///
    /// rho is the default times the distance at one standard deviation, divided by the variance.
    /// With large noise the mixture has little curvature; compared with the default of 2, trees
    /// take a third of the iterations, and the number does not depend on their length. Without
    /// noise rho is the default.
    pub fn suited(alpha: f64, stddev: f64) -> Self {
        let stddev = if stddev > 0.0 && stddev.is_finite() { stddev } else { 1.0 };
        let default = Self::default();
        let rho = default.rho * (alpha / stddev + 1.0 - alpha);
        let tolerance = Tolerance::relative(RELATIVE_TOLERANCE, alpha, stddev);
        Self { rho, tolerance, ..default }
    }

    /// Refuses a rho that is not a positive number.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive = self.rho > 0.0 && self.rho.is_finite();
        positive.then_some(()).ok_or(SettingsError::Rho(self.rho))
    }
}

/// The last iterate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    pub(crate) x: Vec<f64>,
    pub(crate) iterations: usize,
    pub(crate) residuals: Residuals,
}

/// Nonnegative counts, the result of post-processing.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    pub counts: Vec<f64>,
    pub iterations: usize,
    /// In units of the objective.
    pub residuals: Residuals,
}

/// Residuals of the last iterate, each as a root mean square over its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// A_i x - z_i for each term, (16).
    pub primal: Vec<f64>,
    /// The largest over the terms of rho A_i (x - x'), where x' is the x of the iteration before,
    /// (20) and (21). It is the distance of the multiplier rho u_i from a subgradient of f_i at
    /// z_i.
    ///
    /// z_i minimises with x', so rho (A_i x' - z_i + u_i') is a subgradient, which is rho u_i - rho
    /// A_i (x - x'). The sum of A_i^T u_i is 0 because x is updated last, or normal to the set of
    /// x. So there is no other residual.
    pub dual: f64,
    pub stop_reason: StopReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All residuals are within their tolerances.
    Converged,
    Iterations,
    Deadline,
}

impl Residuals {
    pub fn converged(&self) -> bool {
        self.stop_reason == StopReason::Converged
    }
}

impl fmt::Display for Residuals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let primal: Vec<String> = self.primal.iter().map(|r| format!("{r:.1e}")).collect();
        let state = if self.converged() { "converged" } else { "not converged" };
        write!(f, "{state}; residuals: primal {}, dual {:.1e}", primal.join(", "), self.dual)
    }
}

/// Minimises the sum over the terms of f_i(A_i x), from `start`, until (22) holds:
///
/// - z_i = argmin f_i(z) + rho/2 |A_i x - z + u_i|^2 for each term,
/// - x = argmin of the sum of |A_i x - z_i + u_i|^2,
/// - u_i = u_i + A_i x - z_i.
///
/// This is Algorithm 1 with scaled dual variables (mu, nu, eta in the paper). The u of one
/// iteration and the z of the next are updated block by block. An iteration costs one pass over the
/// entries of all terms, in parallel if there are many, plus the maps and the update of x. The
/// result does not depend on the number of threads. `factor` must be that of the maps of the terms.
pub(crate) fn solve(
    terms: &[Term<'_>],
    factor: &Factor,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    run(terms, |sum| factor.0.solve_one(sum), start, settings)
}

/// The same for x in a set and functions of x itself. x is the projection of the mean of z_i - u_i
/// on the set.
pub(crate) fn solve_within(
    set: &dyn Projection,
    functions: &[&dyn Proximal],
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    let of = |&function| Term { map: Map::Identity, function };
    let terms: Vec<Term<'_>> = functions.iter().map(of).collect();
    let combine = |sum: &mut [f64]| {
        if terms.len() > 1 {
            sum.iter_mut().for_each(|s| *s /= terms.len() as f64);
        }
        set.project(sum);
    };
    run(&terms, combine, start, settings)
}

/// `combine` replaces the sum of A^T (z - u) over the copies by x.
fn run(
    terms: &[Term<'_>],
    combine: impl Fn(&mut [f64]) + Send,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    // On a thread of the pool. From outside, each iteration would enter the pool several times.
    rayon::scope(|_| iterate(terms, combine, start, settings))
}

fn iterate(
    terms: &[Term<'_>],
    combine: impl Fn(&mut [f64]),
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    let Settings { rho, tolerance, iterations, deadline } = *settings;
    let mut x = start;
    let mut copies = Copies::new(terms, &x);
    // The sum of A^T (z - u) over the copies updated so far.
    let mut sum = vec![0.0; x.len()];
    copies.begin(rho, &x, &mut sum);
    let stop_reason = StopReason::Iterations;
    let mut residuals = Residuals { primal: vec![0.0; terms.len()], dual: 0.0, stop_reason };
    for done in 1..=iterations {
        copies.minimise(rho, &mut sum);
        combine(&mut sum);
        let changes = copies.advance(rho, &mut x, &mut sum);
        residuals.dual = 0.0;
        for (primal, Change { residual, step, entries }) in residuals.primal.iter_mut().zip(changes)
        {
            let root_mean = |square: f64| (square / entries.max(1) as f64).sqrt();
            *primal = root_mean(residual);
            residuals.dual = residuals.dual.max(rho * root_mean(step));
        }
        let is_small = |primal: &f64| *primal <= tolerance.primal;
        if residuals.dual <= tolerance.dual && residuals.primal.iter().all(is_small) {
            residuals.stop_reason = StopReason::Converged;
        } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            residuals.stop_reason = StopReason::Deadline;
        } else {
            continue;
        }
        return Solution { x, iterations: done, residuals };
    }
    Solution { x, iterations, residuals }
}

impl Factor {
    /// One of the maps has to be the identity, so that the factor exists.
    ///
    /// Costs entries^3 / 6 multiplications. `None` if an entry is not finite.
    pub(crate) fn new(maps: &[Map<'_>], entries: usize) -> Option<Self> {
        let mut gram = Matrix::zeros(entries, entries);
        maps.iter().for_each(|map| map.add_gram(&mut gram));
        Cholesky::new(gram).map(Self)
    }
}
