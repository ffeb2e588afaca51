//! The L1 loss of few answers, to the last digits.
//!
//! The smallest L1 loss is the value of a linear program, L(mu) = |A mu - y|_1 over marginals of N
//! records. Its dual maximises D(lambda) = -<lambda, y> + N min over records x of (A^T lambda)(x)
//! over slopes lambda between -1 and 1; every D(lambda) is a lower bound.
//!
//! The entropic proximal point method steps from a model p_k to the minimiser of L(mu) +
//! KL(mu, mu_k) / t, which is the model of theta_k - t A^T lambda for the lambda that minimises
//!
//!   <lambda, y> + (N / t) ln Z(theta_k - t A^T lambda) - tau sum of ln(1 - lambda_i^2),
//!
//! where the last term, a barrier, keeps slopes inside: the residuals become r_i = 2 tau lambda_i /
//! (1 - lambda_i^2), and the gap at most m tau for m answers, plus what is left of the divergence.
//! Newton's method finds it, with the covariances of the answers from differences of marginals. The
//! steps t grow and tau falls. All iterates are graphical models on the measured cliques.
//!
//! Reference: M. Teboulle, Entropic proximal mappings with applications to nonlinear programming,
//! Mathematics of Operations Research 17 (1992).

mod search;

use std::time::Instant;

use search::Search;

use super::minimisation::Minimisation;
use crate::factor::Potentials;
use crate::loss::LinearLoss;
use crate::optimiser::{Outcome, Progress, Reason};
use crate::oracle::MarginalOracle;

/// Answers at most: factorising the covariances costs their cube.
const MAX_ANSWERS: usize = 500;
/// Calls of the oracle per answer that a run must allow for the method to be tried. A Newton step
/// on n answers takes about 2 n calls, so that this is 200 steps.
const CALLS_PER_ANSWER: usize = 400;
/// Newton steps at most.
const MAX_STEPS: usize = 300;
/// A share of the loss up to which a gap is small.
const SMALL_GAP: f64 = 1e-6;
/// Newton steps of one proximal step at most. If they are not enough, the step was too long.
const MAX_INNER_STEPS: usize = 30;
/// Proximal steps without a gap that is a tenth smaller, after which the method gives up.
const PATIENCE: usize = 10;

/// Whether the method suits a loss of `answers` answers, within `iterations` calls of the oracle.
pub(super) fn suits(answers: usize, iterations: usize) -> bool {
    (1..=MAX_ANSWERS).contains(&answers) && answers * CALLS_PER_ANSWER <= iterations
}

/// Whether no other method is to be tried: the end came from outside, or rounding leaves only a
/// small gap.
pub(super) fn is_enough(outcome: &Outcome) -> bool {
    outcome.reason != Reason::Stalled
        || outcome.gap.is_some_and(|gap| gap <= SMALL_GAP * outcome.loss)
}

/// Minimises the L1 loss with an exact oracle, from `start`. The loss and the gap are those of L1.
pub(super) fn minimise(
    minimisation: &Minimisation<'_>,
    oracle: &mut dyn MarginalOracle,
    loss: &mut LinearLoss,
    start: Potentials,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Outcome {
    let began = Instant::now();
    let stopping = minimisation.stopping;
    let mut search = Search::new(minimisation, oracle, loss, start);
    let mut best: Option<Outcome> = None;
    let (mut lower_bound, mut smallest_gap, mut without_progress) =
        (f64::NEG_INFINITY, f64::INFINITY, 0);
    let mut steps = 0;
    let reason = loop {
        let (mut interrupted, mut is_close, mut inner_steps) = (None, false, 0);
        while interrupted.is_none() && !is_close && inner_steps < MAX_INNER_STEPS {
            is_close = search.newton_step();
            steps += 1;
            inner_steps += 1;
            let (iteration, marginals) = (search.calls, &search.now.iterate.marginals);
            let seconds = began.elapsed().as_secs_f64();
            tell(&Progress { iteration, seconds, marginals, gap: None, l1_l2: None });
            interrupted = minimisation.interruption(search.calls);
        }
        lower_bound = lower_bound.max(search.lower_bound());
        let loss = search.now.residuals.iter().map(|r| r.abs()).sum();
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            let iterate = search.now.iterate.clone();
            let (gap, iterations, reason) = (None, 0, Reason::Stalled);
            best = Some(Outcome { iterate, loss, gap, iterations, reason });
        }
        let smallest = best.as_ref().map_or(loss, |best| best.loss);
        let gap = smallest - lower_bound;
        let wanted = stopping.gap.max(stopping.relative_gap * smallest);
        if gap <= wanted {
            break Reason::Gap;
        }
        if let Some(reason) = interrupted {
            break reason;
        }
        without_progress = if gap < 0.9 * smallest_gap { 0 } else { without_progress + 1 };
        smallest_gap = smallest_gap.min(gap);
        if steps >= MAX_STEPS || without_progress > PATIENCE {
            break Reason::Stalled;
        }
        match is_close {
            true => search.proximal_step(wanted, inner_steps),
            false => search.retreat(),
        }
    };
    let mut best = best.expect("there is at least one step");
    best.gap = lower_bound.is_finite().then_some((best.loss - lower_bound).max(0.0));
    (best.iterations, best.reason) = (search.calls, reason);
    best
}
