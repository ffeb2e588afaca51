use crate::postprocess::admm::Settings;
use crate::postprocess::contingency::{self, ContingencyError, PublicMarginals};
use crate::postprocess::histogram::{self, HistogramError};
use crate::postprocess::htree::HTree;
use crate::postprocess::proximal::Objective;
use crate::postprocess::strategy::{Strategy, StrategyError};
use crate::postprocess::tree::{Tree, TreeError};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::numeric::matrix::Matrix;

/// Lists with one value that is not finite, and its index.
fn with_one_not_finite(entries: usize) -> impl Iterator<Item = (usize, Vec<f64>)> {
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate().map(move |(at, value)| {
        let mut numbers = vec![5.0; entries];
        numbers[at + 1] = value;
        (at + 1, numbers)
    })
}

fn l1() -> Objective {
    Objective::new(1.0).unwrap()
}

#[test]
fn nodes_that_are_not_finite_are_refused_with_their_index() {
    let htree = HTree::new(Tree::new(2, 4).unwrap());
    for (at, noisy) in with_one_not_finite(7) {
        let refused = histogram::estimate(&htree, &noisy, l1(), &Settings::default()).unwrap_err();
        assert!(
            matches!(refused, HistogramError::Tree(TreeError::Node { node, .. }) if node == at)
        );
        let refused = htree.project(&noisy).unwrap_err();
        assert!(matches!(refused, TreeError::Node { node, .. } if node == at), "{refused}");
    }
    let refused = htree.project(&[1.0, f64::INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap_err();
    assert_eq!(refused.to_string(), "node 1 is inf; expected a finite number");
}

#[test]
fn cells_that_are_not_finite_are_refused_with_their_index() {
    let domain = Domain::new([("a", 2), ("b", 2)]).unwrap();
    let total = Factor::new(&domain, Clique::empty(), vec![20.0]);
    for known in [vec![], vec![total]] {
        let public = PublicMarginals::new(&domain, &domain.everything(), &known).unwrap();
        for (at, noisy) in with_one_not_finite(4) {
            let refused =
                contingency::estimate(&public, &noisy, l1(), &Settings::default()).unwrap_err();
            assert!(matches!(refused, ContingencyError::Cell { cell, .. } if cell == at));
        }
    }
}

#[test]
fn answers_that_are_not_finite_are_refused_with_their_index() {
    let strategy = Strategy::new(Matrix::zeros(4, 2)).unwrap();
    for (at, noisy) in with_one_not_finite(4) {
        let refused = strategy.estimate(&noisy, l1(), &Settings::default()).unwrap_err();
        assert!(matches!(refused, StrategyError::Answer { answer, .. } if answer == at));
    }
}
