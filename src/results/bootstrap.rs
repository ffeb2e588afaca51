//! The exact bootstrap of the median: over all resamples, without simulation.

use super::statistics::{CONFIDENCE, Interval};

/// Terms with a smaller probability are skipped: their sum is below rounding error.
const NEGLIGIBLE: f64 = 1e-18;

/// The percentile interval of the bootstrap for the median of `sorted` values; `None` for fewer
/// than two.
///
/// A resample draws n of the n values with replacement. The interval ends at the 2.5 % and the 97.5
/// % quantile of its median, whose distribution is computed exactly: there is no simulation and no
/// seed, and the ends are the limit of the simulated ones. Its coverage is the nominal 95 %; the
/// actual coverage of few trials is lower (see [`super::Spread::of`], which computes it).
///
/// Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979),
/// section 3, for odd n. Cost: O(n^2).
pub(super) fn median_interval(sorted: &[f64]) -> Option<Interval> {
    if sorted.len() < 2 {
        return None;
    }
    let distribution = resampled_median(sorted);
    let quantile = |level: f64| {
        let mut below = 0.0;
        let reached = distribution.iter().find(|(_, probability)| {
            below += probability;
            below >= level
        });
        // Rounding may leave the total probability just below the level.
        reached.or(distribution.last()).map(|&(value, _)| value)
    };
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some(Interval { low: quantile(tail)?, high: quantile(1.0 - tail)?, coverage: CONFIDENCE })
}

/// The values that the median of a resample may take, ascending, with their probabilities.
fn resampled_median(sorted: &[f64]) -> Vec<(f64, f64)> {
    let n = sorted.len();
    let half = n.div_ceil(2);
    // The half-th smallest draw is at most the i-th value when at least half of the draws are.
    let at_most: Vec<f64> = (0..=n).map(|i| upper_tail(n, i as f64 / n as f64, half)).collect();
    let lower_middle = |i: usize| at_most[i] - at_most[i - 1];
    if n % 2 == 1 {
        return (1..=n).map(|i| (sorted[i - 1], lower_middle(i))).collect();
    }
    // The two middle draws are the i-th and the j-th value. For i < j, half of the draws are at
    // most i and include i; the other half are at least j and include j.
    let ln_ways = ln_choose(n, half);
    let ln_extreme = |i: usize| {
        let power = |base: f64| half as f64 * base.ln();
        power(i as f64 / n as f64) + (-power((i as f64 - 1.0) / i as f64).exp()).ln_1p()
    };
    let mut medians = Vec::new();
    for i in 1..=n {
        let mut both = lower_middle(i);
        for j in i + 1..=n {
            let probability = (ln_ways + ln_extreme(i) + ln_extreme(n + 1 - j)).exp();
            both -= probability;
            medians.push((f64::midpoint(sorted[i - 1], sorted[j - 1]), probability));
        }
        medians.push((sorted[i - 1], both.max(0.0)));
    }
    medians.retain(|&(_, probability)| probability > NEGLIGIBLE);
    medians.sort_by(|a, b| a.0.total_cmp(&b.0));
    medians
}

/// P(Bin(n, p) >= least).
fn upper_tail(n: usize, p: f64, least: usize) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return f64::from(p >= 1.0 || least == 0);
    }
    let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
    let mut ln_ways = ln_choose(n, least);
    let mut sum = 0.0;
    for k in least..=n {
        sum += (ln_ways + k as f64 * ln_p + (n - k) as f64 * ln_q).exp();
        ln_ways += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    sum.min(1.0)
}

/// ln C(n, k).
fn ln_choose(n: usize, k: usize) -> f64 {
    (1..=k).map(|i| ((n + 1 - i) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All n^n resamples.
    fn enumerated(sorted: &[f64]) -> Vec<f64> {
        let n = sorted.len();
        let median = |resample: usize| {
            let drawn = (0..n as u32).map(|place| sorted[resample / n.pow(place) % n]);
            let mut drawn: Vec<f64> = drawn.collect();
            drawn.sort_by(f64::total_cmp);
            f64::midpoint(drawn[(n - 1) / 2], drawn[n / 2])
        };
        let mut medians: Vec<f64> = (0..n.pow(n as u32)).map(median).collect();
        medians.sort_by(f64::total_cmp);
        medians
    }

    #[test]
    fn the_distribution_is_that_of_all_resamples() {
        // No two pairs have the same mean.
        let values = [1.0, 1.5, 2.75, 7.125, 19.0, 50.0];
        for n in 1..=values.len() {
            let medians = enumerated(&values[..n]);
            for (value, probability) in resampled_median(&values[..n]) {
                let count = medians.iter().filter(|&&median| median == value).count();
                let share = count as f64 / medians.len() as f64;
                assert!((probability - share).abs() < 1e-12, "{n} {value}");
            }
            let interval = median_interval(&values[..n]);
            assert_eq!(interval.is_none(), n == 1);
            if let Some(interval) = interval {
                let place = |level: f64| (level * medians.len() as f64).ceil() as usize - 1;
                let ends = (medians[place(0.025)], medians[place(0.975)]);
                assert_eq!((interval.low, interval.high), ends, "{n}");
            }
        }
    }

    #[test]
    fn many_values_give_the_interval_of_the_normal_approximation() {
        for n in [400, 401] {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let total: f64 = resampled_median(&values).iter().map(|(_, p)| p).sum();
            assert!((total - 1.0).abs() < 1e-9, "{n}: {total}");
            let interval = median_interval(&values).unwrap();
            // n/2 -+ 1.96 sqrt(n)/2
            assert!((interval.low - 180.0).abs() <= 2.0, "{interval:?}");
            assert!((interval.high - 219.0).abs() <= 2.0, "{interval:?}");
        }
    }

    proptest! {
        #[test]
        fn the_interval_contains_the_median(
            mut values in prop::collection::vec(0.1..10f64, 2..24),
        ) {
            values.sort_by(f64::total_cmp);
            let interval = median_interval(&values).unwrap();
            let n = values.len();
            let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
            prop_assert!(interval.low <= median && median <= interval.high);
            prop_assert!(values[0] <= interval.low && interval.high <= values[n - 1]);
        }
    }
}
