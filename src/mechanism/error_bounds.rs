//! Bounds on the errors of marginals, from a release alone.
//!
//! Let M_r be the marginal on r with n_r cells, D the data and D' any table of estimated counts:
//! synthetic records, a model, residuals. [`ErrorBounds::bound`] bounds |M_r(D) - M_r(D')|_1 for
//! one marginal, with a failure probability a that the caller chooses. D' may depend on the release
//! in any way. McKenna, Mullins, Sheldon and Miklau (2022, section 5) have both bounds for a fixed
//! number of measurements; here rounds are chosen by earlier ones, which their proof of the first
//! does not cover.
//!
//! *Noise.* All that is used of it: given everything before its draw, E exp(t z) <= exp(t^2 sigma^2
//! / 2) for every t, independently for each cell. Gaussian noise satisfies it with equality, and
//! discrete Gaussian noise as well (Canonne, Kamath, Steinke, NeurIPS 2020, corollary 17).
//!
//! # Marginals inside measured ones
//!
//! Measurement i of a marginal that contains r gives M_r(D) + z_i, where a cell of z_i is a sum of
//! noise with the variance 1 / p_i. With P = sum of p_i, let Y = sum of p_i (M_r(D) + z_i) / P and
//! N = sum of p_i z_i, so that |M_r(D) - Y|_1 = |N|_1 / P. The p_i are fixed before z_i is drawn.
//! For a vector s of signs and every t, the expectation of exp(t <s, N> - t^2 n P / 2) therefore
//! never exceeds 1 as measurements are added, and neither does its average over t drawn from a
//! Gaussian of variance 1 / v:
//!
//! sqrt(v / (n P + v)) exp(<s, N>^2 / (2 (n P + v))).
//!
//! Its sum over the 2^(n - 1) pairs of opposite s has the expectation 2^(n - 1) at most. By Ville's
//! inequality the sum never reaches 2^(n - 1) / a, whenever the rounds end, with probability 1 - a.
//! The largest <s, N> is |N|_1, hence
//!
//! |N|_1^2 <= 2 (n P + v) ((n - 1) ln 2 + ln(1 / a) + ln(1 + n P / v) / 2),
//!
//! and |M_r(D) - M_r(D')|_1 <= |N|_1 / P + |Y - M_r(D')|_1. v is fixed before the release.
//!
//! # Other candidates of the last round
//!
//! The last round has selected c among the candidates C by the scores q_r = w_r (d_r - b_r), with
//! d_r = |M_r(D) - M_r(p)|_1, p the estimate before it and b_r = sqrt(2/pi) sigma n_r, and measured
//! y = M_c(D) + z. Whether a round is the last is known before it.
//!
//! - The exponential mechanism with temperature t selects a score below max q - t (ln|C| + x) with
//!   probability exp(-x) at most: each such candidate has at most exp(-x) / |C| times the weight of
//!   the best. Scores are rounded to a grid, which adds its spacing g.
//! - Let s be the signs of M_c(D) - M_c(p), which are fixed before z is drawn. d_c = <s, M_c(D) -
//!   M_c(p)> = <s, y - M_c(p)> - <s, z> <= |y - M_c(p)|_1 + x' sigma sqrt(n_c), except with
//!   probability exp(-x'^2 / 2).
//!
//! Together, with a / 2 for each, and for every candidate r:
//!
//! d_r <= b_r + (w_c (|y - M_c(p)|_1 + x' sigma sqrt(n_c) - b_c) + t (ln|C| + x) + g) / w_r,
//!
//! and |M_r(D) - M_r(D')|_1 <= d_r + |M_r(p) - M_r(D')|_1.
//!
//! Both bounds get half of the failure probability, so that the smaller one may be used where both
//! exist.

use std::collections::BTreeMap;

use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::loss::Measurement;
use private_pgm::model::{MarginalError, Projectable};

/// The bound of measured marginals is best where the measurements are 1 / this as precise as the
/// first one. Small, our choice: later ones are more precise.
const PRIOR_PRECISION: f64 = 0.1;

/// What bounds are computed from, other than the published answers.
pub struct BoundsBasis {
    /// The standard deviation of the first measurement, known before the release.
    pub(super) first_stddev: f64,
    pub(super) last: Option<LastSelection>,
}

/// The last round of selection and measurement. Contains what the ledger and the answers say, and
/// an estimate from published answers.
pub(super) struct LastSelection {
    /// Before the round.
    pub(super) estimate: Box<dyn Projectable>,
    /// The candidates with their weights.
    pub(super) weights: BTreeMap<Clique, f64>,
    pub(super) chosen: Clique,
    /// |y - M_c(p)|_1
    pub(super) distance: f64,
    /// sqrt(2/pi) sigma of the scores.
    pub(super) noise_per_cell: f64,
    pub(super) temperature: f64,
    /// The grid of the scores.
    pub(super) spacing: f64,
}

/// A bound on the L1 distance of a marginal from that of the data, in records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub l1: f64,
    pub source: BoundSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundSource {
    /// The marginal is inside a measured one.
    Measurements,
    /// The marginal was a candidate of the last round.
    LastSelection,
    /// Two tables of N records each differ by 2 N at most.
    Records,
}

impl BoundSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Measurements => "measurements",
            Self::LastSelection => "last selection",
            Self::Records => "number of records",
        }
    }
}

/// The bounds of one release.
pub struct ErrorBounds<'a> {
    pub(super) domain: &'a Domain,
    pub(super) answers: &'a [Measurement],
    pub(super) basis: &'a BoundsBasis,
}

impl ErrorBounds<'_> {
    /// A bound that `estimate`, a marginal in counts, keeps with this failure probability. `None`
    /// if the release says nothing about the marginal.
    pub fn bound(
        &self,
        estimate: &Factor,
        failure_probability: f64,
    ) -> Result<Option<Bound>, MarginalError> {
        let half = failure_probability / 2.0;
        let measured = self.measured(estimate, half);
        let selected = match &self.basis.last {
            Some(last) => self.selected(last, estimate, half)?,
            None => None,
        };
        let bound = |source| move |l1| Bound { l1, source };
        let bounds = [
            measured.map(bound(BoundSource::Measurements)),
            selected.map(bound(BoundSource::LastSelection)),
        ];
        Ok(bounds.into_iter().flatten().min_by(|a, b| a.l1.total_cmp(&b.l1)))
    }

    fn measured(&self, estimate: &Factor, failure_probability: f64) -> Option<f64> {
        let clique = estimate.clique();
        let n = estimate.values().len() as f64;
        let mut precision = 0.0;
        let mut weighted = vec![0.0; estimate.values().len()];
        for answer in self.answers {
            if !(clique.is_subset(&answer.clique) && answer.query.is_identity()) {
                continue;
            }
            let noisy = Factor::new(self.domain, answer.clique.clone(), answer.y.clone());
            let summed = noisy.values().len() as f64 / n;
            let p = 1.0 / (summed * answer.stddev * answer.stddev);
            precision += p;
            let cells = weighted.iter_mut().zip(noisy.sum_onto(clique).into_values());
            cells.for_each(|(sum, cell)| *sum += p * cell);
        }
        if precision == 0.0 {
            return None;
        }
        let v = n * PRIOR_PRECISION / (self.basis.first_stddev * self.basis.first_stddev);
        let spread = n * precision;
        let logarithm = (n - 1.0) * std::f64::consts::LN_2 - failure_probability.ln()
            + 0.5 * (spread / v).ln_1p();
        let noise = (2.0 * (spread + v) * logarithm).sqrt() / precision;
        let pairs = weighted.iter().zip(estimate.values());
        let apart: f64 = pairs.map(|(sum, found)| (sum / precision - found).abs()).sum();
        Some(noise + apart)
    }

    fn selected(
        &self,
        last: &LastSelection,
        estimate: &Factor,
        failure_probability: f64,
    ) -> Result<Option<f64>, MarginalError> {
        let (clique, chosen) = (estimate.clique(), &last.chosen);
        let (Some(weight), Some(answer)) = (last.weights.get(clique), self.answers.last()) else {
            return Ok(None);
        };
        let x = -(failure_probability / 2.0).ln();
        let before = last.estimate.project(clique)?;
        let expected = |clique: &Clique| last.noise_per_cell * self.domain.cells_f64(clique);
        let deviation = (2.0 * x).sqrt() * answer.stddev * (answer.y.len() as f64).sqrt();
        let error_of_chosen = last.distance + deviation - expected(chosen);
        let selection = last.temperature * ((last.weights.len() as f64).ln() + x) + last.spacing;
        let score = last.weights[chosen] * error_of_chosen + selection;
        let moved = l1_distance(before.values(), estimate.values());
        Ok(Some((expected(clique) + score / weight).max(0.0) + moved))
    }
}

pub(super) fn l1_distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum()
}
