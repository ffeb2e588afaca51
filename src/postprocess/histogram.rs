//! Histograms from a noisy tree of sums (KDD 2015, Algorithm 3).

use thiserror::Error;

use super::admm::{Residuals, Settings, SettingsError, solve_within};
use super::htree::HTree;
use super::proximal::{Objective, WithoutNegative};
use super::tree::TreeError;

/// Why a noisy tree cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum HistogramError {
    /// alpha or rho.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The numbers are not those of the tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// A histogram, and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The bins, none of them negative.
    pub bins: Vec<f64>,
    /// How many iterations it took.
    pub iterations: usize,
    /// What was left, in units of the objective.
    pub residuals: Residuals,
}

/// The bins of the tree that is nearest to the noisy one by the objective, among consistent trees
/// without negative nodes.
///
/// x is consistent ([`HTree`]); a copy of it is near the noisy tree and not negative. Algorithm 3 has
/// three copies, for each of the three conditions, and x is their mean: it solves the same problem, and
/// takes twice the memory and more iterations. For alpha < 1 there is one nearest tree; for alpha = 1 there
/// may be many ([`Objective`]), and this is one of them. Linear in the number of nodes for each iteration.
///
/// What the iterations leave over is taken away in the end, from the root down
/// ([`Tree::scale_down`](super::tree::Tree::scale_down)). The residuals are means over all nodes: single ones
/// move by more, in a tree over 2^16 bins by up to 400 times the tolerance, which is 0.04 of the noise.
pub fn estimate(
    htree: &HTree,
    noisy: &[f64],
    objective: Objective,
    settings: &Settings,
) -> Result<Estimate, HistogramError> {
    settings.check()?;
    htree.tree().check(noisy)?;
    let noisy = objective.scaled(noisy);
    let near = WithoutNegative(objective.near(&noisy));
    let solution = solve_within(htree, &[&near], noisy.clone(), settings);
    let mut nodes = solution.x;
    htree.tree().scale_down(&mut nodes);
    let leaves = &nodes[nodes.len() - htree.tree().leaves()..];
    Ok(Estimate {
        bins: objective.counts(leaves),
        iterations: solution.iterations,
        residuals: solution.residuals,
    })
}
