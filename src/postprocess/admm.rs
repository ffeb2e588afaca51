//! The alternating direction method of multipliers, with the stopping rule of KDD 2015, section 4.4.

use std::fmt;
use std::time::Instant;

use thiserror::Error;

use super::copies::{Change, Copies};
use super::map::Map;
use super::proximal::{Projection, Proximal};
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;

/// One of the functions whose sum is minimised, f(A x).
pub struct Term<'a> {
    /// A.
    pub map: Map<'a>,
    /// f.
    pub function: &'a dyn Proximal,
}

/// The factor of the sum of A_i^T A_i, with which x is found from the copies.
pub struct Factor(Cholesky);

/// How to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The penalty parameter: how hard the copies of x are pulled together. It changes the way; where it
    /// ends it changes only if several x are optimal, as they may be when no term is strictly convex.
    pub rho: f64,
    /// When to stop.
    pub tolerance: Tolerance,
    /// The largest number of iterations.
    pub iterations: usize,
    /// When they have to end, if not by then.
    pub deadline: Option<Instant>,
}

/// The root mean squares of residuals that are small enough: tau_1 and tau_2 of (22) are these times
/// the root of the number of entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// In the unit of the answers.
    pub primal: f64,
    /// In the unit of the objective's slope: objective per answer.
    pub dual: f64,
}

impl Tolerance {
    /// For the distance alpha |y|_1 + (1 - alpha) |y|_2^2 from answers with this noise: a part of the
    /// noise, and the same part of the distance's slope where the noise is, alpha + 2 (1 - alpha) stddev.
    ///
    /// For pure least squares both say the same of x. In L1 the slope is alpha whatever the noise.
    pub fn relative(part: f64, alpha: f64, stddev: f64) -> Self {
        Self { primal: part * stddev, dual: part * (alpha + 2.0 * (1.0 - alpha) * stddev) }
    }
}

/// What is left over, in terms of the noise. Our choice, far below it.
const RELATIVE_TOLERANCE: f64 = 1e-4;

impl Default for Settings {
    /// For answers in units of their noise, by the slope of L1, which is the least. rho as in section 5;
    /// the number of iterations is our choice.
    fn default() -> Self {
        let tolerance = Tolerance::relative(RELATIVE_TOLERANCE, 1.0, 1.0);
        Self { rho: 2.0, tolerance, iterations: 20_000, deadline: None }
    }
}

/// Settings that make no sense.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SettingsError {
    /// rho must pull.
    #[error("rho must be a positive number, and is {0}")]
    Rho(f64),
    /// The mixture has a part of one and the rest of the other.
    #[error("alpha must be between 0 and 1, and is {0}")]
    Alpha(f64),
}

impl Settings {
    /// For the distance alpha |y|_1 + (1 - alpha) |y|_2^2 from answers with this noise, in one unit.
    ///
    /// rho is twice what the distance is per square of the noise, a standard deviation away. The mixture
    /// is hardly curved when the noise is large: against the default of 2, trees take a third of the
    /// iterations, and as many whatever their length. Without noise it is the default.
    pub fn suited(alpha: f64, stddev: f64) -> Self {
        let stddev = if stddev > 0.0 && stddev.is_finite() { stddev } else { 1.0 };
        let default = Self::default();
        let rho = default.rho * (alpha / stddev + 1.0 - alpha);
        let tolerance = Tolerance::relative(RELATIVE_TOLERANCE, alpha, stddev);
        Self { rho, tolerance, ..default }
    }

    /// Whether rho is a positive number.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive = self.rho > 0.0 && self.rho.is_finite();
        positive.then_some(()).ok_or(SettingsError::Rho(self.rho))
    }
}

/// Where the iterations ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// x.
    pub x: Vec<f64>,
    /// How many iterations it took.
    pub iterations: usize,
    /// What was left.
    pub residuals: Residuals,
}

/// How far from optimal the last iterate is, each as a root mean square over its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// A_i x - z_i for each term: how far the copies disagree, (16).
    pub primal: Vec<f64>,
    /// rho A_i (x - x of the iteration before), (20) and (21), for the term where it is largest: how far
    /// the multiplier rho u_i is from a subgradient of f_i at z_i.
    ///
    /// z_i minimises with the x of before, x', so that rho (A_i x' - z_i + u_i') is a subgradient, and
    /// that is rho u_i less rho A_i (x - x'). The sum of A_i^T u_i is 0 because x is found last, or
    /// normal to the set that x is from, so that nothing else is left.
    pub dual: f64,
    /// Why there were no more iterations.
    pub ended: Ended,
}

/// Why iterations end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// No residual is above its tolerance.
    Converged,
    /// There were as many as allowed.
    Iterations,
    /// The time was over.
    Deadline,
}

impl Residuals {
    /// Whether none is above its tolerance.
    pub fn converged(&self) -> bool {
        self.ended == Ended::Converged
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
/// This is Algorithm 1 with scaled dual variables (there mu, nu, eta). One iteration's u and the next
/// one's z are found block by block: an iteration costs one pass over the entries of all terms, in
/// parallel where there are many, and what the maps and the solution for x need. The numbers do not
/// depend on the threads. The factor must be that of the terms' maps.
pub fn solve(
    terms: &[Term<'_>],
    factor: &Factor,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    run(terms, |sum| factor.0.solve_one(sum), start, settings)
}

/// The same among the x of a set, for functions of x itself: x is the projection of the mean of
/// z_i - u_i on the set.
pub fn solve_within(
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
    // On a thread of the pool: from outside, each iteration would be handed over to it several times.
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
    // The sum of A^T (z - u) over the copies, as far as it is known.
    let mut sum = vec![0.0; x.len()];
    copies.begin(rho, &x, &mut sum);
    let ended = Ended::Iterations;
    let mut residuals = Residuals { primal: vec![0.0; terms.len()], dual: 0.0, ended };
    for done in 1..=iterations {
        copies.minimise(rho, &mut sum);
        combine(&mut sum);
        let changes = copies.advance(rho, &mut x, &mut sum);
        residuals.dual = 0.0;
        for (primal, Change { apart, moved, entries }) in residuals.primal.iter_mut().zip(changes) {
            let root_mean = |square: f64| (square / entries.max(1) as f64).sqrt();
            *primal = root_mean(apart);
            residuals.dual = residuals.dual.max(rho * root_mean(moved));
        }
        let is_small = |primal: &f64| *primal <= tolerance.primal;
        if residuals.dual <= tolerance.dual && residuals.primal.iter().all(is_small) {
            residuals.ended = Ended::Converged;
        } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            residuals.ended = Ended::Deadline;
        } else {
            continue;
        }
        return Solution { x, iterations: done, residuals };
    }
    Solution { x, iterations, residuals }
}

impl Factor {
    /// For maps of which one is the identity, so that it exists.
    ///
    /// Costs entries^3 / 6 multiplications, once. `None` when an entry is not finite.
    pub fn new(maps: &[Map<'_>], entries: usize) -> Option<Self> {
        let mut gram = Matrix::zeros(entries, entries);
        maps.iter().for_each(|map| map.add_gram(&mut gram));
        Cholesky::new(gram).map(Self)
    }
}
