//! Medians of few trials, with exact confidence intervals, and means with standard errors.

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use super::bootstrap;

/// The coverage of an interval, if there are enough trials.
pub(super) const CONFIDENCE: f64 = 0.95;

/// A confidence interval for the median of the distribution of trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// The probability that it contains the median.
    pub coverage: f64,
}

/// Values of several trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub count: usize,
    /// The middle value, or the mean of the two middle values.
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// `None` if read from a summary without means.
    pub mean: Option<Mean>,
    /// For the median; `None` for a single value.
    pub interval: Option<Interval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    pub value: f64,
    /// The root of the unbiased variance divided by the number of values; `None` for a single one.
    pub standard_error: Option<f64>,
}

impl Mean {
    /// Of at least one value.
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let value = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
        let standard_error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Self { value, standard_error }
    }
}

impl Spread {
    /// `None` without values.
    ///
    /// The interval is the exact one from order statistics: each value is below the median of its
    /// distribution with probability 1/2, so \[x_(k), x_(n+1-k)\] misses it with probability 2
    /// P(Bin(n, 1/2) < k), for every continuous distribution. k is the largest with a coverage of
    /// at least 95 %, or 1 if even the range of all values covers less: five trials cover 93.75 %,
    /// six 96.9 %. The interval carries its actual coverage.
    ///
    /// A percentile bootstrap of the median ([`PairedRatio`] has one) also ends at values or
    /// between two of them. For five trials it has the same ends, but claims 95 %.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let count = sorted.len();
        let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
        let interval = order_statistics(count).map(|(k, coverage)| Interval {
            low: sorted[k - 1],
            high: sorted[count - k],
            coverage,
        });
        let mean = Some(Mean::of(&sorted));
        Some(Self { count, median, min, max, mean, interval })
    }
}

/// How many times larger one arm's numbers are than another's in the same trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The number of trials in which both arms have a number.
    pub pairs: usize,
    pub median: f64,
    /// The interval of [`Spread::of`], with its actual coverage; `None` for a single pair.
    pub interval: Option<Interval>,
    /// The percentile interval of the exact bootstrap, with nominal coverage. `None` for a single
    /// pair.
    pub bootstrap: Option<Interval>,
}

impl PairedRatio {
    /// `None` without ratios.
    pub fn of(ratios: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = ratios.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let bootstrap = bootstrap::median_interval(&sorted);
        let Spread { count: pairs, median, interval, .. } = Spread::of(sorted)?;
        Some(Self { pairs, median, interval, bootstrap })
    }
}

/// The k of the interval between the k-th smallest and the k-th largest of `count` values, and the
/// probability that it contains the median.
fn order_statistics(count: usize) -> Option<(usize, f64)> {
    let mut chosen = None;
    let mut ln_choose = 0.0;
    let mut tail = 0.0;
    for k in 1..=count / 2 {
        // P(Bin(n, 1/2) = k - 1) is C(n, k - 1) / 2^n.
        tail += f64::exp(ln_choose - count as f64 * LN_2);
        let coverage = 1.0 - 2.0 * tail;
        if chosen.is_some() && coverage < CONFIDENCE {
            break;
        }
        chosen = Some((k, coverage));
        ln_choose += ((count + 1 - k) as f64 / k as f64).ln();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By enumeration: each value is on either side of the median, with 2^n equally likely
    /// outcomes.
    fn counted_coverage(count: usize, k: usize) -> f64 {
        let covers = |sides: &u32| {
            let below = sides.count_ones() as usize;
            below >= k && count - below >= k
        };
        (0..1u32 << count).filter(covers).count() as f64 / f64::from(1u32 << count)
    }

    #[test]
    fn coverage_is_what_counting_gives_and_the_interval_the_narrowest_that_suffices() {
        assert_eq!(order_statistics(1), None);
        for count in 2..=16 {
            let (k, coverage) = order_statistics(count).unwrap();
            assert!((coverage - counted_coverage(count, k)).abs() < 1e-12, "{count}");
            assert!(k == 1 || coverage >= CONFIDENCE, "{count}");
            assert!(counted_coverage(count, k + 1) < CONFIDENCE, "{count}");
        }
        assert!((order_statistics(5).unwrap().1 - 0.9375).abs() < 1e-12);
    }

    #[test]
    fn many_trials_do_not_underflow() {
        // The normal approximation: k is n/2 - 1.96 sqrt(n)/2.
        let (k, coverage) = order_statistics(10_000).unwrap();
        assert!((4899..=4903).contains(&k) && (0.95..0.952).contains(&coverage), "{k} {coverage}");
    }

    #[test]
    fn with_five_values_the_percentile_bootstrap_gives_the_same_interval() {
        let values = [3.0, 1.0, 4.0, 1.5, 9.0];
        let mut medians = Vec::new();
        for resample in 0..5usize.pow(5) {
            let mut drawn =
                [0usize, 1, 2, 3, 4].map(|i| values[resample / 5usize.pow(i as u32) % 5]);
            drawn.sort_by(f64::total_cmp);
            medians.push(drawn[2]);
        }
        medians.sort_by(f64::total_cmp);
        let cut = medians.len() * 25 / 1000;
        let interval = Spread::of(values).unwrap().interval.unwrap();
        let bootstrap = (medians[cut], medians[medians.len() - 1 - cut]);
        assert_eq!((interval.low, interval.high), bootstrap);
    }

    proptest! {
        #[test]
        fn half_of_the_values_are_on_either_side_of_the_median(
            values in prop::collection::vec(-1e3..1e3f64, 1..30),
        ) {
            let spread = Spread::of(values.iter().copied()).unwrap();
            let below = values.iter().filter(|&&value| value <= spread.median).count();
            let above = values.iter().filter(|&&value| value >= spread.median).count();
            prop_assert!(2 * below >= values.len() && 2 * above >= values.len());
            prop_assert!(values.iter().all(|&value| spread.min <= value && value <= spread.max));
            prop_assert!(values.contains(&spread.min) && values.contains(&spread.max));
            prop_assert_eq!(spread.interval.is_none(), values.len() == 1);
            if let Some(interval) = spread.interval {
                prop_assert!(interval.low <= spread.median && spread.median <= interval.high);
            }
        }
    }

    #[test]
    fn standard_errors_are_those_of_the_mean() {
        let mean = Spread::of([2.0, 4.0, 9.0]).unwrap().mean.unwrap();
        // Squares 9, 1 and 16: a variance of 13, divided by three.
        assert_eq!(mean.value, 5.0);
        assert!((mean.standard_error.unwrap() - (13.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Mean::of(&[7.0]), Mean { value: 7.0, standard_error: None });
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([2.0, 1.0]).unwrap().median, 1.5);
        assert_eq!(Spread::of([2.0, 7.0, 1.0]).unwrap().median, 2.0);
    }
}
