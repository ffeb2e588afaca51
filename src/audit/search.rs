//! A search for the pair of neighbours that an attack distinguishes best.
//!
//! The exact loss of a few hundred runs is enough to compare pairs. Candidates are the pair of the
//! case, tables at random over its attributes, and mutations of the best so far. The runs of the
//! search have their own noise, so the pair does not depend on the runs that count.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::run::{Run, Runs, Side};
use super::{AuditError, Case, Claim, Request};
use crate::mechanism::Mechanism;
use dp::SeedPath;
use private_pgm::model::Projectable;

/// Tables at random, rounds of mutations, and mutations per round.
const RANDOM: usize = 40;
const ROUNDS: usize = 8;
const MUTATIONS: usize = 8;
/// The search has about a sixth of the runs of the audit: several candidates with some runs each,
/// on either data set.
const PART: usize = 1000;
const FEWEST: usize = 10;
const MOST: usize = 150;

/// The case with the pair that the search likes best. Ties go to the pair of the case itself.
pub(super) fn search(
    mechanism: &dyn Mechanism,
    case: Case,
    claim: &Claim,
    request: &Request,
) -> Result<Case, AuditError> {
    let domain = case.one.domain().clone();
    let seed = SeedPath::new("audit pairs", request.seed).with("case", case.title);
    let mut rng = ChaCha20Rng::from_seed(seed.seed());
    let runs = (request.trials / PART).clamp(FEWEST, MOST);
    let mut candidates = 0;
    let mut rate = |case: &Case, runs: usize| -> Result<f64, AuditError> {
        candidates += 1;
        power(mechanism, case, claim, request, runs, &seed.clone().with("candidate", candidates))
    };
    let mut ranked = vec![(rate(&case, runs)?, case)];
    for _ in 0..RANDOM {
        let next = ranked[0].1.with(super::pair::Records::random(&domain, &mut rng))?;
        ranked.push((rate(&next, runs).unwrap_or(0.0), next));
    }
    for _ in 0..ROUNDS {
        keep_best(&mut ranked);
        for place in 0..MUTATIONS {
            let parent = &ranked[place % ranked.len()].1;
            let next = parent.with(parent.records.mutated(&domain, &mut rng))?;
            ranked.push((rate(&next, runs).unwrap_or(0.0), next));
        }
    }
    // Again with more runs, because the best of many estimates is too good.
    keep_best(&mut ranked);
    for (power, case) in &mut ranked {
        *power = rate(case, 4 * runs)?;
    }
    keep_best(&mut ranked);
    Ok(ranked.swap_remove(0).1)
}

/// The four best, the best first. Stable, so that of equals the earlier one stays.
fn keep_best(ranked: &mut Vec<(f64, Case)>) {
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(4);
}

/// The bound that an audit of `request.trials` runs would find: for a claim in rho the divergence,
/// otherwise that of the best threshold.
fn power(
    mechanism: &dyn Mechanism,
    case: &Case,
    claim: &Claim,
    request: &Request,
    runs: usize,
    seed: &SeedPath,
) -> Result<f64, AuditError> {
    let source = Runs::new(mechanism, case, claim.total, request.neighbours);
    let (one, other) = (source.many(Side::One, runs, seed)?, source.many(Side::Other, runs, seed)?);
    let in_rho = claim.rho(one.iter().chain(&other)).is_some();
    let of_side = |runs: &[Run], sign: f64| match in_rho {
        true => runs.iter().map(|run| run.divergence).sum::<f64>() / runs.len() as f64,
        false => {
            let losses = runs.iter().map(|run| sign * run.loss).collect();
            threshold_bound(losses, claim.delta, request.trials as f64)
        }
    };
    Ok(of_side(&one, 1.0).max(of_side(&other, -1.0)))
}

/// The bound of the best threshold in `trials` runs, less two standard errors. P(loss >= t) under
/// one data set is a frequency. Under the other it is the mean of e^-loss over the same outputs,
/// since the loss is exact.
fn threshold_bound(mut losses: Vec<f64>, delta: f64, trials: f64) -> f64 {
    losses.sort_by(|a, b| b.total_cmp(a));
    let n = losses.len() as f64;
    let (mut rarer, mut best) = (0.0, 0.0f64);
    for (place, loss) in losses.iter().enumerate() {
        rarer += (-loss).exp();
        // Two or three outputs say little about a probability.
        if place < 3 {
            continue;
        }
        let (p, q) = ((place + 1) as f64 / n, rarer / n);
        if p > delta {
            let error = ((1.0 - p) / (trials * p) + (1.0 - q) / (trials * q.max(1e-9))).sqrt();
            best = best.max(((p - delta) / q).ln() - 2.0 * error);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_a_threshold_is_that_of_both_probabilities() {
        // Half of the outputs have loss ln 2: p = 1/2 and q = 1/4. The others have ln(2/3).
        let losses: Vec<f64> =
            (0..100).map(|i| if i % 2 == 0 { 2f64.ln() } else { (2.0f64 / 3.0).ln() }).collect();
        let bound = threshold_bound(losses.clone(), 0.0, 1e12);
        assert!((bound - 2f64.ln()).abs() < 1e-5, "{bound}");
        let less = threshold_bound(losses.clone(), 0.1, 1e12);
        assert!((less - (0.4f64 / 0.25).ln()).abs() < 1e-5, "{less}");
        assert!(threshold_bound(losses, 0.0, 100.0) < 0.5);
    }
}
