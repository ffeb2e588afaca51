//! How good an estimate is.

use crate::workload::SubWorkload;

/// The paper's error: the mean over the sub-workloads of |W mu - W mu^|_1 / (2 |W mu|_1), from the
/// answers on the data and on the estimate. For an identity W it is the total variation distance.
///
/// A sub-workload whose true answers are all 0 counts as 0 when the estimate agrees, and as
/// infinite otherwise.
pub fn workload_error(truth: &[Vec<f64>], estimate: &[Vec<f64>]) -> f64 {
    let error = |(truth, estimate): (&Vec<f64>, &Vec<f64>)| {
        let distance: f64 = truth.iter().zip(estimate).map(|(t, e)| (t - e).abs()).sum();
        let size: f64 = truth.iter().map(|t| t.abs()).sum();
        if distance == 0.0 { 0.0 } else { distance / (2.0 * size) }
    };
    truth.iter().zip(estimate).map(error).sum::<f64>() / truth.len().max(1) as f64
}

/// The answers of each sub-workload on these marginals, one for each.
pub fn answers<'a>(
    parts: &[SubWorkload],
    marginals: impl IntoIterator<Item = &'a [f64]>,
) -> Vec<Vec<f64>> {
    parts.iter().zip(marginals).map(|(part, marginal)| part.answers(marginal)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_a_mean_of_relative_distances() {
        let truth = [vec![3.0, 1.0], vec![0.0, 2.0]];
        let estimate = [vec![1.0, 3.0], vec![0.0, 2.0]];
        assert_eq!(workload_error(&truth, &estimate), 0.25);
        assert_eq!(workload_error(&[vec![0.0]], &[vec![1.0]]), f64::INFINITY);
        assert_eq!(workload_error(&[vec![0.0]], &[vec![0.0]]), 0.0);
    }
}
