use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use crate::postprocess::admm::Settings;
use dp::Epsilon;
use dp::sensitivity::brute_force::{Records, worst_case};
use private_pgm::model::Projectable;
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;

#[test]
fn the_sensitivity_of_the_nodes_is_as_claimed() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        for branching in [2, 3, 6] {
            for clique in SmallTable::new(&[0; 6]).workload.cliques() {
                let table = SmallTable::new(&[1; 6]);
                let cells = table.data.project(&clique).unwrap().values().len();
                let tree = Tree::new(branching, cells).unwrap();
                let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
                    let table = SmallTable::new(counts);
                    tree.sums(table.data.project(&clique).unwrap().values())
                });
                assert_eq!(worst.distance, sensitivity(&tree, neighbours).unwrap().get());
            }
        }
    }
}

#[test]
fn every_node_is_measured_with_the_noise_of_its_tree() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let epsilon = Epsilon::new(1.5).unwrap();
    let (release, budget) = table.release(&TREE, epsilon, Neighbours::AddRemove, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
    let scales: Vec<f64> =
        budget.ledger().lines().iter().map(|line| line.entry.draw.scale).collect();
    // Trees over 6, 3 and 2 cells have 4, 3 and 2 levels. Each has a third of the budget.
    assert_eq!(scales, [8.0, 6.0, 4.0]);
    let measured = &answers(&release)[0];
    assert_eq!((measured.y.len(), measured.query.rows()), (12, 12));
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for (text, name) in [
        ("branching = 1", "branching"),
        ("branching = -3", "branching"),
        ("branching = \"best\"", "branching"),
        ("alpha = 1.5", "alpha"),
        ("alpha = -0.1", "alpha"),
        ("rho = 0.0", "rho"),
        ("rho = 0", "rho"),
        ("rho = -2", "rho"),
        ("rho = nan", "rho"),
        ("rho = \"best\"", "rho"),
        ("rho = [2.0]", "rho"),
    ] {
        let message = (TREE.build)(&text.parse().unwrap()).err().unwrap().message;
        assert!(message.starts_with(name), "{text}: {message}");
    }
}

#[test]
fn rho_may_be_a_number_a_whole_number_or_auto() {
    let settings = |text: &str| {
        let (admm, _) = AdmmParameters::split(&text.parse().unwrap()).unwrap();
        AdmmVariant::AdmmL1(admm).settings(100.0, None)
    };
    let suited = Settings::suited(0.9, 100.0);
    assert_eq!(settings("rho = 2.5"), Settings { rho: 2.5, ..suited });
    assert_eq!(settings("rho = 3"), Settings { rho: 3.0, ..suited });
    assert_eq!(settings("rho = \"auto\""), suited);
    assert_eq!(settings(""), suited);
    assert!((TREE.build)(&"branching = 3\nrho = \"auto\"".parse().unwrap()).is_ok());
}

#[test]
fn estimates_that_run_out_of_time_are_timeouts() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let (release, _) = table.release(&TREE, Epsilon::new(0.1).unwrap(), Neighbours::AddRemove, 1);
    let measured = &answers(&release)[0];
    let htree = HTree::new(Tree::new(2, 6).unwrap());
    for (name, variant) in AdmmVariant::all(AdmmParameters::default()) {
        let ended = process(variant, &htree, measured, Some(Instant::now()));
        assert!(matches!(ended, Err(EstimatorError::Timeout { iterations: 1 })), "{name}");
        assert!(process(variant, &htree, measured, None).is_ok(), "{name}");
    }
}

/// Var(q^T x) = q^T (A^T A)^-1 q, with A as a dense matrix.
fn variance_by_definition(tree: &Tree, (start, end): (usize, usize)) -> f64 {
    let leaves = tree.leaves();
    let mut gram = Matrix::zeros(leaves, leaves);
    for span in tree.spans() {
        for (a, b) in span.clone().flat_map(|a| span.clone().map(move |b| (a, b))) {
            gram[(a, b)] += 1.0;
        }
    }
    let query: Vec<f64> =
        (0..leaves).map(|leaf| f64::from(u8::from((start..end).contains(&leaf)))).collect();
    let mut solved = query.clone();
    Cholesky::new(gram).unwrap().solve_one(&mut solved);
    solved.iter().zip(&query).map(|(s, q)| s * q).sum()
}

#[test]
fn the_variance_of_a_range_is_that_of_least_squares() {
    for (branching, leaves) in [(2, 8), (3, 7), (5, 23), (16, 16)] {
        let tree = Tree::new(branching, leaves).unwrap();
        let htree = HTree::new(tree.clone());
        for range in [(0, 1), (0, leaves), (1, leaves - 1), (leaves / 2, leaves)] {
            let found = branching::range_variance(&htree, range).unwrap();
            assert!((found - variance_by_definition(&tree, range)).abs() < 1e-12);
        }
    }
}

#[test]
fn the_automatic_branching_factor_is_nearly_the_best_over_all_ranges() {
    for leaves in [1, 2, 5, 40] {
        for neighbours in [Neighbours::AddRemove, Neighbours::Replace] {
            let error = |branching: usize| {
                let tree = Tree::new(branching, leaves).unwrap();
                let noise = sensitivity(&tree, neighbours).unwrap().get();
                let ranges = (0..leaves).flat_map(|a| (a + 1..=leaves).map(move |b| (a, b)));
                let sum: f64 = ranges.map(|range| variance_by_definition(&tree, range)).sum();
                noise * noise * sum
            };
            let chosen = Branching::Auto.tree(leaves, neighbours).unwrap().branching();
            let best = (2..=leaves.max(2)).map(error).fold(f64::INFINITY, f64::min);
            // The choice is made on a sample of the ranges.
            assert!(error(chosen) <= 1.05 * best, "{leaves}: {chosen}");
        }
    }
}
