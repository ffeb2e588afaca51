use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use proptest::prelude::*;

use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Epsilon, L2, Neighbours, Rho, SeedPath, Sensitivity};
use private_pgm::domain::{Clique, Domain};
use private_pgm::residual::Residuals;

const BOTH: [Neighbours; 2] = [Neighbours::Replace, Neighbours::AddRemove];

/// Three attributes of two to five values and one to four sets of them.
fn workload() -> impl Strategy<Value = (Domain, Vec<Clique>)> {
    (prop::collection::vec(2usize..6, 3), prop::collection::vec(1usize..8, 1..5)).prop_map(
        |(sizes, masks)| {
            let sizes = sizes.into_iter().enumerate();
            let domain = Domain::new(sizes.map(|(i, n)| (format!("x{i}"), n))).unwrap();
            let set =
                |mask: &usize| domain.ids().filter(|id| mask >> id.index() & 1 == 1).collect();
            let cliques = masks.iter().map(set).collect();
            (domain, cliques)
        },
    )
}

fn allocation(
    domain: &Domain,
    cliques: &[Clique],
    neighbours: Neighbours,
    objective: Objective,
) -> Allocation {
    let private_total = neighbours == Neighbours::AddRemove;
    let bases = Base::of_workload(domain, cliques, neighbours, private_total);
    Allocation::new(domain, cliques, bases, objective, Weights::Cells)
}

proptest! {
    #[test]
    fn sensitivities_are_those_of_all_columns((domain, cliques) in workload()) {
        for neighbours in BOTH {
            for base in Base::of_workload(&domain, &cliques, neighbours, false) {
                let columns = base.query(&domain).unwrap().to_dense().transposed();
                let columns: Vec<Vec<f64>> =
                    (0..columns.rows()).map(|row| columns.row(row).to_vec()).collect();
                let exact = Sensitivity::<L2>::of_columns(&columns, neighbours).unwrap().get();
                let claimed = base.sensitivity(&domain, 1e6, neighbours).unwrap().get();
                prop_assert!((base.squared_sensitivity.sqrt() / exact - 1.0).abs() < 1e-12);
                prop_assert!(claimed >= exact * (1.0 - 1e-13) && claimed < exact * (1.0 + 1e-6));
            }
        }
    }

    #[test]
    fn no_other_allocation_has_a_smaller_sum_of_variances(
        (domain, cliques) in workload(),
        factors in prop::collection::vec(0.2..5.0f64, 8),
    ) {
        for neighbours in BOTH {
            let best = allocation(&domain, &cliques, neighbours, Objective::Sum);
            let sum = |allocation: &Allocation| -> f64 {
                let of = |clique| domain.cells_f64(clique) * allocation.cell_variance(clique, 0.5);
                cliques.iter().map(of).sum()
            };
            let mut other = best.clone();
            other.shares.iter_mut().zip(&factors).for_each(|(share, factor)| *share *= factor);
            prop_assert!(sum(&best) <= sum(&other) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn the_largest_variance_is_the_optimum_of_an_interior_point_method(
        (domain, cliques) in workload()
    ) {
        for neighbours in BOTH {
            let found = allocation(&domain, &cliques, neighbours, Objective::Largest);
            prop_assert!(found.gap <= 1e-8, "{}", found.gap);
            let variances = cliques.iter().map(|clique| found.cell_variance(clique, 0.5));
            let largest = variances.fold(0.0, f64::max);
            let optimum = smallest_largest_variance(&found, &cliques);
            prop_assert!((largest / optimum - 1.0).abs() < 1e-5, "{} {}", largest, optimum);
        }
    }

    /// The noise of the Gaussian mechanism: independent, of variance 1 / (2 rho).
    #[test]
    fn one_marginal_alone_has_independent_noise((domain, cliques) in workload()) {
        for objective in [Objective::Sum, Objective::Largest] {
            let alone = allocation(&domain, &cliques[..1], Neighbours::AddRemove, objective);
            prop_assert!((alone.cell_variance(&cliques[0], 0.5) - 1.0).abs() < 1e-8);
        }
    }
}

/// Minimises t subject to K s <= t, sum of c_B x_B <= 1 and x_B s_B >= 1, a second-order cone.
fn smallest_largest_variance(allocation: &Allocation, cliques: &[Clique]) -> f64 {
    let bases = allocation.bases.len();
    // The variables s, x and t.
    let variables = 2 * bases + 1;
    let (mut g, mut h) = (Vec::new(), Vec::new());
    for clique in cliques {
        let mut line = vec![0.0; variables];
        for (base, of) in allocation.bases.iter().enumerate() {
            if of.clique.is_subset(clique) {
                // The variance if this base set alone had noise, of variance 1.
                let mut alone = allocation.clone();
                alone.bases.iter_mut().for_each(|base| base.squared_sensitivity = 0.0);
                alone.bases[base].squared_sensitivity = 1.0;
                alone.shares = vec![1.0; bases];
                line[base] = alone.cell_variance(clique, 0.5) / bases as f64;
            }
        }
        line[2 * bases] = -1.0;
        g.push(line);
        h.push(0.0);
    }
    let mut cost = vec![0.0; variables];
    for (base, of) in allocation.bases.iter().enumerate() {
        cost[bases + base] = of.squared_sensitivity;
    }
    g.push(cost);
    h.push(1.0);
    let mut cones = vec![SupportedConeT::NonnegativeConeT(g.len())];
    for base in 0..bases {
        // (x + s, x - s, 2) is in the cone.
        for (of_s, of_x, right) in [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (0.0, 0.0, 2.0)] {
            let mut line = vec![0.0; variables];
            (line[base], line[bases + base]) = (of_s, of_x);
            g.push(line);
            h.push(right);
        }
        cones.push(SupportedConeT::SecondOrderConeT(3));
    }
    let mut q = vec![0.0; variables];
    q[2 * bases] = 1.0;
    let p = CscMatrix::from(&vec![vec![0.0; variables]; variables]);
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let g = CscMatrix::from(&g);
    let mut solver = DefaultSolver::new(&p, &q, &g, &h, &cones, settings).unwrap();
    solver.solve();
    assert!(matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved));
    solver.solution.obj_val
}

#[test]
fn every_base_set_changes_by_at_most_its_sensitivity_on_all_small_tables() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let table = SmallTable::new(&[1; 6]);
        let domain = table.data.domain().clone();
        for base in Base::of_workload(&domain, &table.workload.cliques(), neighbours, true) {
            let query = base.query(&domain).unwrap();
            let worst = worst_case::<L2>(SmallTable::CELLS, records, |counts| {
                let data = SmallTable::new(counts).data;
                let mut residual = vec![0.0; query.rows()];
                let marginal = data.project(&base.clique).unwrap();
                let mut scratch = vec![0.0; query.scratch_len()];
                query.apply(marginal.values(), &mut residual, &mut scratch);
                residual
            });
            if neighbours == Neighbours::Replace && base.clique.is_empty() {
                assert_eq!(worst.distance, 0.0);
                continue;
            }
            let claimed = base.sensitivity(&domain, 3.0, neighbours).unwrap().get();
            assert!(worst.distance <= claimed && worst.distance > claimed * (1.0 - 1e-9));
        }
    }
}

#[test]
fn a_release_has_the_predicted_variances_and_spends_all_of_rho() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let (domain, cliques) = (table.data.domain(), table.workload.cliques());
    let rho = Rho::new(0.3).unwrap();
    for neighbours in BOTH {
        let (release, budget) = table.release(&RESIDUAL_PLANNER, rho, neighbours, 1);
        let spent = budget.ledger().verify(budget.total()).unwrap();
        let Some(dp::Guarantee::Concentrated { rho: spent }) = spent else { panic!("{spent:?}") };
        assert!(spent.get() <= 0.3 && spent.get() > 0.3 * (1.0 - 1e-9));
        let known = (neighbours == Neighbours::Replace).then_some(15.0);
        assert_eq!(answers(&release).len(), if known.is_some() { 3 } else { 4 });
        let residuals = Residuals::estimate(domain, answers(&release), known).unwrap();
        let planned = allocation(domain, &cliques, neighbours, Objective::Sum);
        for clique in &cliques {
            let (found, expected) =
                (residuals.cell_variance(clique).unwrap(), planned.cell_variance(clique, 0.3));
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        }
    }
}

#[test]
fn the_own_estimate_is_unbiased_with_the_predicted_variance() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let (domain, cliques) = (table.data.domain(), table.workload.cliques());
    let (draws, rho) = (3000, Rho::new(0.5).unwrap());
    let mut sums = vec![(0.0, 0.0); cliques.len()];
    for seed in 0..draws {
        let (release, _) = table.release(&RESIDUAL_PLANNER, rho, Neighbours::AddRemove, seed);
        let residuals = Residuals::estimate(domain, answers(&release), None).unwrap();
        for (clique, sums) in cliques.iter().zip(&mut sums) {
            let truth = table.data.project(clique).unwrap().values()[1];
            let error = residuals.marginal(clique).values()[1] - truth;
            *sums = (sums.0 + error, sums.1 + error * error);
        }
    }
    let planned = allocation(domain, &cliques, Neighbours::AddRemove, Objective::Sum);
    for (clique, (sum, squares)) in cliques.iter().zip(sums) {
        let (draws, variance) = (draws as f64, planned.cell_variance(clique, 0.5));
        // Five standard deviations of the mean and of the mean square.
        assert!((sum / draws).abs() < 5.0 * (variance / draws).sqrt());
        assert!((squares / draws / variance - 1.0).abs() < 5.0 * (2.0 / draws).sqrt());
    }
}

/// Root mean squared errors at a cost of 1, computed independently from the formulas above.
#[test]
fn predictions_agree_with_an_independent_computation() {
    let domain = Domain::new([100, 50, 7, 4, 2].map(|n| (format!("x{n}"), n))).unwrap();
    let rho = Rho::new(0.5).unwrap();
    let all = domain.everything();
    for (ways, sum, largest) in [(1, 1.744, 4.346), (2, 2.035, 7.897), (3, 2.048, 7.706)] {
        let errors = |objective| {
            let cliques = all.subsets(ways);
            predict(&domain, &cliques, Neighbours::AddRemove, objective, rho).unwrap()
        };
        let error = errors(Objective::Sum).root_mean_squared_error;
        assert!((error - sum).abs() < 5e-4, "{error}");
        let variance = errors(Objective::Largest).largest_stddev.powi(2);
        assert!((variance - largest).abs() < 1e-3, "{variance}");
    }
}

#[test]
fn unsuitable_input_is_refused() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let mut source = NoiseSource::seeded(&SeedPath::new("seed", 1));
    let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
    let refused = ResidualPlanner::default().release(&table.task(), &mut budget, &mut source);
    assert!(refused.err().unwrap().to_string().contains("Gaussian noise needs"));
    assert!(budget.ledger().lines().is_empty());
    let nothing = crate::workload::Workload::marginals(table.data.domain(), &[], &Clique::empty());
    let nothing = nothing.unwrap();
    let task = Task { workload: &nothing, ..table.task() };
    let mut budget = Budget::new(Rho::new(1.0).unwrap(), Neighbours::Replace);
    let refused = ResidualPlanner::default().release(&task, &mut budget, &mut source);
    assert!(refused.err().unwrap().to_string().contains("at least two values"));
}
