//! Errors of an estimate.

use crate::workload::SubWorkload;

/// The error of ICML 2019: the mean over the sub-workloads of |W mu - W mu^|_1 / (2 |W mu|_1), from
/// the answers on the data and on the estimate. For an identity W it is the total variation
/// distance.
///
/// A sub-workload whose true answers are all 0 has the error 0 if the estimate agrees, otherwise
/// infinity.
pub(crate) fn workload_error(truth: &[Vec<f64>], estimate: &[Vec<f64>]) -> f64 {
    let error = |(truth, estimate): (&Vec<f64>, &Vec<f64>)| {
        let distance: f64 = truth.iter().zip(estimate).map(|(t, e)| (t - e).abs()).sum();
        let size: f64 = truth.iter().map(|t| t.abs()).sum();
        if distance == 0.0 { 0.0 } else { distance / (2.0 * size) }
    };
    truth.iter().zip(estimate).map(error).sum::<f64>() / truth.len().max(1) as f64
}

/// The mean squared error over all queries (KDD 2015, section 5).
///
/// If every query of a sub-workload counts records, negative answers are set to 0, as in the paper:
/// that counts are not negative is public knowledge.
pub(crate) fn mean_squared_error(
    parts: &[SubWorkload],
    truth: &[Vec<f64>],
    estimate: &[Vec<f64>],
) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for ((part, truth), estimate) in parts.iter().zip(truth).zip(estimate) {
        let (factors, shape) = (part.query.factors(), part.query.shape());
        let counts = factors.iter().zip(shape).all(|(factor, &n)| factor.counts(n));
        let low = if counts { 0.0 } else { f64::NEG_INFINITY };
        let squares = truth.iter().zip(estimate).map(|(t, e)| (t - e.max(low)).powi(2));
        sum += squares.sum::<f64>();
        count += truth.len();
    }
    sum / count.max(1) as f64
}

/// The largest error of a query as a fraction of the records, max |q(p) - q(p^)|, which theorems
/// about counting queries bound. Negative answers are used as they are.
pub(crate) fn largest_error(truth: &[Vec<f64>], estimate: &[Vec<f64>], records: usize) -> f64 {
    let pairs = truth.iter().flatten().zip(estimate.iter().flatten());
    pairs.map(|(t, e)| (t - e).abs()).fold(0.0, f64::max) / records as f64
}

/// The answers of each sub-workload on its marginal.
pub(crate) fn answers<'a>(
    parts: &[SubWorkload],
    marginals: impl IntoIterator<Item = &'a [f64]>,
) -> Vec<Vec<f64>> {
    parts.iter().zip(marginals).map(|(part, marginal)| part.answers(marginal)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::domain::Domain;
    use private_pgm::numeric::matrix::Matrix;
    use private_pgm::query::QueryMatrix;

    #[test]
    fn negative_counts_are_set_to_zero_and_other_negative_answers_are_not() {
        let domain = Domain::new([("a", 2)]).unwrap();
        let clique = domain.everything();
        let counts = QueryMatrix::identity(&domain, &clique).unwrap();
        let signs = Matrix::new(2, 2, vec![1.0, -1.0, 1.0, 1.0]);
        let signs = QueryMatrix::dense(&domain, clique.as_slice(), signs).unwrap();
        let error = |query| {
            let part = SubWorkload { clique: clique.clone(), query };
            mean_squared_error(&[part], &[vec![1.0, 3.0]], &[vec![-2.0, 5.0]])
        };
        assert_eq!(error(counts), 2.5);
        assert_eq!(error(signs), 6.5);
    }

    #[test]
    fn the_error_is_a_mean_of_relative_distances() {
        let truth = [vec![3.0, 1.0], vec![0.0, 2.0]];
        let estimate = [vec![1.0, 3.0], vec![0.0, 2.0]];
        assert_eq!(workload_error(&truth, &estimate), 0.25);
        assert_eq!(largest_error(&truth, &estimate, 4), 0.5);
        assert_eq!(workload_error(&[vec![0.0]], &[vec![1.0]]), f64::INFINITY);
        assert_eq!(workload_error(&[vec![0.0]], &[vec![0.0]]), 0.0);
    }
}
