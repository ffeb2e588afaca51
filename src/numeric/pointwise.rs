//! Elementwise operations on slices of one length.

use multiversion::multiversion;

/// x *= y for each pair.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn multiply_assign(x: &mut [f64], y: &[f64]) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter_mut().zip(y) {
        *x *= y;
    }
}

/// x /= y for each pair with y >= `tiny`. Where y is less, x becomes 0 and y becomes minus what x
/// was. Returns the sum of all such x, which are not negative.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn divide_assign(x: &mut [f64], y: &mut [f64], tiny: f64) -> f64 {
    assert_eq!(x.len(), y.len());
    let mut lost = 0.0;
    for (x, y) in x.iter_mut().zip(y) {
        let safe = *y >= tiny;
        let ratio = *x / if safe { *y } else { 1.0 };
        lost += if safe { 0.0 } else { *x };
        *y = if safe { *y } else { -*x };
        *x = if safe { ratio } else { 0.0 };
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_what_cannot_be_divided() {
        let (mut x, mut y) = ([6.0, 5.0, 0.0, 8.0], [3.0, 1e-300, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut x, &mut y, 1e-250), 5.0);
        assert_eq!(x, [2.0, 0.0, 0.0, 4.0]);
        assert_eq!(y, [3.0, -5.0, 0.0, 2.0]);
        assert_eq!(divide_assign(&mut [1.0, 0.0], &mut [1.0, 0.0], 1e-250), 0.0);
    }
}
