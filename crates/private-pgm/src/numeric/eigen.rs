//! The largest eigenvalue of a symmetric matrix given by its products with vectors.

use super::pointwise::{add_scaled, dot};

/// The smallest number of iterations: small matrices are resolved completely, even with close
/// eigenvalues. Our choice.
const MIN_ITERATIONS: usize = 32;
/// The largest number of iterations; the result is then a lower bound. Our choice.
const MAX_ITERATIONS: usize = 300;

/// The largest eigenvalue of a positive semidefinite matrix, by Lanczos iteration with full
/// reorthogonalisation. The estimates increase; iterations end when the relative change is below
/// 1e-13.
///
/// `product(x, out)` writes the matrix times x. The start vector is pseudorandom, so that it is not
/// orthogonal to the leading eigenvector. Memory: one vector per iteration. Reference: Golub and
/// Van Loan, Matrix Computations, 10.1.
pub(crate) fn largest_eigenvalue(size: usize, mut product: impl FnMut(&[f64], &mut [f64])) -> f64 {
    let mut next: Vec<f64> = (0..size as u64).map(hashed).collect();
    let (mut basis, mut diagonal, mut off_diagonal) =
        (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
    let mut estimate = 0.0;
    for iteration in 0..size.min(MAX_ITERATIONS) {
        let norm = dot(&next, &next).sqrt();
        if norm <= 1e-14 * estimate {
            break;
        }
        if iteration > 0 {
            off_diagonal.push(norm);
        }
        let direction: Vec<f64> = next.iter().map(|x| x / norm).collect();
        product(&direction, &mut next);
        diagonal.push(dot(&direction, &next));
        basis.push(direction);
        // Twice, because one pass leaves rounding errors relative to what it subtracts.
        for _ in 0..2 {
            for direction in &basis {
                let along = dot(direction, &next);
                add_scaled(-along, direction, &mut next);
            }
        }
        let better = largest_of_tridiagonal(&diagonal, &off_diagonal);
        let change = better - estimate;
        estimate = better;
        if iteration >= MIN_ITERATIONS && change <= 1e-13 * estimate {
            break;
        }
    }
    estimate
}

/// A pseudorandom number between 1 and 2: the index hashed by the finaliser of SplitMix64 (Steele,
/// Lea, Flood 2014).
fn hashed(index: u64) -> f64 {
    let mut bits = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1.0 + ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection: all eigenvalues are
/// below x if and only if every pivot of T - x is negative.
fn largest_of_tridiagonal(diagonal: &[f64], off_diagonal: &[f64]) -> f64 {
    let radius = |i: usize| {
        let neighbour = |i: usize| off_diagonal.get(i).map_or(0.0, |b| b.abs());
        neighbour(i) + i.checked_sub(1).map_or(0.0, neighbour)
    };
    let bound = |i: usize| diagonal[i] + radius(i);
    let mut high = (0..diagonal.len()).map(bound).fold(f64::NEG_INFINITY, f64::max);
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all_below = |x: f64| {
        let mut pivot = diagonal[0] - x;
        (1..diagonal.len()).all(|i| {
            let negative = pivot < 0.0;
            pivot = diagonal[i] - x - off_diagonal[i - 1].powi(2) / pivot;
            negative
        }) && pivot < 0.0
    };
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if all_below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_equal_eigenvalues_are_distinguished() {
        let diagonal = [1.0, 2.0 - 1e-9, 2.0, 0.5, 2.0 - 2e-9];
        let found = largest_eigenvalue(5, |x, out| {
            out.iter_mut().zip(x).zip(diagonal).for_each(|((o, x), d)| *o = d * x);
        });
        assert!((found - 2.0).abs() < 1e-14, "{found}");
    }

    #[test]
    fn the_second_difference_matrix_has_its_textbook_eigenvalue() {
        let n = 200;
        let found = largest_eigenvalue(n, |x, out| {
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                out[i] = 2.0 * x[i] - left - x.get(i + 1).unwrap_or(&0.0);
            }
        });
        let angle = std::f64::consts::PI / (2.0 * (n + 1) as f64);
        assert!((found - 4.0 * angle.cos().powi(2)).abs() < 1e-12, "{found}");
    }

    #[test]
    fn the_zero_matrix_has_the_eigenvalue_zero() {
        assert_eq!(largest_eigenvalue(3, |_, out| out.fill(0.0)), 0.0);
    }
}
