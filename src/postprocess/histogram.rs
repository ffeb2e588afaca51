//! Histograms from a noisy tree of sums (KDD 2015, Algorithm 3).

use thiserror::Error;

use super::admm::{Estimate, Settings, SettingsError, Solution, solve_within};
use super::htree::HTree;
use super::proximal::{NonNegativePart, Objective};
use super::tree::TreeError;

/// Why a noisy tree cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum HistogramError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// The bins of the nearest tree to the noisy one by the objective, among consistent and nonnegative
/// trees.
///
/// x is consistent ([`HTree`]); a copy of it is near the noisy tree and nonnegative. Algorithm 3
/// has three copies, one per condition, and x is their mean. It solves the same problem with twice
/// the memory and more iterations. For alpha < 1 the nearest tree is unique. For alpha = 1 there
/// may be many ([`Objective`]), and the result is one of them. Linear in the number of nodes per
/// iteration.
///
/// At the end, remaining inconsistencies are removed from the root down
/// ([`Tree::scale_down`](super::tree::Tree::scale_down)). The residuals are means over all nodes.
/// Single nodes change by more: in a tree over 2^16 bins by up to 400 times the tolerance, which is
/// 0.04 of the noise.
pub fn estimate(
    htree: &HTree,
    noisy: &[f64],
    objective: Objective,
    settings: &Settings,
) -> Result<Estimate, HistogramError> {
    settings.check()?;
    htree.tree().check(noisy)?;
    let noisy = objective.scaled(noisy);
    let near = NonNegativePart(objective.near(&noisy));
    let solution = solve_within(htree, &[&near], noisy.clone(), settings);
    let mut nodes = solution.x;
    htree.tree().scale_down(&mut nodes);
    let leaves = nodes.split_off(nodes.len() - htree.tree().leaves());
    Ok(objective.estimate(Solution { x: leaves, ..solution }))
}
