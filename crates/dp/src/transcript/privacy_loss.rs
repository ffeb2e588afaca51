//! How much likelier an output is on one data set than on another, by the stated probabilities.
//!
//! The output of a run is all that its draws returned, o = (o_1, ..., o_k). Each draw depends on
//! the data by what it was handed, which depends on the data and on o_1, ..., o_{i-1} only. So
//! ln P(o | x) - ln P(o | x') is the sum over i of ln P(o_i | handed by x) - ln P(o_i | handed by
//! x'), and a recorded run on x with its replay on x' shows both. This is the privacy loss of o. By
//! Neyman and Pearson, no test tells x from x' better than its threshold.
//!
//! Probabilities are those of the distributions that the ledger states, on the grid where there is
//! one. Nothing here draws: if a sampler draws from another distribution, outputs with a loss of at
//! least t are not as frequent as they should be.

use super::{Event, Handed};
use crate::Mechanism;

/// ln P(output | data of `one`) - ln P(output | data of `other`), where one of them is a run and
/// the other its replay. `None` if the output is impossible for the replay: it makes other draws,
/// or draws with other parameters, and the ledger, which is published, would show it.
pub fn privacy_loss(one: &[Event], other: &[Event]) -> Option<f64> {
    sum(one, other, |event, mine, theirs| match event {
        Event::Noise { noisy, .. } => noise_loss(mine, theirs, noisy),
        Event::Selection { chosen, .. } => {
            let (mine, theirs) = (log_probabilities(mine), log_probabilities(theirs));
            chosen.iter().map(|&i| mine[i] - theirs[i]).sum()
        }
        Event::PublicChoices { .. } => 0.0,
    })
}

/// The sum over the draws of the Kullback-Leibler divergence of each, given the earlier ones, from
/// the data of `one` to that of `other`. Its mean over runs on the data of `one` is the divergence
/// of the outputs (chain rule), like that of [`privacy_loss`], but it varies far less.
pub fn divergence(one: &[Event], other: &[Event]) -> Option<f64> {
    sum(one, other, |event, mine, theirs| match event {
        Event::Noise { .. } => noise_divergence(mine, theirs),
        Event::Selection { chosen, .. } => {
            let (mine, theirs) = (log_probabilities(mine), log_probabilities(theirs));
            let one: f64 = mine.iter().zip(&theirs).map(|(p, q)| p.exp() * (p - q)).sum();
            chosen.len() as f64 * one
        }
        Event::PublicChoices { .. } => 0.0,
    })
}

/// The sum of `of` (event, handed by one, handed by the other) over the draws. `None` if they are
/// not the same draws with the same outputs.
fn sum(
    one: &[Event],
    other: &[Event],
    of: impl Fn(&Event, &Handed, &Handed) -> f64,
) -> Option<f64> {
    if one.len() != other.len() {
        return None;
    }
    one.iter()
        .zip(other)
        .map(|pair| {
            let same_output = match pair {
                (Event::Noise { noisy: a, .. }, Event::Noise { noisy: b, .. }) => a == b,
                (Event::Selection { chosen: a, .. }, Event::Selection { chosen: b, .. }) => a == b,
                (a, b) => return (a == b).then_some(0.0),
            };
            let (mine, theirs) = (pair.0.handed()?, pair.1.handed()?);
            let same_draw = mine.draw == theirs.draw
                && mine.granted == theirs.granted
                && mine.values.len() == theirs.values.len();
            (same_output && same_draw).then(|| of(pair.0, mine, theirs))
        })
        .sum()
}

/// The answers as the sampler adds noise to them: rounded to its grid.
fn centres(handed: &Handed) -> impl Iterator<Item = f64> {
    let spacing = handed.draw.spacing;
    handed.values.iter().map(move |&value| match spacing {
        Some(g) => (value / g).round_ties_even() * g,
        None => value,
    })
}

fn is_gaussian(handed: &Handed) -> bool {
    matches!(handed.draw.mechanism, Mechanism::DiscreteGaussian | Mechanism::ContinuousGaussian)
}

/// Both distributions have the same scale and so the same normalisation: (|y - a'| - |y - a|) / b,
/// or ((y - a')^2 - (y - a)^2) / (2 sigma^2) = (a - a') (2 y - a - a') / (2 sigma^2).
fn noise_loss(mine: &Handed, theirs: &Handed, noisy: &[f64]) -> f64 {
    let scale = mine.draw.scale;
    let centres = centres(mine).zip(centres(theirs)).zip(noisy);
    match is_gaussian(mine) {
        true => {
            let variance = scale * scale;
            centres.map(|((a, b), y)| (a - b) * (2.0 * y - a - b) / (2.0 * variance)).sum()
        }
        false => centres.map(|((a, b), y)| ((y - b).abs() - (y - a).abs()) / scale).sum(),
    }
}

/// For a shift by d: d^2 / (2 sigma^2) for Gaussian noise, also on a grid. E |Y - d| - E |Y| over b
/// for Laplace noise: with m = d/g steps and q = e^(-g/b) that is (m - 2 q (1 - q^m) / (1 - q^2))
/// g/b on a grid, and d/b + e^(-d/b) - 1 without one.
fn noise_divergence(mine: &Handed, theirs: &Handed) -> f64 {
    let scale = mine.draw.scale;
    let shifts = centres(mine).zip(centres(theirs)).map(|(a, b)| (a - b).abs());
    match (is_gaussian(mine), mine.draw.spacing) {
        (true, _) => shifts.map(|d| d * d / (2.0 * scale * scale)).sum(),
        (false, Some(g)) => {
            let rate = g / scale;
            let q = (-rate).exp();
            let saved = |d: f64| 2.0 * q * -(-d / scale).exp_m1() / -(-2.0 * rate).exp_m1();
            shifts.map(|d| d / scale - saved(d) * rate).sum()
        }
        (false, None) => shifts.map(|d| d / scale + (-d / scale).exp_m1()).sum(),
    }
}

/// ln P(i) for each candidate: scores are rounded down to the grid, and P(i) is proportional to
/// exp(score / temperature).
fn log_probabilities(handed: &Handed) -> Vec<f64> {
    let (temperature, spacing) = (handed.draw.scale, handed.draw.spacing);
    let level = |&score: &f64| spacing.map_or(score, |g| (score / g).floor() * g);
    let levels: Vec<f64> = handed.values.iter().map(level).collect();
    let best = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponents: Vec<f64> = levels.iter().map(|level| (level - best) / temperature).collect();
    let whole = exponents.iter().map(|x| x.exp()).sum::<f64>().ln();
    exponents.into_iter().map(|x| x - whole).collect()
}

#[cfg(test)]
mod tests;
