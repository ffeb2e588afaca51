//! One proximal step: its dual, and Newton's method on it.

use crate::factor::{CliqueVector, Marginals, Potentials};
use crate::fit::minimisation::Minimisation;
use crate::loss::LinearLoss;
use crate::numeric::cholesky::Cholesky;
use crate::numeric::matrix::Matrix;
use crate::numeric::pointwise::{add_scaled, dot};
use crate::optimiser::Iterate;
use crate::oracle::MarginalOracle;

/// The largest factor on t from one proximal step to the next; tau falls by twice as much. 5 in place
/// of 2 saves a third of the Newton steps on 300 random problems.
const LENGTHEN: f64 = 5.0;
/// The factor on t after this many Newton steps, and after more.
const FACTORS: [(usize, f64); 2] = [(11, LENGTHEN), (17, 2.0)];
/// The factor on the largest factor after a proximal step that was too long.
const RETREAT: f64 = 0.4;
/// The largest change of a potential per unit of slope; beyond, rounding decides.
const LONGEST: f64 = 3e6;
/// By how much potentials are moved for a difference of marginals.
const DIFFERENCE: f64 = 1e-3;

/// The slopes, the centre of the proximal step, and the model that follows from both.
pub(super) struct Search<'a> {
    minimisation: &'a Minimisation<'a>,
    oracle: &'a mut dyn MarginalOracle,
    loss: &'a mut LinearLoss,
    total: f64,
    y: Vec<f64>,
    /// theta_k.
    centre: Potentials,
    t: f64,
    longest_t: f64,
    tau: f64,
    /// The largest factor on t from here on.
    growth: f64,
    /// Where the last proximal step began, with the t and tau before it.
    saved: Option<Saved>,
    pub(super) calls: usize,
    pub(super) now: Point,
    spread: CliqueVector,
}

/// Slopes and their model.
pub(super) struct Point {
    lambda: Vec<f64>,
    pub(super) iterate: Iterate,
    pub(super) residuals: Vec<f64>,
    /// Of what is minimised.
    value: f64,
}

struct Saved {
    centre: Potentials,
    lambda: Vec<f64>,
    t: f64,
    tau: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        minimisation: &'a Minimisation<'a>,
        oracle: &'a mut dyn MarginalOracle,
        loss: &'a mut LinearLoss,
        start: Potentials,
    ) -> Self {
        let y = loss.targets();
        let iterate = Iterate {
            marginals: Marginals::zeros(start.layout()),
            potentials: start.clone(),
            log_z: 0.0,
        };
        let mut spread = CliqueVector::zeros(start.layout());
        let scale = largest_entry(loss, y.len(), &mut spread);
        let lambda = vec![0.0; y.len()];
        let now = Point { lambda: lambda.clone(), iterate, residuals: y.clone(), value: 0.0 };
        let mut search = Self {
            minimisation,
            oracle,
            loss,
            total: minimisation.total,
            y,
            centre: start,
            t: 0.1 / scale,
            longest_t: LONGEST / scale,
            tau: 0.0,
            growth: LENGTHEN,
            saved: None,
            calls: 0,
            now,
            spread,
        };
        search.now = search.point(lambda);
        let loss: f64 = search.now.residuals.iter().map(|r| r.abs()).sum();
        search.tau = 0.5 * loss / search.y.len() as f64;
        search
    }

    fn point(&mut self, lambda: Vec<f64>) -> Point {
        self.loss.apply_transpose(&lambda, &mut self.spread);
        let mut potentials = self.centre.clone();
        add_scaled(-self.t, self.spread.values(), potentials.values_mut());
        let mut marginals = Marginals::zeros(potentials.layout());
        let log_z = self.oracle.marginals(&potentials, self.total, &mut marginals);
        self.calls += 1;
        let mut residuals = vec![0.0; self.y.len()];
        self.loss.apply(&marginals, &mut residuals);
        residuals.iter_mut().zip(&self.y).for_each(|(r, y)| *r -= y);
        let barrier: f64 = lambda.iter().map(|l| ((1.0 - l) * (1.0 + l)).ln()).sum();
        let value = dot(&lambda, &self.y) + self.total / self.t * log_z - self.tau * barrier;
        Point { lambda, iterate: Iterate { potentials, marginals, log_z }, residuals, value }
    }

    /// D(lambda).
    pub(super) fn lower_bound(&mut self) -> f64 {
        self.loss.apply_transpose(&self.now.lambda, &mut self.spread);
        let mut scores = self.minimisation.base.clone();
        add_scaled(-1.0, self.spread.values(), scores.values_mut());
        let Some(largest) = self.oracle.maximum(&scores) else { return f64::NEG_INFINITY };
        -dot(&self.now.lambda, &self.y) - self.total * largest
    }

    /// Makes the model of now the centre of the next step. `wanted` is the gap that is wanted,
    /// `newton_steps` how many this step has taken.
    pub(super) fn proximal_step(&mut self, wanted: f64, newton_steps: usize) {
        self.centre.clone_from(&self.now.iterate.potentials);
        for table in 0..self.centre.layout().cliques().len() {
            let cells = self.centre.table_mut(table);
            let largest = cells.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if largest.is_finite() {
                cells.iter_mut().for_each(|cell| *cell -= largest);
            }
        }
        let (centre, lambda) = (self.centre.clone(), self.now.lambda.clone());
        self.saved = Some(Saved { centre, lambda, t: self.t, tau: self.tau });
        let fits = FACTORS.iter().find(|(most, _)| newton_steps <= *most);
        let factor = fits.map_or(1.0, |(_, factor)| *factor).min(self.growth);
        self.t = (self.t * factor).min(self.longest_t);
        let answers = self.y.len() as f64;
        let smallest = (0.01 * wanted / answers).max(f64::EPSILON * self.tau);
        self.tau = (self.tau * 0.5 / factor).max(smallest.min(self.tau));
        self.now = self.point(self.now.lambda.clone());
    }

    /// Takes the last proximal step again, a shorter one.
    pub(super) fn retreat(&mut self) {
        self.growth = (self.growth * RETREAT).max(1.0);
        let mut lambda = vec![0.0; self.y.len()];
        match self.saved.take() {
            Some(saved) => {
                (self.t, self.tau) = (saved.t * self.growth, saved.tau);
                self.centre = saved.centre.clone();
                lambda.clone_from(&saved.lambda);
                self.saved = Some(saved);
            }
            None => self.t *= 0.1,
        }
        self.now = self.point(lambda);
    }

    /// Returns whether another step would gain next to nothing.
    pub(super) fn newton_step(&mut self) -> bool {
        let tau = self.tau;
        let Point { lambda, residuals, .. } = &self.now;
        let slope = |(&l, r): (&f64, &f64)| tau * (1.0 / (1.0 - l) - 1.0 / (1.0 + l)) - r;
        let gradient: Vec<f64> = lambda.iter().zip(residuals).map(slope).collect();
        let curvature = |&l: &f64| tau * ((1.0 - l).powi(-2) + (1.0 + l).powi(-2));
        let barrier: Vec<f64> = lambda.iter().map(curvature).collect();
        let direction = self.direction(&gradient, &barrier);
        let decrement = -dot(&gradient, &direction);
        // To the boundary at most.
        let room = |(&l, &d): (&f64, &f64)| (d.signum() - l) / d;
        let moved = self.now.lambda.iter().zip(&direction).filter(|(_, d)| **d != 0.0);
        let mut length = (0.99 * moved.map(room).fold(f64::INFINITY, f64::min)).min(1.0);
        // Below rounding no decrease can be seen.
        while length > 1e-10 {
            let mut lambda = self.now.lambda.clone();
            add_scaled(length, &direction, &mut lambda);
            let next = self.point(lambda);
            let allowed = self.now.value - 0.1 * length * decrement + 1e-13 * self.now.value.abs();
            if next.value <= allowed {
                self.now = next;
                return decrement <= 1e-3 * tau;
            }
            length *= 0.5;
        }
        true
    }

    /// -H^-1 g, H = t times the covariances of the answers, plus the barrier's diagonal.
    fn direction(&mut self, gradient: &[f64], barrier: &[f64]) -> Vec<f64> {
        let answers = self.y.len();
        let mut hessian = self.covariances();
        hessian.values_mut().iter_mut().for_each(|cell| *cell *= self.t);
        let trace: f64 = (0..answers).map(|i| hessian[(i, i)] + barrier[i]).sum();
        // Differences are accurate to about 1e-8 of their size, so that a combination of answers
        // without variance may get a negative one.
        let mut damping = 1e-13 * trace / answers as f64;
        loop {
            let mut damped = hessian.clone();
            (0..answers).for_each(|i| damped[(i, i)] += barrier[i] + damping);
            if let Some(factor) = Cholesky::new(damped) {
                let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
                factor.solve_one(&mut direction);
                return direction;
            }
            damping *= 10.0;
            if !damping.is_finite() {
                return gradient.iter().zip(barrier).map(|(g, b)| -g / b).collect();
            }
        }
    }

    /// Of the answers under the model of now, times the total: the derivative of answer i by a
    /// change of the potentials along answer j. Two calls of the oracle per answer.
    fn covariances(&mut self) -> Matrix {
        let answers = self.y.len();
        let mut covariances = Matrix::zeros(answers, answers);
        let mut unit = vec![0.0; answers];
        let mut marginals = Marginals::zeros(self.centre.layout());
        let mut sides = [vec![0.0; answers], vec![0.0; answers]];
        for j in 0..answers {
            unit[j] = 1.0;
            self.loss.apply_transpose(&unit, &mut self.spread);
            unit[j] = 0.0;
            let size = self.spread.values().iter().fold(0.0f64, |size, cell| size.max(cell.abs()));
            if size == 0.0 {
                continue;
            }
            for (side, sign) in sides.iter_mut().zip([1.0, -1.0]) {
                let mut potentials = self.now.iterate.potentials.clone();
                if self.minimisation.interruption(self.calls).is_some() {
                    return covariances;
                }
                let length = sign * DIFFERENCE / size;
                add_scaled(length, self.spread.values(), potentials.values_mut());
                self.oracle.marginals(&potentials, self.total, &mut marginals);
                self.calls += 1;
                self.loss.apply(&marginals, side);
            }
            for i in 0..answers {
                covariances[(i, j)] = (sides[0][i] - sides[1][i]) * size / (2.0 * DIFFERENCE);
            }
        }
        // Symmetric up to rounding.
        for i in 0..answers {
            for j in 0..i {
                let mean = 0.5 * (covariances[(i, j)] + covariances[(j, i)]);
                (covariances[(i, j)], covariances[(j, i)]) = (mean, mean);
            }
        }
        covariances
    }
}

/// The largest entry of A.
fn largest_entry(loss: &mut LinearLoss, answers: usize, spread: &mut CliqueVector) -> f64 {
    let mut unit = vec![0.0; answers];
    let mut largest = f64::MIN_POSITIVE;
    for j in 0..answers {
        unit[j] = 1.0;
        loss.apply_transpose(&unit, spread);
        unit[j] = 0.0;
        largest = spread.values().iter().fold(largest, |largest, cell| largest.max(cell.abs()));
    }
    largest
}
