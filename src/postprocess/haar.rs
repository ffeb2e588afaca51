//! The Haar wavelet transform of a histogram with unnormalised sums and differences (Xiao, Wang,
//! Gehrke, "Differential privacy via wavelet transforms", TKDE 2011).

/// The coefficients of a histogram, padded with zeros to a power of two: its sum, then for each
/// node of the binary tree, level by level from the root, the sum of the left half minus that of
/// the right half. Linear in the number of bins.
pub(crate) fn transform(bins: &[f64]) -> Vec<f64> {
    let size = bins.len().next_power_of_two();
    let mut sums = bins.to_vec();
    sums.resize(size, 0.0);
    let mut coefficients = vec![0.0; size];
    let mut nodes = size / 2;
    while nodes > 0 {
        for node in 0..nodes {
            let (left, right) = (sums[2 * node], sums[2 * node + 1]);
            coefficients[nodes + node] = left - right;
            sums[node] = left + right;
        }
        nodes /= 2;
    }
    coefficients[0] = sums[0];
    coefficients
}

/// The histogram with these coefficients. Their number is a power of two.
pub(crate) fn inverse(coefficients: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; coefficients.len()];
    sums[0] = coefficients[0];
    let mut nodes = 1;
    while nodes < coefficients.len() {
        for node in (0..nodes).rev() {
            let (sum, difference) = (sums[node], coefficients[nodes + node]);
            sums[2 * node] = (sum + difference) / 2.0;
            sums[2 * node + 1] = (sum - difference) / 2.0;
        }
        nodes *= 2;
    }
    sums
}

/// The rows of the transform: for each coefficient, the bins that it adds, then those that it
/// subtracts. Padding is omitted.
pub(crate) fn rows(bins: usize) -> impl Iterator<Item = [std::ops::Range<usize>; 2]> {
    let size = bins.next_power_of_two();
    (0..size).map(move |coefficient| {
        let within = |start: usize, end: usize| start.min(bins)..end.min(bins);
        if coefficient == 0 {
            return [0..bins, 0..0];
        }
        let level = 1 << coefficient.ilog2();
        let (width, node) = (size / level, coefficient - level);
        let (start, middle) = (node * width, node * width + width / 2);
        [within(start, middle), within(middle, start + width)]
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_inverse_transform_recovers_the_histogram(
            bins in prop::collection::vec(-100.0..100.0f64, 1..70),
        ) {
            let back = inverse(&transform(&bins));
            prop_assert!(bins.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-9));
            prop_assert!(back[bins.len()..].iter().all(|b| b.abs() < 1e-9));
        }

        #[test]
        fn coefficients_agree_with_their_rows(
            bins in prop::collection::vec(-100.0..100.0f64, 1..70),
        ) {
            let sum = |range: std::ops::Range<usize>| bins[range].iter().sum::<f64>();
            let expected = rows(bins.len()).map(|[plus, minus]| sum(plus) - sum(minus));
            let found = transform(&bins);
            prop_assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }
}
