//! Elementwise operations on slices of one length.

use multiversion::multiversion;

use super::exp::exp_one;

/// x *= y for each pair; returns the largest x there was (NaN if any was).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn multiply_assign(x: &mut [f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    let mut lanes = [f64::NEG_INFINITY; 8];
    let mut nan = [0.0; 8];
    let mut pairs = x.chunks_exact_mut(8).zip(y.chunks_exact(8));
    for (x, y) in &mut pairs {
        for i in 0..8 {
            lanes[i] = if x[i] > lanes[i] { x[i] } else { lanes[i] };
            // 0 for a number, NaN for infinities and NaN.
            nan[i] += x[i] * 0.0;
            x[i] *= y[i];
        }
    }
    let mut largest = lanes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let done = x.len() / 8 * 8;
    for (x, y) in x[done..].iter_mut().zip(&y[done..]) {
        largest = largest.max(*x);
        nan[0] += *x * 0.0;
        *x *= y;
    }
    largest + nan.iter().sum::<f64>()
}

/// x = exp(x + y) for each pair, 0 where either is minus infinity.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn add_exp(x: &mut [f64], y: &[f64]) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter_mut().zip(y) {
        *x = exp_one(*x + y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_every_length_and_their_largest_factor() {
        for n in 0..30 {
            let mut x: Vec<f64> = (0..n).map(|i| f64::from(i * 5 % 7)).collect();
            let y: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
            let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(multiply_assign(&mut x, &y), largest);
            assert_eq!(x, expected);
        }
    }

    #[test]
    fn a_number_out_of_range_shows_wherever_it_is() {
        for n in 1..20 {
            for at in 0..n {
                for bad in [f64::NAN, f64::INFINITY] {
                    let mut x = vec![1.0; n];
                    x[at] = bad;
                    assert!(multiply_assign(&mut x, &vec![1.0; n]).is_nan(), "{n} {at}");
                }
            }
        }
    }
}
