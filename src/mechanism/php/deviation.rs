//! Absolute deviations of the counts of a cluster from their mean.

/// For each split of `counts` into a prefix and a suffix, the sum of |x - mean| over both parts.
/// Entry 0 is the sum without a split.
///
/// A Fenwick tree over the values gives the number and the sum of the counts below a mean. All
/// splits together cost O(n log n).
pub(super) fn of_splits(counts: &[f64]) -> Vec<f64> {
    let mut values = counts.to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let prefixes = of_prefixes(counts.iter(), &values);
    let suffixes = of_prefixes(counts.iter().rev(), &values);
    let n = counts.len();
    let splits = (1..n).map(|at| prefixes[at] + suffixes[n - at]);
    std::iter::once(prefixes[n]).chain(splits).collect()
}

/// Entry i is the sum of |x - mean| over the first i counts.
fn of_prefixes<'a>(counts: impl Iterator<Item = &'a f64>, values: &[f64]) -> Vec<f64> {
    let mut below = Fenwick::new(values.len());
    let (mut number, mut sum) = (0.0, 0.0);
    let mut deviations = vec![0.0];
    for &count in counts {
        below.add(values.partition_point(|value| *value < count), count);
        number += 1.0;
        sum += count;
        let mean = sum / number;
        let (number_below, sum_below) = below.before(values.partition_point(|value| *value < mean));
        // The deviations below the mean and those above it have the same sum.
        deviations.push(2.0 * (number_below * mean - sum_below));
    }
    deviations
}

/// Prefix sums over the sorted values: the number of counts, and their sum.
struct Fenwick(Vec<(f64, f64)>);

impl Fenwick {
    fn new(size: usize) -> Self {
        Self(vec![(0.0, 0.0); size + 1])
    }

    fn add(&mut self, place: usize, count: f64) {
        let mut node = place + 1;
        while node < self.0.len() {
            self.0[node].0 += 1.0;
            self.0[node].1 += count;
            node += node & node.wrapping_neg();
        }
    }

    fn before(&self, place: usize) -> (f64, f64) {
        let (mut node, mut total) = (place, (0.0, 0.0));
        while node > 0 {
            total = (total.0 + self.0[node].0, total.1 + self.0[node].1);
            node -= node & node.wrapping_neg();
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn obvious(counts: &[f64]) -> f64 {
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        counts.iter().map(|count| (count - mean).abs()).sum()
    }

    proptest! {
        #[test]
        fn splits_have_the_deviations_of_their_parts(
            counts in prop::collection::vec(0u8..9, 1..40),
        ) {
            let counts: Vec<f64> = counts.into_iter().map(f64::from).collect();
            let found = of_splits(&counts);
            prop_assert_eq!(found.len(), counts.len());
            prop_assert!((found[0] - obvious(&counts)).abs() < 1e-9);
            for at in 1..counts.len() {
                let expected = obvious(&counts[..at]) + obvious(&counts[at..]);
                prop_assert!((found[at] - expected).abs() < 1e-9);
            }
        }
    }
}
