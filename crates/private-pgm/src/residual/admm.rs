//! The quadratic program of GReM-LNN, by the alternating direction method of multipliers.
//!
//! Minimise 1/2 sum_B w_B |q_B - r_B|^2 over residuals q with M_C q >= 0 for every constrained
//! clique C, where M_C q is the marginal on C. With copies z_C = M_C q, multipliers and penalties
//! p_C, both updates are in closed form. The residual spaces within C are orthogonal, so
//! sum_C p_C M_C^T M_C is a number on each of them, and
//!
//! q_B = (w_B r_B + sum_C p_C split(z_C - u_C)_B / n_CB) / (w_B + sum_C p_C / n_CB),
//!
//! with n_CB the product of n_i over C minus B; z_C = max(M_C q + u_C, 0). An iteration costs a
//! constant times the cells of the constrained marginals.
//!
//! *Certificate.* The multipliers l_C = -p_C u_C are never negative. With d = sum_C M_C^T l_C, weak
//! duality bounds the optimum from below by -sum_B (|d_B|^2 / (2 w_B) + <d_B, r_B>) minus the sum
//! over C of the total of l_C times the mean cell. From above it is bounded by q scaled towards
//! zero, which moves all marginals towards uniform ones, until no cell is negative.
//!
//! Reference: Boyd, Parikh, Chu, Peleato, Eckstein, Distributed optimization and statistical
//! learning via the alternating direction method of multipliers, 2011, sections 3.3 and 3.4.

use super::nonnegative::Stopping;
use super::transform::{assemble, split};
use crate::numeric::memory;

/// Relaxation of the first update (Boyd et al., section 3.4.3).
const RELAXATION: f64 = 1.7;

/// Iterations between two evaluations of the gap, and between two adjustments of the penalty.
const CHECK_INTERVAL: usize = 10;

/// Iterations after which the penalty stays, so that the method converges.
const ADJUSTED_ITERATIONS: usize = 1000;

/// A residual that was measured.
pub(super) struct Variable<'a> {
    pub(super) target: &'a [f64],
    pub(super) weight: f64,
}

/// A constrained marginal.
pub(super) struct Table {
    shape: Vec<usize>,
    /// For each subset of the axes, its variable.
    parts: Vec<Option<usize>>,
    /// For each subset of the axes, the cells over the other axes.
    outside: Vec<f64>,
    total: f64,
    /// The cell of the uniform marginal.
    mean: f64,
    /// The penalty for a factor of 1: the weight of a cell, where it differs between residuals the
    /// geometric mean over their dimensions.
    scale: f64,
}

impl Table {
    pub(super) fn new(
        shape: Vec<usize>,
        parts: Vec<Option<usize>>,
        outside: Vec<f64>,
        total: f64,
        variables: &[Variable<'_>],
    ) -> Self {
        let (mut logarithms, mut dimensions) = (0.0, 0.0);
        for (part, outside) in parts.iter().zip(&outside) {
            if let Some(variable) = part.map(|index| &variables[index]) {
                let dimension = variable.target.len() as f64;
                logarithms += dimension * (variable.weight * outside).ln();
                dimensions += dimension;
            }
        }
        let scale = if dimensions > 0.0 { (logarithms / dimensions).exp() } else { 1.0 };
        let mean = total / outside[0];
        Self { shape, parts, outside, total, mean, scale }
    }

    fn marginal(&self, point: &[Vec<f64>]) -> Vec<f64> {
        let total = [self.total];
        let mut residuals: Vec<Option<&[f64]>> =
            self.parts.iter().map(|part| part.map(|index| &point[index][..])).collect();
        residuals[0] = Some(&total);
        assemble(&self.shape, &residuals).expect("there is a total")
    }

    /// Calls `visit` with each variable, the adjoint's part of it and n_CB. Returns the sum of the
    /// cells.
    fn adjoint(&self, cells: &[f64], mut visit: impl FnMut(usize, &[f64], f64)) -> f64 {
        let residuals = split(&self.shape, cells);
        for ((part, residual), &outside) in self.parts.iter().zip(&residuals).zip(&self.outside) {
            if let &Some(index) = part {
                visit(index, residual, outside);
            }
        }
        residuals[0][0]
    }
}

pub(super) struct Program<'a> {
    pub(super) variables: Vec<Variable<'a>>,
    pub(super) tables: Vec<Table>,
}

pub(super) struct Solution {
    /// Feasible.
    pub(super) point: Vec<Vec<f64>>,
    pub(super) distance: f64,
    pub(super) gap: f64,
    pub(super) iterations: usize,
}

/// Copies and scaled multipliers, one table per constrained marginal.
struct State {
    factor: f64,
    z: Vec<Vec<f64>>,
    u: Vec<Vec<f64>>,
}

impl Program<'_> {
    pub(super) fn solve(
        &self,
        stopping: Stopping,
        continues: &mut dyn FnMut(usize) -> bool,
    ) -> Solution {
        let mut point: Vec<Vec<f64>> =
            self.variables.iter().map(|variable| memory::copied(&variable.target)).collect();
        let mut marginals = self.marginals(&point);
        let (shrunk, distance) = self.feasible(&point, &marginals);
        let mut best = Solution { point: shrunk, distance, gap: distance, iterations: 0 };
        let mut lower = 0.0;
        let clipped = |m: &Vec<f64>| m.iter().map(|cell| cell.max(0.0)).collect::<Vec<f64>>();
        let mut state = State {
            factor: 1.0,
            z: marginals.iter().map(clipped).collect(),
            u: marginals.iter().map(|m| memory::zeros(m.len())).collect(),
        };
        let is_done = |best: &Solution| best.gap <= stopping.gap * (1.0 + best.distance);
        while !is_done(&best) && best.iterations < stopping.iterations && continues(best.iterations)
        {
            self.update_point(&state, &mut point);
            marginals = self.marginals(&point);
            let (primal, dual) = self.update_copies(&marginals, &mut state);
            best.iterations += 1;
            if best.iterations.is_multiple_of(CHECK_INTERVAL) || best.iterations < CHECK_INTERVAL {
                lower = f64::max(lower, self.lower_bound(&state));
                let (shrunk, distance) = self.feasible(&point, &marginals);
                if distance < best.distance {
                    (best.point, best.distance) = (shrunk, distance);
                }
                best.gap = (best.distance - lower).max(0.0);
                if best.iterations < ADJUSTED_ITERATIONS {
                    state.balance(primal, dual);
                }
            }
        }
        best
    }

    fn marginals(&self, point: &[Vec<f64>]) -> Vec<Vec<f64>> {
        self.tables.iter().map(|table| table.marginal(point)).collect()
    }

    fn update_point(&self, state: &State, point: &mut [Vec<f64>]) {
        let mut weights = Vec::with_capacity(point.len());
        for (variable, residual) in self.variables.iter().zip(&mut *point) {
            weights.push(variable.weight);
            let cells = residual.iter_mut().zip(variable.target);
            cells.for_each(|(cell, target)| *cell = variable.weight * target);
        }
        for ((table, z), u) in self.tables.iter().zip(&state.z).zip(&state.u) {
            let cells: Vec<f64> = z.iter().zip(u).map(|(z, u)| z - u).collect();
            table.adjoint(&cells, |index, part, outside| {
                let weight = state.factor * table.scale / outside;
                weights[index] += weight;
                point[index].iter_mut().zip(part).for_each(|(cell, p)| *cell += weight * p);
            });
        }
        for (residual, weight) in point.iter_mut().zip(weights) {
            residual.iter_mut().for_each(|cell| *cell /= weight);
        }
    }

    /// Returns the squared norms of the primal and the dual residual.
    fn update_copies(&self, marginals: &[Vec<f64>], state: &mut State) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0, 0.0);
        let State { factor, z, u } = state;
        for (((table, m), z), u) in self.tables.iter().zip(marginals).zip(z).zip(u) {
            let (mut apart, mut moved) = (0.0, 0.0);
            for ((&m, z), u) in m.iter().zip(z).zip(u) {
                let relaxed = RELAXATION * m + (1.0 - RELAXATION) * *z;
                let before = std::mem::replace(z, (relaxed + *u).max(0.0));
                *u = (relaxed + *u).min(0.0);
                apart += (m - *z) * (m - *z);
                moved += (*z - before) * (*z - before);
            }
            primal += table.scale * apart;
            dual += *factor * *factor * table.scale * moved;
        }
        (primal, dual)
    }

    /// A lower bound on the optimum, from the multipliers.
    fn lower_bound(&self, state: &State) -> f64 {
        let mut adjoint: Vec<Vec<f64>> =
            self.variables.iter().map(|variable| memory::zeros(variable.target.len())).collect();
        let mut bound = 0.0;
        for (table, u) in self.tables.iter().zip(&state.u) {
            let multipliers: Vec<f64> = u.iter().map(|u| -state.factor * table.scale * u).collect();
            let sum = table.adjoint(&multipliers, |index, part, outside| {
                let cells = adjoint[index].iter_mut().zip(part);
                cells.for_each(|(cell, p)| *cell += p / outside);
            });
            bound -= sum * table.mean;
        }
        for (variable, adjoint) in self.variables.iter().zip(&adjoint) {
            let products = adjoint.iter().zip(variable.target);
            bound -= products.map(|(d, r)| d * (0.5 * d / variable.weight + r)).sum::<f64>();
        }
        bound
    }

    /// The point scaled towards zero until its marginals are not negative, and its distance.
    fn feasible(&self, point: &[Vec<f64>], marginals: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
        let mut kept = 1.0f64;
        for (table, marginal) in self.tables.iter().zip(marginals) {
            let least = marginal.iter().copied().fold(0.0, f64::min);
            kept = kept.min(table.mean / (table.mean - least));
        }
        let mut distance = 0.0;
        let shrunk = self.variables.iter().zip(point).map(|(variable, residual)| {
            let shrunk: Vec<f64> = residual.iter().map(|cell| kept * cell).collect();
            let squares = shrunk.iter().zip(variable.target).map(|(q, r)| (q - r) * (q - r));
            distance += 0.5 * variable.weight * squares.sum::<f64>();
            shrunk
        });
        (shrunk.collect(), distance)
    }
}

impl State {
    /// Keeps the two residuals within a factor of 10 (Boyd et al., section 3.4.1).
    fn balance(&mut self, primal: f64, dual: f64) {
        let change = match () {
            () if primal > 100.0 * dual => 2.0,
            () if dual > 100.0 * primal => 0.5,
            () => return,
        };
        self.factor *= change;
        self.u.iter_mut().flatten().for_each(|u| *u /= change);
    }
}
