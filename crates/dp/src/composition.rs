//! Composition theorems, and conversions between kinds of guarantees.
//!
//! Sequential composition is addition in each of the three currencies:
//!
//! - epsilon: M_1, ..., M_k, each epsilon_i-private given the earlier outputs, are together
//!   (sum of epsilon_i)-private; likewise the deltas (Dwork and Roth 2014, theorem 3.16).
//! - rho: the same for zCDP (Bun and Steinke 2016, lemma 1.7).
//!
//! Parallel composition is at [`Share::parallel`](super::Share::parallel).
//!
//! Advanced composition ([`advanced`]) allows more small draws in exchange for a delta. There are
//! two ways to use it:
//!
//! - A budget in rho, from [`Rho::implying`]. A pure draw then costs epsilon^2/2
//!   ([`Rho::of_pure`]), and k of them are (k epsilon^2/2)-zCDP, hence (epsilon', delta)-private
//!   with epsilon' <= k epsilon^2/2 + epsilon sqrt(2k ln(1/delta)). That is never more than the
//!   theorem's k epsilon (e^epsilon - 1) + epsilon sqrt(2k ln(1/delta)).
//! - [`Share::advanced`](super::Share::advanced) within a budget of (epsilon, delta), for
//!   mechanisms whose paper uses the theorem itself.

use std::cell::Cell;

use super::{Delta, Epsilon, ParameterError, Rho};

/// The relative allowance for rounding in the conversions below, which lose a few units in the last
/// place (2^-53). Our choice: a thousand times that, always towards more privacy.
pub(super) const ROUNDING: f64 = 1e-13;

/// Advanced composition: `count` draws, each `epsilon`-private given the earlier outputs, are
/// together (epsilon', slack)-private with
///
/// epsilon' = epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1)
///
/// (Dwork, Rothblum, Vadhan 2010; Dwork and Roth 2014, theorem 3.20). For few draws the plain sum
/// k epsilon can be smaller; it needs no slack and is not considered here.
pub fn advanced(epsilon: Epsilon, count: usize, slack: Delta) -> Result<Epsilon, ParameterError> {
    let (e, k) = (epsilon.get(), count as f64);
    let spread = e * (2.0 * k * -slack.get().ln()).sqrt();
    let mean = sabotage!(k * e * e.exp_m1(), "advanced-without-second-term", 0.0);
    Epsilon::new((spread + mean) * (1.0 + ROUNDING))
}

/// The largest epsilon for each of `count` draws that are together (total, slack)-private by
/// [`advanced`] composition, by bisection from below.
pub fn advanced_share(
    total: Epsilon,
    count: usize,
    slack: Delta,
) -> Result<Epsilon, ParameterError> {
    // At e = total + 1 the second term alone, e (e^e - 1) > e, exceeds the total.
    let fits = |e: f64| {
        Epsilon::new(e)
            .and_then(|e| advanced(e, count, slack))
            .is_ok_and(|composed| composed <= total)
    };
    Epsilon::new(largest(total.get() + 1.0, fits))
}

impl Rho {
    /// epsilon^2/2: an epsilon-private mechanism is (epsilon^2/2)-zCDP (Bun and Steinke 2016,
    /// proposition 1.4).
    pub fn of_pure(epsilon: Epsilon) -> Result<Self, ParameterError> {
        let half = sabotage!(2.0, "pure-costs-an-eighth", 8.0);
        Self::new((epsilon.get() * epsilon.get() / half).next_up())
    }

    /// The largest epsilon of a pure mechanism that costs at most this rho: sqrt(2 rho), the
    /// inverse of [`Rho::of_pure`].
    pub fn pure_epsilon(self) -> Result<Epsilon, ParameterError> {
        let mut epsilon = (2.0 * self.get()).sqrt();
        // One or two steps down compensate the roundings of the square root and of the cost.
        while (epsilon * epsilon / 2.0).next_up() > self.get() && epsilon > 0.0 {
            epsilon = epsilon.next_down();
        }
        Epsilon::new(epsilon)
    }

    /// The epsilon for which rho-zCDP implies (epsilon, delta)-differential privacy.
    ///
    /// For every alpha > 1, with L = ln(1/delta),
    ///
    /// epsilon = alpha rho + (L + (alpha - 1) ln(1 - 1/alpha) - ln alpha) / (alpha - 1)
    ///
    /// is valid (Canonne, Kamath, Steinke 2020, section 2.3, solved for epsilon). The minimum over
    /// alpha is found numerically, which may lose tightness but not validity. Without the two
    /// negative terms and with alpha = 1 + sqrt(L / rho) this is the standard bound
    /// rho + 2 sqrt(rho L) ([`Rho::standard_epsilon`]).
    pub fn epsilon(self, delta: Delta) -> Result<Epsilon, ParameterError> {
        let (rho, log) = (self.get(), -delta.get().ln());
        // As a function of x = ln(alpha - 1): the bound, and the sum of the sizes of its terms, to
        // which the rounding error is relative. ln(1 - 1/alpha) = -ln(1 + 1/(alpha - 1)), without
        // cancellation.
        let terms = |x: f64| {
            let below = x.exp();
            let (first, second) = ((1.0 + below) * rho, (-x).exp().ln_1p());
            let (third, fourth) = (log / below, below.ln_1p() / below);
            let third = sabotage!(third, "rho-with-root-delta", third / 2.0);
            let fourth = sabotage!(fourth, "rho-with-one-term-twice", 2.0 * fourth);
            (first - second + third - fourth, first + second + third + fourth)
        };
        // Golden-section search around the alpha of the standard bound.
        let centre = 0.5 * (log / rho).ln();
        let (mut low, mut high) = (centre - 10.0, centre + 10.0);
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        while high - low > 1e-9 {
            let (left, right) = (high - golden * (high - low), low + golden * (high - low));
            if terms(left).0 < terms(right).0 { high = right } else { low = left }
        }
        let standard = self.standard_epsilon(delta)?;
        let (bound, sizes) = terms(low);
        let tight = bound + ROUNDING * sizes;
        // The terms may overflow.
        if !tight.is_finite() {
            return Ok(standard);
        }
        // The bound may be negative, but an epsilon is positive.
        let tight = tight.max(f64::MIN_POSITIVE);
        Ok(if tight < standard.get() { Epsilon::new(tight)? } else { standard })
    }

    /// rho + 2 sqrt(rho ln(1/delta)): the epsilon for which rho-zCDP implies (epsilon,
    /// delta)-differential privacy by Bun and Steinke 2016, proposition 1.3.
    pub fn standard_epsilon(self, delta: Delta) -> Result<Epsilon, ParameterError> {
        let rho = self.get();
        let two = sabotage!(2.0, "rho-without-factor-2", 1.0);
        Epsilon::new((rho + two * (rho * -delta.get().ln()).sqrt()) * (1.0 + ROUNDING))
    }

    /// The largest rho that implies (epsilon, delta)-differential privacy by [`Rho::epsilon`], by
    /// bisection from below.
    pub fn implying(epsilon: Epsilon, delta: Delta) -> Result<Self, ParameterError> {
        let asked = [epsilon.get().to_bits(), delta.get().to_bits()];
        if let Some((known, rho)) = LAST.get()
            && known == asked
            // Planted bugs change the result from one call to the next.
            && !cfg!(feature = "sabotage")
        {
            return Ok(rho);
        }
        // The result is above epsilon for large deltas: doubling finds an upper end.
        let fits = |rho: f64| {
            Rho::new(rho).and_then(|rho| rho.epsilon(delta)).is_ok_and(|implied| implied <= epsilon)
        };
        let mut high = epsilon.get();
        while fits(high) {
            high *= 2.0;
        }
        let rho = Rho::new(largest(high, fits))?;
        LAST.set(Some((asked, rho)));
        Ok(rho)
    }
}

thread_local! {
    /// The last arguments of [`Rho::implying`], as bits, and its result. Audits ask for the same
    /// budget a hundred thousand times, and the bisection takes a millisecond.
    static LAST: Cell<Option<([u64; 2], Rho)>> = const { Cell::new(None) };
}

/// The largest float below `high` that fits, for a property that holds up to a threshold.
fn largest(high: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, high);
    // At most 1075 halvings reach the magnitude of the threshold, and 53 more its resolution.
    for _ in 0..1200 {
        let middle = if low == 0.0 { high / 2.0 } else { low + (high - low) / 2.0 };
        if middle <= low || middle >= high {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(value: f64) -> Delta {
        Delta::new(value).unwrap()
    }

    #[test]
    fn the_tight_bound_is_below_the_standard_one_and_above_the_gaussian_itself() {
        // A Gaussian with rho = 1/2 (sensitivity 1, sigma 1). Its exact curve, delta(epsilon) =
        // Phi(1/2 - epsilon) - e^epsilon Phi(-1/2 - epsilon) (Balle and Wang 2018), is a lower
        // bound for anything that holds of all (1/2)-zCDP mechanisms.
        let survival = |x: f64| -> f64 {
            // Simpson's rule on [x, x + 12].
            let (n, width) = (4000, 12.0);
            let h = width / n as f64;
            let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            (0..=n)
                .map(|i| {
                    let weight = if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
                    weight * density(x + i as f64 * h)
                })
                .sum::<f64>()
                * h
                / 3.0
        };
        let exact = |e: f64| survival(e - 0.5) - e.exp() * survival(e + 0.5);
        for d in [1e-2, 1e-5, 1e-8] {
            let rho = Rho::new(0.5).unwrap();
            let (tight, standard) =
                (rho.epsilon(delta(d)).unwrap(), rho.standard_epsilon(delta(d)).unwrap());
            assert!(tight < standard);
            assert!(exact(tight.get()) < d, "the bound is not valid for the Gaussian");
            assert!(exact(tight.get()) > d / 30.0, "the bound is loose for the Gaussian");
        }
    }

    #[test]
    fn the_tight_bound_agrees_with_a_grid_search_of_the_published_formula() {
        for (rho, d) in [(1e-4, 1e-9), (0.1, 1e-6), (2.0, 1e-5), (30.0, 1e-3)] {
            let computed = Rho::new(rho).unwrap().epsilon(delta(d)).unwrap();
            // delta = exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1), its best over alpha.
            let e = computed.get();
            let best = (1..40_000)
                .map(|i| 1.0 + (i as f64 * 5e-4 - 8.0).exp())
                .map(|a| (a - 1.0) * (a * rho - e) - (a - 1.0).ln() + a * (1.0 - 1.0 / a).ln())
                .fold(f64::INFINITY, f64::min);
            assert!((best - d.ln()).abs() < 1e-5, "rho {rho}: {best} and {}", d.ln());
        }
    }

    #[test]
    fn a_conversion_to_rho_and_back_is_never_larger() {
        for e in [1e-6, 0.01, 1.0, 10.0, 300.0] {
            for d in [0.3, 1e-3, 1e-9, 1e-60] {
                let epsilon = Epsilon::new(e).unwrap();
                let rho = Rho::implying(epsilon, delta(d)).unwrap();
                let implied = rho.epsilon(delta(d)).unwrap();
                assert!(implied <= epsilon && implied.get() > 0.999 * e, "{e} {d}: {implied}");
            }
            let rho = Rho::new(e).unwrap();
            let back = Rho::of_pure(rho.pure_epsilon().unwrap()).unwrap();
            assert!(back <= rho && back.get() > e * (1.0 - 1e-14));
        }
    }

    #[test]
    fn a_result_that_is_remembered_is_that_of_its_arguments() {
        let ask = |e, d| Rho::implying(Epsilon::new(e).unwrap(), delta(d)).unwrap();
        let first = ask(1.0, 1e-6);
        assert_eq!(ask(1.0, 1e-6), first);
        assert!(ask(2.0, 1e-6) > first);
        assert!(ask(2.0, 1e-9) < ask(2.0, 1e-6));
        assert_eq!(ask(1.0, 1e-6), first);
    }

    #[test]
    fn a_budget_in_rho_is_never_worse_than_advanced_composition() {
        for e in [1e-3, 0.05, 0.5, 2.0] {
            for count in [1, 10, 1000] {
                for d in [1e-3, 1e-9] {
                    let epsilon = Epsilon::new(e).unwrap();
                    let theorem = advanced(epsilon, count, delta(d)).unwrap();
                    let rho = Rho::of_pure(epsilon).unwrap().get() * count as f64;
                    assert!(Rho::new(rho).unwrap().epsilon(delta(d)).unwrap() <= theorem);
                }
            }
        }
    }

    #[test]
    fn shares_of_advanced_composition_fill_the_total_from_below() {
        for e in [0.01, 1.0, 20.0] {
            for count in [1, 7, 5000] {
                let total = Epsilon::new(e).unwrap();
                let share = advanced_share(total, count, delta(1e-6)).unwrap();
                let composed = advanced(share, count, delta(1e-6)).unwrap();
                assert!(composed <= total && composed.get() > e * (1.0 - 1e-10));
            }
        }
        // Computed by hand: epsilon 0.1, 100 draws, slack e^-8.
        let by_hand = 0.1 * (200.0 * 8.0f64).sqrt() + 10.0 * 0.1f64.exp_m1();
        let epsilon = advanced(Epsilon::new(0.1).unwrap(), 100, delta((-8f64).exp())).unwrap();
        assert!((epsilon.get() - by_hand).abs() < 1e-9);
    }
}
