//! The alternating direction method of multipliers, with the stopping rule of KDD 2015, section 4.4.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use super::proximal::Proximal;
use crate::numeric::cholesky::Cholesky;
use crate::numeric::distance::squared_distance;
use crate::numeric::matrix::Matrix;
use crate::numeric::pointwise::add_scaled;
use crate::numeric::product::{View, add_transposed, multiply, product};
use crate::numeric::sparse::CsrMatrix;

/// Entries that are worked on at a time, so that they stay in the nearest cache. Our choice.
const BLOCK: usize = 512;

/// One of the functions whose sum is minimised, f(A x).
pub struct Term<'a> {
    /// A.
    pub map: Map<'a>,
    /// f.
    pub function: &'a dyn Proximal,
}

/// A linear map.
#[derive(Clone, Copy)]
pub enum Map<'a> {
    /// I.
    Identity,
    /// Any matrix.
    Dense(&'a Matrix),
    /// Any matrix, with most entries zero.
    Sparse(&'a CsrMatrix),
}

/// Solves G x = q, where G is the sum of A_i^T A_i.
pub enum Combine {
    /// For maps that are all the identity: G = m I, so that x is a mean.
    Mean,
    /// For any maps: the factor of G, computed once.
    Factor(Cholesky),
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
    /// rho as in section 5; the others are our choice: what is left is far below the noise.
    fn default() -> Self {
        Self { rho: 2.0, tolerance: 1e-3, iterations: 5000 }
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
/// This is Algorithm 1 with scaled dual variables (there mu, nu, eta). Where entries do not depend on
/// each other, one iteration's x and u and the next one's z are found block by block: an iteration
/// costs one pass over the entries of all terms, and what the other functions, the maps, and the
/// solution for x need.
pub fn solve(
    terms: &[Term<'_>],
    combine: &Combine,
    start: Vec<f64>,
    settings: &Settings,
) -> Solution {
    let Settings { rho, tolerance, iterations } = *settings;
    let mut x = start;
    let mut copies: Vec<Copy> = terms.iter().map(|term| Copy::new(term, &x)).collect();
    if copies.is_empty() {
        let residuals = Residuals { primal: Vec::new(), dual: 0.0, converged: true };
        return Solution { x, iterations: 0, residuals };
    }
    // The sum of A^T (z - u) over the copies, as far as it is known.
    let mut sum = vec![0.0; x.len()];
    let mut residuals = Residuals { primal: vec![0.0; copies.len()], dual: 0.0, converged: false };
    for start in (0..x.len()).step_by(BLOCK) {
        let block = start..x.len().min(start + BLOCK);
        copies.iter_mut().for_each(|copy| copy.begin(rho, &block, &x, &mut sum));
    }
    copies.iter_mut().for_each(Copy::begin_mapped);
    for done in 1..=iterations {
        for copy in &mut copies {
            copy.minimise(rho, &mut sum);
        }
        if let Combine::Factor(factor) = combine {
            copies.iter().for_each(|copy| copy.add_to(&mut sum, 0));
            factor.solve_one(&mut sum);
        }
        let mut squares = vec![0.0; copies.len()];
        let mut dual_square = 0.0;
        for start in (0..x.len()).step_by(BLOCK) {
            let block = start..x.len().min(start + BLOCK);
            let (x_block, sum_block) = (&mut x[block.clone()], &mut sum[block.clone()]);
            if let Combine::Mean = combine {
                copies.iter().for_each(|copy| copy.add_to(sum_block, start));
                let share = 1.0 / copies.len() as f64;
                sum_block.iter_mut().for_each(|s| *s *= share);
            }
            dual_square += squared_distance(sum_block, x_block, false);
            x_block.copy_from_slice(sum_block);
            for (square, copy) in squares.iter_mut().zip(&mut copies) {
                *square += copy.update_dual(&block, x_block);
            }
            sum_block.fill(0.0);
            copies.iter_mut().for_each(|copy| copy.begin(rho, &block, &x, &mut sum));
        }
        for (square, copy) in squares.iter_mut().zip(&mut copies) {
            *square += copy.update_mapped_dual(&x);
            copy.begin_mapped();
        }
        let root_mean = |square: f64, count: usize| (square / count.max(1) as f64).sqrt();
        residuals.dual = rho * root_mean(dual_square, x.len());
        for ((residual, copy), square) in residuals.primal.iter_mut().zip(&copies).zip(squares) {
            *residual = root_mean(square, copy.z.len());
        }
        let all = residuals.primal.iter().chain([&residuals.dual]);
        residuals.converged = all.into_iter().all(|residual| *residual <= tolerance);
        if residuals.converged {
            return Solution { x, iterations: done, residuals };
        }
    }
    Solution { x, iterations, residuals }
}

/// A term with its variables.
struct Copy<'a> {
    term: &'a Term<'a>,
    /// z, or, before a function of all entries has been minimised, A x + u.
    z: Vec<f64>,
    u: Vec<f64>,
    /// A x, and z - u; empty for the identity.
    image: Vec<f64>,
    difference: Vec<f64>,
}

impl<'a> Copy<'a> {
    fn new(term: &'a Term<'a>, x: &[f64]) -> Self {
        let (rows, needed) = match term.map {
            Map::Identity => (x.len(), 0),
            Map::Dense(matrix) => (matrix.rows(), matrix.rows()),
            Map::Sparse(matrix) => (matrix.rows(), matrix.rows()),
        };
        let (mut image, difference) = (vec![0.0; needed], vec![0.0; needed]);
        if needed > 0 {
            term.map.apply(x, &mut image);
        }
        Self { term, z: vec![0.0; rows], u: vec![0.0; rows], image, difference }
    }

    fn is_mapped(&self) -> bool {
        !matches!(self.term.map, Map::Identity)
    }

    /// Whether z is found block by block.
    fn is_local(&self) -> bool {
        !self.is_mapped() && self.term.function.is_separable()
    }

    /// Begins with z of the next iteration, on a block of entries. Where these do not depend on others
    /// it is found, and z - u goes to the sum.
    fn begin(&mut self, rho: f64, block: &Range<usize>, x: &[f64], sum: &mut [f64]) {
        if self.is_mapped() {
            return;
        }
        let (z, u) = (&mut self.z[block.clone()], &self.u[block.clone()]);
        add(&x[block.clone()], u, z);
        if self.term.function.is_separable() {
            self.term.function.minimise(rho, block.start, z);
            add_difference(z, u, &mut sum[block.clone()]);
        }
    }

    /// The same for a term with a map.
    fn begin_mapped(&mut self) {
        if self.is_mapped() {
            add(&self.image, &self.u, &mut self.z);
        }
    }

    /// Finds z if it has not been found block by block. With a map, A^T (z - u) goes to the sum.
    fn minimise(&mut self, rho: f64, sum: &mut [f64]) {
        if self.is_local() {
            return;
        }
        self.term.function.minimise(rho, 0, &mut self.z);
        if self.is_mapped() {
            self.difference.fill(0.0);
            add_difference(&self.z, &self.u, &mut self.difference);
            self.term.map.add_transposed(&self.difference, sum);
        }
    }

    /// Adds z - u to a part of the sum from `start` on, if it is not in there yet.
    fn add_to(&self, sum: &mut [f64], start: usize) {
        if !self.is_mapped() && !self.is_local() {
            let part = start..start + sum.len();
            add_difference(&self.z[part.clone()], &self.u[part], sum);
        }
    }

    /// Adds x - z to u on a block of entries, and returns the sum of its squares.
    fn update_dual(&mut self, block: &Range<usize>, x: &[f64]) -> f64 {
        if self.is_mapped() {
            return 0.0;
        }
        add_residual(x, &self.z[block.clone()], &mut self.u[block.clone()])
    }

    /// The same with A x, for a term with a map.
    fn update_mapped_dual(&mut self, x: &[f64]) -> f64 {
        if !self.is_mapped() {
            return 0.0;
        }
        self.term.map.apply(x, &mut self.image);
        add_residual(&self.image, &self.z, &mut self.u)
    }
}

/// Adds x - z to u, and returns the sum of its squares.
fn add_residual(x: &[f64], z: &[f64], u: &mut [f64]) -> f64 {
    // Eight sums, so that the additions need not wait for each other.
    let mut squares = [0.0; 8];
    let mut add = |u: &mut [f64], x: &[f64], z: &[f64]| {
        for (((square, u), x), z) in squares.iter_mut().zip(u).zip(x).zip(z) {
            let residual = x - z;
            *u += residual;
            *square += residual * residual;
        }
    };
    let mut us = u.chunks_exact_mut(8);
    let (xs, zs) = (x.chunks_exact(8), z.chunks_exact(8));
    let rest = (xs.remainder(), zs.remainder());
    us.by_ref().zip(xs).zip(zs).for_each(|((u, x), z)| add(u, x, z));
    add(us.into_remainder(), rest.0, rest.1);
    squares.iter().sum()
}

impl Map<'_> {
    fn apply(self, x: &[f64], out: &mut [f64]) {
        match self {
            Map::Identity => out.copy_from_slice(x),
            Map::Dense(matrix) => multiply(matrix, x, out),
            Map::Sparse(matrix) => {
                for (row, out) in out.iter_mut().enumerate() {
                    *out = matrix.row(row).map(|(col, value)| value * x[col]).sum();
                }
            }
        }
    }

    fn add_transposed(self, y: &[f64], out: &mut [f64]) {
        match self {
            Map::Identity => out.iter_mut().zip(y).for_each(|(out, y)| *out += y),
            Map::Dense(matrix) => add_transposed(matrix, y, out),
            Map::Sparse(matrix) => {
                for (row, y) in y.iter().enumerate() {
                    matrix.row(row).for_each(|(col, value)| out[col] += value * y);
                }
            }
        }
    }

    /// Adds A^T A to `gram`.
    fn add_gram(self, gram: &mut Matrix) {
        match self {
            Map::Identity => (0..gram.rows()).for_each(|i| gram[(i, i)] += 1.0),
            Map::Dense(matrix) => {
                let squares = product(View::from(matrix).transposed(), matrix);
                add_scaled(1.0, squares.values(), gram.values_mut());
            }
            Map::Sparse(matrix) => {
                for row in 0..matrix.rows() {
                    for (a, left) in matrix.row(row) {
                        matrix.row(row).for_each(|(b, right)| gram[(a, b)] += left * right);
                    }
                }
            }
        }
    }
}

impl Combine {
    /// The factor of the sum of A_i^T A_i over maps of which one is the identity, so that it exists.
    ///
    /// Costs entries^3 / 6 multiplications, once. `None` when an entry is not finite.
    pub fn factor(maps: &[Map<'_>], entries: usize) -> Option<Self> {
        let mut gram = Matrix::zeros(entries, entries);
        maps.iter().for_each(|map| map.add_gram(&mut gram));
        Cholesky::new(gram).map(Self::Factor)
    }
}

fn add(x: &[f64], u: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).zip(u).for_each(|((out, x), u)| *out = x + u);
}

fn add_difference(z: &[f64], u: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(z).zip(u).for_each(|((out, z), u)| *out += z - u);
}
