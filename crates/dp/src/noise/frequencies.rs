//! Pearson's chi-squared test, for samplers whose probabilities are known.

/// The false-alarm rate of one comparison. Seeds are fixed, so a test either always passes or
/// always fails; with this rate a correct sampler and an arbitrary seed fail once in a million.
const FALSE_ALARM: f64 = 1e-6;

/// Asserts that a chi-squared variable exceeds the statistic of these counts with a probability of
/// more than [`FALSE_ALARM`].
///
/// The number of outcomes must be odd: with n degrees of freedom, n even, the tail has the closed
/// form P(X > x) = exp(-x/2) sum_{i < n/2} (x/2)^i / i!.
pub(crate) fn assert_frequencies(counts: &[u64], probabilities: &[f64]) {
    assert!(counts.len() % 2 == 1 && counts.len() == probabilities.len());
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "not a distribution");
    let total = counts.iter().sum::<u64>() as f64;
    let statistic: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, p)| {
            assert!(total * p >= 5.0, "an outcome is too rare for the approximation");
            (count as f64 - total * p).powi(2) / (total * p)
        })
        .sum();
    let p_value = tail(statistic, counts.len() - 1);
    assert!(p_value > FALSE_ALARM, "chi-squared {statistic}, p = {p_value:e}: {counts:?}");
}

fn tail(statistic: f64, degrees: usize) -> f64 {
    let half = statistic / 2.0;
    let mut term = (-half).exp();
    let mut sum = term;
    for i in 1..degrees / 2 {
        term *= half / i as f64;
        sum += term;
    }
    sum
}

/// Counts of the integers `-reach..=reach`; values beyond are counted at the nearer end.
pub(crate) fn histogram(values: impl IntoIterator<Item = i128>, reach: i128) -> Vec<u64> {
    let mut counts = vec![0; 2 * reach as usize + 1];
    for value in values {
        counts[(value.clamp(-reach, reach) + reach) as usize] += 1;
    }
    counts
}

/// The probabilities of the same outcomes for a symmetric distribution on the integers, given its
/// weights up to a constant; the weight beyond `cut` is negligible.
pub(crate) fn folded(weight: impl Fn(f64) -> f64, reach: i128, cut: i128) -> Vec<f64> {
    let total: f64 = (-cut..=cut).map(|k| weight(k as f64)).sum();
    let tail: f64 = (reach..=cut).map(|k| weight(k as f64)).sum::<f64>() / total;
    (-reach..=reach)
        .map(|k| if k.abs() == reach { tail } else { weight(k as f64) / total })
        .collect()
}

#[test]
fn the_tail_agrees_with_printed_tables() {
    // Critical values of the usual tables: 5.991 (2 degrees, 5%), 18.307 (10, 5%), 29.588 (10,
    // 0.1%).
    for (statistic, degrees, p) in [(5.991, 2, 0.05), (18.307, 10, 0.05), (29.588, 10, 0.001)] {
        assert!((tail(statistic, degrees) / p - 1.0).abs() < 1e-3);
    }
}

#[test]
#[should_panic(expected = "chi-squared")]
fn a_loaded_die_is_found_out() {
    assert_frequencies(&[10_600, 9_700, 9_700], &[1.0 / 3.0; 3]);
}
