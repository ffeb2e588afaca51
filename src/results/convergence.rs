//! Which estimates are certified to be close to the optimum.

use super::record::TrialRecord;
use crate::config::Status;

/// The largest certified gap of an estimate that has converged, as a share of its loss. Our choice.
///
/// The L2 loss is L = |r|^2 / 2 with r the residuals in standard deviations of the noise. It is
/// 1-strongly convex in r, so that a gap g bounds the distance to the optimum r*:
/// |r - r*|^2 / 2 <= g. A gap of L / 100 is |r - r*| <= |r| / 10: the rest of the optimisation
/// would change the answers by at most a tenth of their residuals.
///
/// The gap is an upper bound, and loose far from the optimum. On Adult it is 0.85 % of the loss
/// with HDMM where the loss is 0.006 % above that of a longer run, and 8 % with PrivBayes where it
/// is 0.01 % above. A smaller share would therefore reject many estimates that no figure
/// distinguishes from the optimum, and a larger one would certify little. An estimate that fails
/// the test is not known to be bad.
const LARGEST_SHARE: f64 = 0.01;

/// The loss of a single answer that is one standard deviation off. Where answers can be fitted
/// exactly the smallest loss is 0, and no gap is small next to it; a gap of 1 % of this bounds the
/// distance of every answer from its optimum by a tenth of its standard deviation.
const SMALLEST_LOSS: f64 = 0.5;

/// The mark of numbers from estimates that have not converged.
pub const UNCONVERGED_MARK: &str = "\u{2020}";

/// Whether an estimate with this loss and this certified gap is as good as the optimum:
/// gap <= 1 % of the loss, where a loss below 1/2 counts as 1/2.
///
/// Without a gap, as with an oracle that cannot certify one, the answer is `false`. A negative
/// log-likelihood (DualQuery) has no natural zero, so the test is less meaningful there.
pub fn is_converged(loss: f64, gap: Option<f64>) -> bool {
    gap.is_some_and(|gap| gap <= LARGEST_SHARE * loss.max(SMALLEST_LOSS))
}

/// The explanation of the mark, without a full stop.
pub fn unconverged_note() -> String {
    format!(
        "{UNCONVERGED_MARK} not converged: the loss is not certified to be within {} % of the \
         smallest possible one, so that more iterations may change the estimate",
        100.0 * LARGEST_SHARE
    )
}

impl TrialRecord {
    /// Whether the estimate is the result of an optimisation. Least squares in closed form,
    /// unprocessed noisy answers and sampled records have no gap to certify.
    fn has_certificate(&self) -> bool {
        self.status == Status::Done && self.loss.is_some()
    }

    /// Whether the estimate should be certified to be close to the optimum and is not.
    pub fn is_unconverged(&self) -> bool {
        self.has_certificate() && self.loss.is_some_and(|loss| !is_converged(loss, self.gap))
    }
}

/// The number of rows that have not converged; `None` if no row has a certificate.
pub(super) fn unconverged<'a>(rows: impl IntoIterator<Item = &'a TrialRecord>) -> Option<usize> {
    let certified = rows.into_iter().filter(|row| row.has_certificate());
    certified.map(|row| usize::from(row.is_unconverged())).reduce(|sum, one| sum + one)
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn a_gap_of_one_percent_of_the_loss_is_small_and_a_larger_one_is_not() {
        assert!(is_converged(1000.0, Some(10.0)) && !is_converged(1000.0, Some(10.1)));
        assert!(is_converged(1000.0, Some(0.0)));
        for unknown in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert!(!is_converged(1000.0, unknown), "{unknown:?}");
        }
        assert!(unconverged_note().contains(" 1 % "), "{}", unconverged_note());
    }

    #[test]
    fn a_gap_far_below_the_noise_is_small_even_where_the_loss_is_zero() {
        // MWEM on Adult, whose measurements are consistent.
        assert!(is_converged(1.2e-11, Some(9e-4)) && is_converged(0.0, Some(0.005)));
        assert!(!is_converged(0.0, Some(0.006)));
    }

    #[test]
    fn only_estimates_that_could_have_a_certificate_are_counted() {
        let row = |loss, gap| TrialRecord { loss, gap, ..examples::row("adult", "hdmm", "pgm", 0) };
        let (far, near, uncertified) =
            (row(Some(100.0), Some(2.0)), row(Some(100.0), Some(0.5)), row(Some(100.0), None));
        let failed = TrialRecord { status: Status::Timeout, ..far.clone() };
        let least_squares = row(None, None);
        assert!(far.is_unconverged() && uncertified.is_unconverged());
        assert!(![&near, &failed, &least_squares].into_iter().any(TrialRecord::is_unconverged));
        assert_eq!(unconverged([&far, &near, &uncertified, &failed, &least_squares]), Some(2));
        assert_eq!(unconverged([&near]), Some(0));
        assert_eq!(unconverged([&failed, &least_squares]), None);
    }
}
