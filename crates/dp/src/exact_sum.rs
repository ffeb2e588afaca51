//! Exact sums of floats, so that a budget spent in a million parts adds up.

/// An exact running sum of finite floats, as a nonoverlapping expansion.
///
/// Each addition keeps its rounding error as another component (Shewchuk, "Adaptive precision
/// floating-point arithmetic", 1997, grow-expansion). For budgets in practice the expansion has one
/// to three components.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactSum {
    /// Ascending in magnitude, no zeros; their sum is the exact value.
    parts: Vec<f64>,
}

impl ExactSum {
    /// Adds a number.
    pub(super) fn add(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        let mut carry = value;
        self.parts.retain_mut(|part| {
            let sum = carry + *part;
            let virtual_part = sum - carry;
            let error = (carry - (sum - virtual_part)) + (*part - virtual_part);
            carry = sum;
            *part = error;
            error != 0.0
        });
        if carry != 0.0 {
            self.parts.push(carry);
        }
    }

    /// The sum of these values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }

    /// Whether the exact sum is above `bound`. A sum beyond the range of floats is above any bound.
    pub(super) fn exceeds(&self, bound: f64) -> bool {
        let mut difference = self.clone();
        difference.add(-bound);
        // Components do not overlap, so the largest one has the sign of the sum.
        difference.parts.last().is_some_and(|&part| part > 0.0 || part.is_nan())
    }

    /// The largest float that is at most the sum; infinite beyond the range of floats.
    pub(super) fn round_down(&self) -> f64 {
        let mut value: f64 = self.parts.iter().sum();
        if !value.is_finite() {
            return f64::INFINITY;
        }
        while self.is_below(value) {
            value = value.next_down();
        }
        while !self.is_below(value.next_up()) {
            value = value.next_up();
        }
        value
    }

    /// The smallest float that is at least the sum; infinite beyond the range of floats.
    pub(super) fn round_up(&self) -> f64 {
        let below = self.round_down();
        if self.exceeds(below) { below.next_up() } else { below }
    }

    /// The sum with the other sign.
    pub(super) fn negated(&self) -> Self {
        Self { parts: self.parts.iter().map(|part| -part).collect() }
    }

    fn is_below(&self, bound: f64) -> bool {
        self.negated().exceeds(-bound)
    }
}

/// The largest float whose `count`-fold multiple is at most `total`.
pub(super) fn equal_part(total: f64, count: usize) -> f64 {
    let count = count as f64;
    let mut part = total / count;
    // A fused multiply-add rounds once, so the sign of the difference is exact.
    while part.mul_add(count, -total) > 0.0 {
        part = part.next_down();
    }
    part
}

/// Parts of `total` in proportion to positive `weights`, each within a few units in the last place
/// of its exact value. Their sum is at most `total`.
pub(super) fn weighted_parts(total: f64, weights: &[f64]) -> Vec<f64> {
    let whole = ExactSum::of(weights.iter().copied()).round_up();
    let mut parts: Vec<f64> = weights.iter().map(|weight| total * (weight / whole)).collect();
    let mut sum = ExactSum::of(parts.iter().copied());
    // The excess is at most a few roundings of each part. It is taken from the largest part, where
    // its relative size is smallest.
    if let Some(largest) = (0..parts.len()).max_by(|&i, &j| parts[i].total_cmp(&parts[j])) {
        while sum.exceeds(total) {
            let less = parts[largest].next_down();
            sum.add(less - parts[largest]);
            parts[largest] = less;
        }
    }
    parts
}

/// a / b rounded up, for positive numbers.
pub(super) fn divide_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.mul_add(b, -a) < 0.0 { quotient.next_up() } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cancellation_between_large_and_small_is_exact() {
        let sum = ExactSum::of([1e100, 1.0, -1e100, 2f64.powi(-80)]);
        assert!(sum.exceeds(1.0) && !sum.exceeds(1.0f64.next_up()));
        assert_eq!((sum.round_down(), sum.round_up()), (1.0, 1.0f64.next_up()));
        assert_eq!(ExactSum::default().round_down(), 0.0);
    }

    /// Dyadic numbers whose sums fit an integer, for an exact reference.
    fn dyadic() -> impl Strategy<Value = (i64, i32)> {
        (-(1i64 << 52)..(1i64 << 52), 0..60i32)
    }

    proptest! {
        #[test]
        fn agrees_with_integer_arithmetic(numbers in prop::collection::vec(dyadic(), 0..40)) {
            let exact: i128 = numbers.iter().map(|&(m, e)| i128::from(m) << e).sum();
            let sum = ExactSum::of(numbers.iter().map(|&(m, e)| m as f64 * 2f64.powi(e)));
            let (down, up) = (sum.round_down(), sum.round_up());
            prop_assert!((down as i128) <= exact && exact <= (up as i128));
            prop_assert!(down == up || down.next_up() == up);
            prop_assert_eq!(down == up, down as i128 == exact);
        }

        #[test]
        fn parts_add_up_to_the_total_from_below(
            total in 1e-12..1e6f64,
            weights in prop::collection::vec(1e-6..1e6f64, 1..200),
        ) {
            let parts = weighted_parts(total, &weights);
            let sum = ExactSum::of(parts.iter().copied());
            prop_assert!(!sum.exceeds(total) && sum.exceeds(total * (1.0 - 1e-13)));
            let whole: f64 = weights.iter().sum();
            for (part, weight) in parts.iter().zip(&weights) {
                prop_assert!((part / (total * weight / whole) - 1.0).abs() < 1e-12);
            }
            let equal = equal_part(total, weights.len());
            let sum = ExactSum::of(std::iter::repeat_n(equal, weights.len()));
            prop_assert!(!sum.exceeds(total) && sum.exceeds(total * (1.0 - 1e-15)));
        }

        #[test]
        fn quotients_are_rounded_up(a in 1e-9..1e9f64, b in 1e-9..1e9f64) {
            let quotient = divide_up(a, b);
            prop_assert!(quotient.mul_add(b, -a) >= 0.0);
            prop_assert!(quotient.next_down().mul_add(b, -a) < 0.0);
        }
    }
}
