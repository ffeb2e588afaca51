//! The alternating direction method of multipliers, with the stopping rule of KDD 2015, section 4.4.

use std::fmt;

use thiserror::Error;

use super::copies::Copies;
use super::map::Map;
use super::proximal::{Projection, Proximal};
use crate::numeric::cholesky::Cholesky;
use crate::numeric::matrix::Matrix;

/// One of the functions whose sum is minimised, f(A x).
pub struct Term<'a> {
    /// A.
    pub map: Map<'a>,
    /// f.
    pub function: &'a dyn Proximal,
}

/// How x is found from the copies: the x that minimises the sum of |A_i x - z_i + u_i|^2.
pub enum Combine<'a> {
    /// Among all x: the factor of the sum of A_i^T A_i, computed once.
    Factor(Cholesky),
    /// Among those of a set, for maps that are all the identity: the projection of the mean.
    Within(&'a dyn Projection),
}

/// How to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The penalty parameter: how hard the copies of x are pulled together. It changes the way, not
    /// where it ends.
    pub rho: f64,
    /// The root mean square of every residual that is small enough: the tolerances tau_1 and tau_2 of
    /// (22) are this times the root of the number of entries.
    pub tolerance: f64,
    /// The largest number of iterations.
    pub iterations: usize,
}

impl Default for Settings {
    /// For answers in units of their noise. rho as in section 5; the others are our choice: what is left
    /// is far below the noise.
    fn default() -> Self {
        Self { rho: 2.0, tolerance: 1e-4, iterations: 20_000 }
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
        let Self { rho, tolerance, iterations } = Self::default();
        let stddev = if stddev > 0.0 && stddev.is_finite() { stddev } else { 1.0 };
        let rho = rho * (alpha / stddev + 1.0 - alpha);
        Self { rho, tolerance: tolerance * stddev, iterations }
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
    /// rho (x - x of the iteration before), (20) and (21).
    pub dual: f64,
    /// Whether none is above the tolerance.
    pub converged: bool,
}

impl fmt::Display for Residuals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let primal: Vec<String> = self.primal.iter().map(|r| format!("{r:.1e}")).collect();
        let state = if self.converged { "converged" } else { "not converged" };
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
/// depend on the threads.
pub fn solve(
    terms: &[Term<'_>],
    combine: &Combine<'_>,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    // On a thread of the pool: from outside, each iteration would be handed over to it several times.
    rayon::scope(|_| iterate(terms, combine, start, settings))
}

fn iterate(
    terms: &[Term<'_>],
    combine: &Combine<'_>,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    let Settings { rho, tolerance, iterations } = *settings;
    let mut x = start;
    let mut copies = Copies::new(terms, &x);
    // The sum of A^T (z - u) over the copies, as far as it is known.
    let mut sum = vec![0.0; x.len()];
    copies.begin(rho, &x, &mut sum);
    let mut residuals = Residuals { primal: vec![0.0; terms.len()], dual: 0.0, converged: false };
    for done in 1..=iterations {
        copies.minimise(rho, &mut sum);
        combine.solve(terms.len(), &mut sum);
        let change = copies.advance(rho, &mut x, &mut sum);
        let root_mean = |square: f64, count: usize| (square / count.max(1) as f64).sqrt();
        residuals.dual = rho * root_mean(change.x, x.len());
        for (residual, (square, count)) in residuals.primal.iter_mut().zip(change.apart) {
            *residual = root_mean(square, count);
        }
        residuals.converged =
            residuals.primal.iter().chain([&residuals.dual]).all(|residual| *residual <= tolerance);
        if residuals.converged {
            return Solution { x, iterations: done, residuals };
        }
    }
    Solution { x, iterations, residuals }
}

impl Combine<'_> {
    /// The factor of the sum of A_i^T A_i over maps of which one is the identity, so that it exists.
    ///
    /// Costs entries^3 / 6 multiplications, once. `None` when an entry is not finite.
    pub fn factor(maps: &[Map<'_>], entries: usize) -> Option<Self> {
        let mut gram = Matrix::zeros(entries, entries);
        maps.iter().for_each(|map| map.add_gram(&mut gram));
        Cholesky::new(gram).map(Self::Factor)
    }

    /// Replaces the sum of A^T (z - u) over so many copies by x.
    fn solve(&self, copies: usize, sum: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.solve_one(sum),
            Self::Within(set) => {
                if copies > 1 {
                    sum.iter_mut().for_each(|s| *s /= copies as f64);
                }
                set.project(sum);
            }
        }
    }
}
