use private_pgm::domain::Domain;
use private_pgm::factor::Factor;
use serde::Serialize;

use super::names;

/// How strongly two attributes depend on each other, by Cramer's V: 0 if they are independent, 1 if
/// one determines the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Association {
    pub attributes: Vec<String>,
    pub synthetic: f64,
    pub reference: f64,
}

impl Association {
    /// Both are marginals of the same two attributes.
    pub(super) fn of(domain: &Domain, synthetic: &Factor, reference: &Factor) -> Self {
        Self {
            attributes: names(domain, synthetic.clique()),
            synthetic: cramers_v(synthetic),
            reference: cramers_v(reference),
        }
    }

    pub fn difference(&self) -> f64 {
        (self.synthetic - self.reference).abs()
    }
}

/// sqrt(chi^2 / (N (k - 1))) with k the smaller number of values that occur (Cramer 1946, 21.9).
fn cramers_v(table: &Factor) -> f64 {
    let [rows, columns] = table.shape()[..] else { return 0.0 };
    let values = table.values();
    let total: f64 = values.iter().sum();
    let row = |i: usize| values[i * columns..(i + 1) * columns].iter().sum::<f64>();
    let row_sums: Vec<f64> = (0..rows).map(row).collect();
    let column = |j: usize| values.iter().skip(j).step_by(columns).sum::<f64>();
    let column_sums: Vec<f64> = (0..columns).map(column).collect();
    let mut chi_squared = 0.0;
    for (i, row) in row_sums.iter().enumerate() {
        for (j, column) in column_sums.iter().enumerate() {
            let expected = row * column / total;
            if expected > 0.0 {
                chi_squared += (values[i * columns + j] - expected).powi(2) / expected;
            }
        }
    }
    let occurring = |sums: &[f64]| sums.iter().filter(|&&sum| sum > 0.0).count();
    let smaller = occurring(&row_sums).min(occurring(&column_sums));
    match smaller {
        0 | 1 => 0.0,
        _ => (chi_squared / (total * (smaller - 1) as f64)).sqrt().min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independence_is_0_and_a_function_is_1() {
        let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
        let v = |values: [f64; 6]| {
            cramers_v(&Factor::new(&domain, domain.everything(), values.to_vec()))
        };
        assert!(v([1.0, 2.0, 3.0, 2.0, 4.0, 6.0]) < 1e-9);
        assert!((v([4.0, 0.0, 2.0, 0.0, 5.0, 0.0]) - 1.0).abs() < 1e-9);
        assert_eq!(v([4.0, 3.0, 2.0, 0.0, 0.0, 0.0]), 0.0);
        // By hand: chi^2 of [[10, 20], [30, 40]] is 100 * (400 - 600)^2 / (30 * 70 * 40 * 60).
        let square = [10.0, 20.0, 0.0, 30.0, 40.0, 0.0];
        let expected = f64::sqrt(40000.0 / (30.0 * 70.0 * 40.0 * 60.0));
        assert!((v(square) - expected).abs() < 1e-12);
    }
}
