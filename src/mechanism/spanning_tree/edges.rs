//! The selection of the tree.

use rayon::prelude::*;

use crate::data::Dataset;
use crate::mechanism::MechanismError;
use dp::{LInfinity, Neighbours, NoiseSource, Scores, Sensitivity, SensitivityError, Share};
use private_pgm::domain::{AttributeId, Clique};
use private_pgm::loss::Measurement;
use private_pgm::model::{MarginalError, Projectable};

/// Estimates are rounded to multiples of this. Up to 2^36 records all differences and their sums
/// are exact, and the sensitivity of a computed score is that of the exact score.
const GRID: f64 = 1.0 / 65536.0;

/// The edges of a spanning tree over all attributes: Kruskal's algorithm with the exponential
/// mechanism in place of the maximum, one edge per share.
///
/// Cost: the two-way marginal of every pair, d (d - 1) / 2 passes over two columns, in parallel.
pub(super) fn choose(
    data: &Dataset,
    one_way: &[Measurement],
    total: f64,
    shares: Vec<Share>,
    source: &mut NoiseSource,
) -> Result<Vec<Clique>, MechanismError> {
    let domain = data.domain();
    let marginals: Vec<Vec<f64>> = one_way.iter().map(|answer| distribution(&answer.y)).collect();
    let pairs: Vec<(AttributeId, AttributeId)> = domain
        .ids()
        .flat_map(|a| domain.ids().filter(move |&b| a < b).map(move |b| (a, b)))
        .collect();
    let scores = pairs
        .par_iter()
        .map(|&(a, b)| score(data, (a, b), &marginals[a.index()], &marginals[b.index()], total))
        .collect::<Result<Vec<f64>, _>>()?;
    // The smallest attribute of the component of each attribute.
    let mut component: Vec<AttributeId> = domain.ids().collect();
    let mut edges = Vec::with_capacity(shares.len());
    for share in shares {
        let open: Vec<usize> = (0..pairs.len())
            .filter(|&pair| component[pairs[pair].0.index()] != component[pairs[pair].1.index()])
            .collect();
        let open_scores: Vec<f64> = open.iter().map(|&pair| scores[pair]).collect();
        let sensitivity = sensitivity(share.neighbours())?;
        let label = format!("edge {} of the tree", edges.len() + 1);
        let chosen = share.select(label, &open_scores, sensitivity, Scores::General, source)?;
        let (a, b) = pairs[open[chosen]];
        edges.push(Clique::new([a, b]));
        let (kept, gone) = (component[a.index()], component[b.index()]);
        component.iter_mut().filter(|root| **root == gone).for_each(|root| *root = kept);
    }
    Ok(edges)
}

/// Noisy counts as a distribution: negative counts are 0, uniform if all are.
fn distribution(noisy: &[f64]) -> Vec<f64> {
    let mass: f64 = noisy.iter().map(|y| y.max(0.0)).sum();
    let value = |y: &f64| if mass > 0.0 { y.max(0.0) / mass } else { 1.0 / noisy.len() as f64 };
    noisy.iter().map(value).collect()
}

/// The L1 distance between the counts of a pair and the counts under independence, from noisy
/// one-way marginals.
///
/// *Sensitivity*: 2 if a record is replaced, 1 if a record is added or removed. *Proof.* The noisy
/// marginals and the total are published, and the same for both tables. By the triangle inequality,
/// the distance to a fixed vector changes by at most the L1 norm of the change of the counts: two
/// cells, or one, change by 1. QED.
fn score(
    data: &Dataset,
    (a, b): (AttributeId, AttributeId),
    of_a: &[f64],
    of_b: &[f64],
    total: f64,
) -> Result<f64, MarginalError> {
    // Ids ascend, so the axis of a is the first.
    let counts = data.project(&Clique::new([a, b]))?;
    let rows = counts.values().chunks_exact(of_b.len()).zip(of_a);
    let distance = |(row, &pa): (&[f64], &f64)| {
        let expected = of_b.iter().map(|&pb| (total * pa * pb / GRID).round() * GRID);
        row.iter().zip(expected).map(|(count, expected)| (count - expected).abs()).sum::<f64>()
    };
    Ok(rows.map(distance).sum())
}

/// See [`score`].
fn sensitivity(neighbours: Neighbours) -> Result<Sensitivity<LInfinity>, SensitivityError> {
    let value = match neighbours {
        Neighbours::Replace => 2.0,
        Neighbours::AddRemove => 1.0,
    };
    Sensitivity::new(value, neighbours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Provenance;
    use dp::sensitivity::brute_force::{Records, worst_case};
    use private_pgm::domain::Domain;

    /// The score of the records with these counts.
    fn score_of(shape: [usize; 2], table: &[u64], marginals: [&[f64]; 2], total: f64) -> f64 {
        let domain = Domain::new([("a", shape[0]), ("b", shape[1])]).unwrap();
        let mut codes = vec![Vec::new(), Vec::new()];
        for (cell, &count) in table.iter().enumerate() {
            for _ in 0..count {
                codes[0].push((cell / shape[1]) as u32);
                codes[1].push((cell % shape[1]) as u32);
            }
        }
        let data = Dataset::from_codes("table", &domain, &codes, Provenance::default()).unwrap();
        let [a, b] = ["a", "b"].map(|name| domain.id(name).unwrap());
        score(&data, (a, b), marginals[0], marginals[1], total).unwrap()
    }

    #[test]
    fn the_sensitivity_of_the_score_is_as_claimed() {
        // Any noisy marginals: they are fixed before the score uses the data.
        let cases: [(&[f64], &[f64], f64); 3] = [
            (&[0.3, 0.7], &[0.1, 0.6, 0.3], 4.0),
            (&[1.0, 0.0], &[0.0, 0.0, 1.0], 4.0),
            (&[0.5, 0.5], &[0.25, 0.5, 0.25], 9.7),
        ];
        for (of_a, of_b, total) in cases {
            let answers = |table: &[u64]| vec![score_of([2, 3], table, [of_a, of_b], total)];
            for (records, neighbours) in [
                (Records::Exactly(4), Neighbours::Replace),
                (Records::UpTo(4), Neighbours::AddRemove),
            ] {
                let found = worst_case::<LInfinity>(6, records, answers).distance;
                assert_eq!(found, sensitivity(neighbours).unwrap().get());
            }
        }
    }

    #[test]
    fn independent_attributes_score_zero_and_a_copy_scores_the_total() {
        let half: &[f64] = &[0.5, 0.5];
        assert_eq!(score_of([2, 2], &[2, 2, 2, 2], [half, half], 8.0), 0.0);
        assert_eq!(score_of([2, 2], &[4, 0, 0, 4], [half, half], 8.0), 8.0);
    }

    #[test]
    fn noisy_counts_become_a_distribution() {
        assert_eq!(distribution(&[-2.0, 1.0, 3.0]), [0.0, 0.25, 0.75]);
        assert_eq!(distribution(&[-2.0, -1.0]), [0.5, 0.5]);
    }
}
