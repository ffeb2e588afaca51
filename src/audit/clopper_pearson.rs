//! Exact confidence bounds for a probability (Clopper and Pearson 1934).

/// The largest p with P(X >= successes) <= alpha for X binomial with `trials` and p. It is below
/// the true probability except with probability alpha. 0 if there was no success.
///
/// Cost: a bisection. Each step sums the tail until terms are negligible.
pub(super) fn lower(successes: usize, trials: usize, alpha: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    let log_choose = log_choose(trials, successes);
    // Below the observed frequency the tail increases with p from 0.
    let (mut low, mut high) = (0.0, successes as f64 / trials as f64);
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        match upper_tail(successes, trials, middle, log_choose) <= alpha {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// The smallest p with P(X <= successes) <= alpha. It is above the true probability except with
/// probability alpha.
pub(super) fn upper(successes: usize, trials: usize, alpha: f64) -> f64 {
    1.0 - lower(trials - successes, trials, alpha)
}

/// P(X >= k) for p <= k / n, where terms decrease from the first one on.
fn upper_tail(k: usize, n: usize, p: f64, log_choose: f64) -> f64 {
    let first = log_choose + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p();
    let odds = p / (1.0 - p);
    let (mut term, mut sum) = (1.0, 1.0);
    for i in k..n {
        term *= (n - i) as f64 / (i + 1) as f64 * odds;
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    (first + f64::ln(sum)).exp()
}

/// ln of n choose k.
fn log_choose(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X >= k) as the sum of all terms.
    fn obvious_tail(k: usize, n: usize, p: f64) -> f64 {
        let choose = |i: usize| (0..i).fold(1.0, |c, j| c * (n - j) as f64 / (j + 1) as f64);
        (k..=n).map(|i| choose(i) * p.powi(i as i32) * (1.0 - p).powi((n - i) as i32)).sum()
    }

    #[test]
    fn the_tail_at_a_bound_is_alpha() {
        for n in [1, 2, 7, 20, 60] {
            for k in 0..=n {
                for alpha in [0.025, 1e-6] {
                    let (low, high) = (lower(k, n, alpha), upper(k, n, alpha));
                    if k > 0 {
                        let tail = obvious_tail(k, n, low);
                        assert!((tail / alpha - 1.0).abs() < 1e-6, "{k} of {n}: {tail}");
                    }
                    if k < n {
                        let tail = 1.0 - obvious_tail(k + 1, n, high);
                        assert!((tail / alpha - 1.0).abs() < 1e-4, "{k} of {n}: {tail}");
                    }
                    assert!(low <= k as f64 / n as f64 && k as f64 / n as f64 <= high);
                }
            }
        }
    }

    #[test]
    fn bounds_agree_with_published_ones() {
        // The usual 95 % interval for 10 of 100, and the rule of three for none of 1000.
        assert!((lower(10, 100, 0.025) - 0.049_005).abs() < 1e-6);
        assert!((upper(10, 100, 0.025) - 0.176_223).abs() < 1e-6);
        assert!((upper(0, 1000, 0.05) - 0.002_991_25).abs() < 1e-7);
    }

    #[test]
    fn a_million_trials_do_not_underflow() {
        let (low, high) = (lower(500_000, 1_000_000, 0.025), upper(500_000, 1_000_000, 0.025));
        let deviation = 1.959_964 * 0.5 / 1000.0;
        assert!((low - (0.5 - deviation)).abs() < 1e-5 && (high - (0.5 + deviation)).abs() < 1e-5);
        assert!(lower(1, 1_000_000, 1e-6) > 0.0);
    }
}
