use crate::mechanism::support::counting_query::CountingQuery;
use crate::mechanism::support::score_grid::on_grid;
use crate::workload::{SubWorkload, Workload};
use dp::{LInfinity, Neighbours, Sensitivity, SensitivityError};
use private_pgm::factor::Factor;

/// The score of every query q: |q(x) - q(x^)|. `truth` are the answers q(x) by sub-workload, and
/// `marginals` are those of the estimate x^.
///
/// # Sensitivity
///
/// x^ is the same for both tables: it depends on published answers only. By the triangle
/// inequality, ||a| - |a'|| <= |a - a'|, a score changes by at most the change of q(x), which is 1
/// for a q with entries 0 and 1: an added or removed record is counted or not, and so are the old
/// and the new one of a replacement.
///
/// Rounding does not increase this value. Counts are integers. x^ is public and is rounded to
/// multiples of 2^-20. Sums and differences of such numbers are exact up to 2^32.
pub(super) fn scores(parts: &[SubWorkload], truth: &[Vec<f64>], marginals: &[Factor]) -> Vec<f64> {
    let mut scores = Vec::new();
    for ((part, truth), marginal) in parts.iter().zip(truth).zip(marginals) {
        let estimate = part.answers(marginal.values());
        scores.extend(truth.iter().zip(estimate).map(|(t, e)| (t - on_grid(e)).abs()));
    }
    scores
}

/// The sensitivity of a score, and of the answer to one query: see [`scores`].
pub(super) const LARGEST_CHANGE: f64 = 1.0;

/// The sensitivity of [`scores`].
pub(super) fn sensitivity(
    neighbours: Neighbours,
) -> Result<Sensitivity<LInfinity>, SensitivityError> {
    Sensitivity::new(LARGEST_CHANGE, neighbours)
}

/// The query at this place among those of all sub-workloads, and its answer.
pub(super) fn row_of(
    workload: &Workload,
    truth: &[Vec<f64>],
    place: usize,
) -> (CountingQuery, f64) {
    let (mut part, mut row) = (0, place);
    while row >= truth[part].len() {
        row -= truth[part].len();
        part += 1;
    }
    (CountingQuery::of_row(workload.domain(), &workload.parts()[part], row), truth[part][row])
}
