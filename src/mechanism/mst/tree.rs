//! The selection of the tree.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::compression::Compressed;
use crate::mechanism::support::candidate_marginals::{CandidateMarginals, change};
use crate::mechanism::{MechanismError, Task};
use dp::{NoiseSource, Scores, Sensitivity, Share};
use private_pgm::domain::Clique;
use private_pgm::fit::{EstimatorContext, Evidence, Observed};

/// The edges of a spanning tree over all attributes of the compressed data: Kruskal's algorithm
/// with the exponential mechanism in place of the maximum, one edge per share.
///
/// The score of a pair is |M_ab(D) - M_ab(p)|_1, with p estimated from the one-way marginals. Its
/// sensitivity is that of [`CandidateMarginals::distances`].
///
/// Cost: the two-way marginal of every pair, d (d - 1) / 2 passes over two columns, in parallel.
pub(super) fn choose(
    task: &Task<'_>,
    compressed: &Compressed,
    total: f64,
    shares: Vec<Share>,
    source: &mut NoiseSource,
) -> Result<Vec<Clique>, MechanismError> {
    let (domain, Some(unused)) = (compressed.data().domain(), shares.first()) else {
        return Ok(Vec::new());
    };
    let evidence =
        Evidence { domain, total, observed: Observed::Answers(&compressed.one_way), zeros: &[] };
    let mut run = EstimatorContext {
        memory_limit: task.memory_limit,
        deadline: task.deadline,
        warm_start: None,
        // Estimation from published answers needs reproducible randomness, not secret randomness.
        rng: &mut ChaCha20Rng::seed_from_u64(0),
        observer: &mut |_| {},
    };
    let independent = task.estimator.estimate(&evidence, &mut run)?;
    let pairs = domain.everything().subsets(2);
    let places: Vec<usize> = (0..pairs.len()).collect();
    let candidates = CandidateMarginals::new(compressed.data(), pairs, 0);
    let scores = candidates.distances(&places, &*independent.answers, unused)?;
    let pairs = candidates.cliques();
    // The smallest attribute of the component of each attribute.
    let mut component: Vec<usize> = (0..domain.len()).collect();
    let ends = |pair: &Clique| [0, 1].map(|end| pair.as_slice()[end].index());
    let mut edges = Vec::with_capacity(shares.len());
    for share in shares {
        let open: Vec<usize> = places
            .iter()
            .copied()
            .filter(|&place| {
                let [a, b] = ends(&pairs[place]);
                component[a] != component[b]
            })
            .collect();
        let open = dp::sabotage!(open, "mst-drops-pairs-by-the-data", {
            let is_large = |&place: &usize| scores[place] > 10.0;
            let (large, small): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_large);
            if large.is_empty() { small } else { large }
        });
        let open_scores: Vec<f64> = open.iter().map(|&place| scores[place]).collect();
        let open_scores = dp::sabotage!(
            open_scores,
            "mst-half-the-temperature",
            open_scores.into_iter().map(|score| 2.0 * score).collect::<Vec<f64>>()
        );
        let change = change(share.neighbours());
        let change = dp::sabotage!(change, "mst-edge-sensitivity", change / 2.0);
        let sensitivity = Sensitivity::new(change, share.neighbours())?;
        let label = format!("edge {} of the tree", edges.len() + 1);
        let chosen = dp::sabotage!(
            share.select(label, &open_scores, sensitivity, Scores::General, source)?,
            "mst-takes-the-best-edge",
            crate::mechanism::sabotaged::largest(&open_scores)
        );
        let pair = &pairs[open[chosen]];
        edges.push(pair.clone());
        let [kept, gone] = ends(pair).map(|end| component[end]);
        component.iter_mut().filter(|root| **root == gone).for_each(|root| *root = kept);
    }
    Ok(edges)
}
