use super::matrices::{kronecker, ones, subtraction, times};
use super::*;
use crate::residual::transform::{assemble, split};

fn table(domain: &Domain) -> Vec<f64> {
    let cells = domain.cells(&domain.everything()).unwrap();
    (0..cells).map(|cell| ((cell * 7 + 3) % 11) as f64 - 2.5).collect()
}

proptest! {
    #[test]
    fn residuals_add_up_to_the_marginal(domain in domain()) {
        let (shape, table) = (domain.shape(&domain.everything()), table(&domain));
        let residuals = split(&shape, &table);
        let parts: Vec<Option<&[f64]>> = residuals.iter().map(|r| Some(&r[..])).collect();
        assert_close(&assemble(&shape, &parts).unwrap(), &table, 1e-13);
    }

    /// Subtraction matrices of Xiao et al.: S r_A = R_A x, and r_A sums to zero along every axis.
    #[test]
    fn residuals_have_the_coordinates_of_the_subtraction_matrices(domain in domain()) {
        let (shape, table) = (domain.shape(&domain.everything()), table(&domain));
        for (mask, residual) in split(&shape, &table).iter().enumerate() {
            let inside = |axis: usize| mask >> axis & 1 == 1;
            if domain.ids().any(|id| inside(id.index()) && domain.size(id) == 1) {
                prop_assert!(residual.iter().all(|&cell| cell == 0.0));
                continue;
            }
            let one = || crate::numeric::matrix::Matrix::new(1, 1, vec![1.0]);
            let of_table =
                kronecker(&domain, |axis, n| if inside(axis) { subtraction(n) } else { ones(n) });
            let of_residual =
                kronecker(&domain, |axis, n| if inside(axis) { subtraction(n) } else { one() });
            assert_close(&times(&of_residual, residual), &times(&of_table, &table), 1e-12);
            for id in domain.ids().filter(|id| inside(id.index())) {
                let sums = kronecker(&domain, |axis, n| match (axis == id.index(), inside(axis)) {
                    (true, _) => ones(n),
                    (false, true) => super::matrices::identity(n),
                    (false, false) => one(),
                });
                assert!(times(&sums, residual).iter().all(|sum| sum.abs() < 1e-11));
            }
        }
    }

    #[test]
    fn residuals_that_are_missing_are_zero(domain in domain(), present in 0usize..256) {
        let (shape, table) = (domain.shape(&domain.everything()), table(&domain));
        let residuals = split(&shape, &table);
        let zeros: Vec<Vec<f64>> = residuals.iter().map(|r| vec![0.0; r.len()]).collect();
        let is_present = |mask: usize| present >> mask & 1 == 1;
        let some = |mask| is_present(mask).then(|| &residuals[mask][..]);
        let missing: Vec<Option<&[f64]>> = (0..8).map(some).collect();
        let tables = |mask| if is_present(mask) { &residuals } else { &zeros };
        let either = |mask| Some(&tables(mask)[mask][..]);
        let filled: Vec<Option<&[f64]>> = (0..8).map(either).collect();
        let expected = assemble(&shape, &filled).unwrap();
        match assemble(&shape, &missing) {
            Some(found) => assert_close(&found, &expected, 1e-14),
            None => prop_assert_eq!(present, 0),
        }
    }
}
