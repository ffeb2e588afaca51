use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::Sampling;

/// Draws a cell for each record of a group independently, with probability proportional to the
/// weights whose running sums are `cumulative`. Cells of weight zero are never drawn.
pub(super) fn independent<R: Rng + ?Sized>(
    cumulative: &[f64],
    group: &[usize],
    rng: &mut R,
    mut assign: impl FnMut(usize, usize),
) {
    let last = last_positive(cumulative);
    let total = cumulative[last];
    for &record in group {
        let point = rng.random::<f64>() * total;
        let cell = cumulative.partition_point(|&sum| sum <= point);
        // The product can round up to the total.
        assign(record, cell.min(last));
    }
}

/// Draws a cell for each of n records so that every cell gets n times its share of the weights,
/// rounded up or down.
///
/// Systematic sampling: n points at distance 1/n, the first at `phase`/n, select the intervals
/// between the running sums. For a uniform phase, the expected count of a cell is n times its
/// share. The count of a cell, or of any run of consecutive cells, differs from that by less than
/// 1.
pub(super) fn systematic<R: Rng + ?Sized>(
    cumulative: &[f64],
    phase: f64,
    group: &mut [usize],
    rng: &mut R,
    mut assign: impl FnMut(usize, usize),
) {
    group.shuffle(rng);
    let last = last_positive(cumulative);
    let distance = cumulative[last] / group.len() as f64;
    let mut cell = 0;
    for (position, &record) in group.iter().enumerate() {
        let point = (position as f64 + phase) * distance;
        while cell < last && cumulative[cell] <= point {
            cell += 1;
        }
        assign(record, cell);
    }
}

/// Draws uniformly from `cells` by either method, without a table of weights.
pub(super) fn uniform<R: Rng + ?Sized>(
    cells: usize,
    records: usize,
    method: Sampling,
    rng: &mut R,
    mut assign: impl FnMut(usize, usize),
) {
    let cell = |point: f64| (point as usize).min(cells - 1);
    let phase: f64 = rng.random();
    match method {
        Sampling::Independent => {
            (0..records)
                .for_each(|record| assign(record, cell(rng.random::<f64>() * cells as f64)));
        }
        Sampling::Rounded => {
            let mut order: Vec<usize> = (0..records).collect();
            order.shuffle(rng);
            let distance = cells as f64 / records as f64;
            for (position, record) in order.into_iter().enumerate() {
                assign(record, cell((position as f64 + phase) * distance));
            }
        }
    }
}

/// The last cell of positive weight.
fn last_positive(cumulative: &[f64]) -> usize {
    let total = cumulative[cumulative.len() - 1];
    cumulative.partition_point(|&sum| sum < total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn running_sums(weights: &[f64]) -> Vec<f64> {
        let sums = weights.iter().scan(0.0, |sum, w| {
            *sum += w;
            Some(*sum)
        });
        sums.collect()
    }

    proptest! {
        #[test]
        fn uniform_draws_equal_draws_with_equal_weights(
            cells in 1usize..40,
            records in 1usize..200,
            seed: u64,
        ) {
            let sums = running_sums(&vec![1.0; cells]);
            for method in [Sampling::Independent, Sampling::Rounded] {
                let mut direct = vec![usize::MAX; records];
                let mut weighted = direct.clone();
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                uniform(cells, records, method, &mut rng, |record, cell| direct[record] = cell);
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let phase: f64 = rng.random();
                let mut group: Vec<usize> = (0..records).collect();
                let assign = |record: usize, cell| weighted[record] = cell;
                match method {
                    Sampling::Independent => independent(&sums, &group, &mut rng, assign),
                    Sampling::Rounded => systematic(&sums, phase, &mut group, &mut rng, assign),
                }
                prop_assert_eq!(direct, weighted);
            }
        }

        #[test]
        fn systematic_counts_are_within_one_of_their_share(
            weights in prop::collection::vec(
                prop::sample::select(vec![0.0, 1e-9, 0.3, 1.0, 7.0]),
                1..30,
            ),
            records in 1usize..200,
            phase in 0.0..1.0,
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let mut group: Vec<usize> = (0..records).collect();
            let mut cell_of = vec![usize::MAX; records];
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let sums = running_sums(&weights);
            systematic(&sums, phase, &mut group, &mut rng, |record, cell| cell_of[record] = cell);
            for (cell, weight) in weights.iter().enumerate() {
                let count = cell_of.iter().filter(|&&own| own == cell).count();
                let share = records as f64 * weight / total;
                prop_assert!((count as f64 - share).abs() < 1.0 + 1e-9, "{count} for {share}");
                prop_assert!(*weight > 0.0 || count == 0);
            }
            prop_assert!(cell_of.iter().all(|&cell| cell < weights.len()));
        }

        #[test]
        fn the_largest_phase_selects_the_last_positive_cell(
            weights in prop::collection::vec(0.0f64..1.0, 1..20),
            zeros in 0usize..4,
        ) {
            prop_assume!(weights.iter().sum::<f64>() > 0.0);
            let mut weights = weights;
            weights.push(0.5);
            let last = weights.len() - 1;
            weights.extend(vec![0.0; zeros]);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut found = None;
            let phase = 1.0 - f64::EPSILON / 2.0;
            let sums = running_sums(&weights);
            systematic(&sums, phase, &mut [0], &mut rng, |_, cell| found = Some(cell));
            prop_assert_eq!(found, Some(last));
        }
    }
}
