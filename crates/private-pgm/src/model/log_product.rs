use crate::numeric::contraction::Contraction;
use crate::numeric::exp::{exp_shifted, maximum};

/// A sum of products of at least this size is exact up to rounding: each term lost to underflow is
/// below 1e-307, and there are fewer than 2^32 terms.
const UNDERFLOW_SAFE: f64 = 1e-280;

/// O = ln of the sum of exp(A + B), like [`Contraction::log_multiply`]. Costs one exponential per
/// cell of A and B instead of one per product, unless a sum underflows.
pub(super) fn log_product(contraction: &Contraction, a: &[f64], b: &[f64], o: &mut [f64]) {
    let (a_shift, b_shift) = (maximum(a), maximum(b));
    if a_shift == f64::NEG_INFINITY || b_shift == f64::NEG_INFINITY {
        o.fill(f64::NEG_INFINITY);
        return;
    }
    let (mut x, mut y) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    exp_shifted(a, a_shift, &mut x);
    exp_shifted(b, b_shift, &mut y);
    contraction.multiply(&x, &y, o, true);
    if o.iter().all(|&sum| sum >= UNDERFLOW_SAFE) {
        let shift = a_shift + b_shift;
        o.iter_mut().for_each(|sum| *sum = sum.ln() + shift);
    } else {
        contraction.log_multiply(a, b, o, true);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::units;
    use super::*;
    use crate::numeric::contraction::Axis;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_product_in_log_space(
            axes in prop::collection::vec((1usize..6, any::<[bool; 3]>()), 0..5),
            spread in prop::sample::select(vec![1.0, 300.0, 1500.0]),
            zeros in 0.0..0.3,
            salt in any::<u64>(),
        ) {
            let axes: Vec<Axis> = axes
                .into_iter()
                .map(|(size, [in_a, in_b, in_o])| Axis { size, in_a, in_b, in_o })
                .collect();
            let cells = |has: fn(&Axis) -> bool| -> usize {
                axes.iter().filter(|axis| has(axis)).map(|axis| axis.size).product()
            };
            let table = |cells: usize, salt: u64| -> Vec<f64> {
                let cell = |u| if u < zeros { f64::NEG_INFINITY } else { spread * u };
                units(cells, salt).into_iter().map(cell).collect()
            };
            let a = table(cells(|axis| axis.in_a), salt);
            let b = table(cells(|axis| axis.in_b), !salt);
            let contraction = Contraction::new(&axes);
            let mut found = vec![f64::NAN; cells(|axis| axis.in_o)];
            let mut expected = found.clone();
            log_product(&contraction, &a, &b, &mut found);
            contraction.log_multiply(&a, &b, &mut expected, false);
            for (found, expected) in found.iter().zip(expected) {
                let close = *found == expected || (found - expected).abs() < 1e-11;
                prop_assert!(close, "{found} {expected}");
            }
        }
    }
}
