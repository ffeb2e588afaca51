use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};

use super::*;
use crate::numeric::matrix::Matrix;
use crate::numeric::product::product;
use crate::residual::{Nonnegative, ResidualError, Residuals, Stopping};

const EXACT: Stopping = Stopping { iterations: 100_000, gap: 1e-9 };

/// The smallest distance, by an interior point method over orthonormal coordinates of the residual
/// spaces.
fn optimum(domain: &Domain, residuals: &Residuals, cliques: &[Clique]) -> f64 {
    let contrasts = |id| QueryFactor::Contrasts.to_dense(domain.size(id));
    let one = || Matrix::new(1, 1, vec![1.0]);
    // Per measured set: its coordinates' place, and the matrix from coordinates to the table.
    let (mut sets, mut p, mut q, mut constant) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for (set, residual) in residuals.iter().filter(|(set, _)| !set.is_empty()) {
        let basis = set.iter().fold(one(), |left, id| left.kronecker(&contrasts(id)));
        let target = super::matrices::times(&basis, &residual.table);
        let weight = residual.variance.unwrap().recip();
        sets.push((set, p.len(), basis.transposed()));
        for target in target {
            p.push(weight);
            q.push(-weight * target);
            constant += 0.5 * weight * target * target;
        }
    }
    let variables = p.len();
    let (mut g, mut h) = (Vec::new(), Vec::new());
    for clique in cliques {
        let cells = domain.cells(clique).unwrap();
        let mut rows = vec![vec![0.0; variables]; cells];
        for (set, start, back) in sets.iter().filter(|(set, ..)| set.is_subset(clique)) {
            // Repeats the table along the axes outside the set, divided by their sizes.
            let spread = clique.iter().fold(one(), |left, id| {
                let n = domain.size(id);
                left.kronecker(&match set.contains(id) {
                    true => super::matrices::identity(n),
                    false => Matrix::new(n, 1, vec![1.0 / n as f64; n]),
                })
            });
            let cells = product(&spread, back);
            for (row, line) in rows.iter_mut().enumerate() {
                let entries = cells.row(row).iter().map(|entry| -entry);
                line[*start..*start + cells.cols()]
                    .iter_mut()
                    .zip(entries)
                    .for_each(|(l, e)| *l = e);
            }
        }
        g.extend(rows);
        h.extend(vec![residuals.total() / cells as f64; cells]);
    }
    let mut diagonal = vec![vec![0.0; variables]; variables];
    p.iter().enumerate().for_each(|(i, &weight)| diagonal[i][i] = weight);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let cones = [SupportedConeT::NonnegativeConeT(h.len())];
    let (p, g) = (CscMatrix::from(&diagonal), CscMatrix::from(&g));
    let mut solver = DefaultSolver::new(&p, &q, &g, &h, &cones, settings).unwrap();
    solver.solve();
    assert!(matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved));
    solver.solution.obj_val + constant
}

fn nonnegative(residuals: &Residuals, cliques: &[Clique]) -> Nonnegative {
    residuals.nonnegative(cliques, EXACT, |_| true).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_constrained_estimate_is_the_optimum_of_an_interior_point_method(
        (domain, measurements) in measured(), total in 1.0..30.0f64, extra in 0usize..8,
    ) {
        let estimate = Residuals::estimate(&domain, &measurements, Some(total)).unwrap();
        prop_assume!(estimate.iter().count() > 1);
        let mut cliques: Vec<Clique> = measurements.iter().map(|m| m.clique.clone()).collect();
        cliques.push(clique(&domain, extra));
        let found = nonnegative(&estimate, &cliques);
        prop_assert!(found.converged, "gap {} after {}", found.gap, found.iterations);
        for clique in &cliques {
            let marginal = found.residuals.marginal(clique);
            let least = marginal.values().iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(least > -1e-9 * total, "{least}");
            prop_assert!((marginal.total() - total).abs() < 1e-9 * total);
        }
        let expected = optimum(&domain, &estimate, &cliques);
        assert_close(&[found.distance], &[expected], 1e-6);
        prop_assert!(found.distance - found.gap <= expected + 1e-6 * (1.0 + expected));
    }
}

#[test]
fn one_marginal_is_projected_onto_the_simplex() {
    let domain = Domain::new([("a", 4)]).unwrap();
    let clique = domain.everything();
    let query = QueryMatrix::identity(&domain, &clique).unwrap();
    let y = vec![7.0, 4.0, 1.0, -5.0];
    let measurements = [Measurement { clique: clique.clone(), query, y, stddev: 2.0 }];
    let estimate = Residuals::estimate(&domain, &measurements, Some(9.0)).unwrap();
    let found = nonnegative(&estimate, std::slice::from_ref(&clique));
    // The projection of y: the threshold is 1, and 7 - 1, 4 - 1, 1 - 1 remain.
    // A gap of 1e-9 bounds the squared error by 2 stddev^2 1e-9, so the error by 9e-5.
    assert_close(found.residuals.marginal(&clique).values(), &[6.0, 3.0, 0.0, 0.0], 1e-4);
    assert!(found.residuals.cell_variance(&clique).is_none());
}

#[test]
fn marginals_that_are_not_negative_stay_as_they_are() {
    let domain = Domain::new([("a", 2)]).unwrap();
    let clique = domain.everything();
    let query = QueryMatrix::identity(&domain, &clique).unwrap();
    let measurement = Measurement { clique: clique.clone(), query, y: vec![7.0, 2.0], stddev: 2.0 };
    let estimate =
        Residuals::estimate(&domain, std::slice::from_ref(&measurement), Some(9.0)).unwrap();
    let found = nonnegative(&estimate, &[clique]);
    assert_eq!((found.iterations, found.distance, found.gap), (0, 0.0, 0.0));
    for (set, residual) in estimate.iter() {
        assert_eq!(found.residuals.get(set).unwrap().table, residual.table);
    }
    let again = found.residuals.nonnegative(&[], EXACT, |_| true);
    assert_eq!(again, Err(ResidualError::NoVariance));
    let estimate = Residuals::estimate(&domain, &[measurement], Some(-1.0)).unwrap();
    let refused = estimate.nonnegative(&[], EXACT, |_| true);
    assert_eq!(refused, Err(ResidualError::Total(-1.0)));
}
