use proptest::prelude::*;

use super::{generator, noise};
use crate::postprocess::htree::HTree;
use crate::postprocess::tree::{Tree, TreeError};
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;

/// A row per node, with ones at the leaves below it.
pub(super) fn dense(tree: &Tree) -> Matrix {
    let mut matrix = Matrix::zeros(tree.nodes(), tree.leaves());
    for (node, span) in tree.spans().enumerate() {
        span.for_each(|leaf| matrix[(node, leaf)] = 1.0);
    }
    matrix
}

proptest! {
    #[test]
    fn htree_is_ordinary_least_squares_from_all_nodes(
        branching in 2usize..6, leaves in 1usize..40, seed: u64,
    ) {
        let tree = Tree::new(branching, leaves).unwrap();
        let mut rng = generator(seed);
        let noisy: Vec<f64> = (0..tree.nodes()).map(|_| noise(&mut rng, 10.0)).collect();
        let a = dense(&tree);
        let mut gram = Matrix::zeros(leaves, leaves);
        let mut best = vec![0.0; leaves];
        for row in 0..a.rows() {
            for i in 0..leaves {
                best[i] += a[(row, i)] * noisy[row];
                (0..leaves).for_each(|j| gram[(i, j)] += a[(row, i)] * a[(row, j)]);
            }
        }
        Cholesky::new(gram).unwrap().solve_one(&mut best);
        let found = HTree::new(tree.clone()).project(&noisy).unwrap();
        let expected = tree.sums(&best);
        prop_assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    /// Several forests, in parallel. The result is consistent, and the residual is orthogonal to
    /// all consistent trees, which are spanned by the paths from a leaf to the root.
    #[test]
    fn htree_is_ordinary_least_squares_in_large_trees(
        branching in prop_oneof![2usize..6, 60usize..70], leaves in 1usize..60_000, seed: u64,
    ) {
        let tree = Tree::new(branching, leaves).unwrap();
        let mut rng = generator(seed);
        let noisy: Vec<f64> = (0..tree.nodes()).map(|_| noise(&mut rng, 10.0)).collect();
        let found = HTree::new(tree.clone()).project(&noisy).unwrap();
        let sums = tree.sums(&found[tree.nodes() - leaves..]);
        prop_assert!(found.iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-6));
        let mut along_path = vec![0.0; leaves];
        for (span, (a, b)) in tree.spans().zip(noisy.iter().zip(&found)) {
            along_path[span].iter_mut().for_each(|sum| *sum += a - b);
        }
        prop_assert!(along_path.iter().all(|sum| sum.abs() < 1e-6));
    }

    #[test]
    fn in_a_complete_tree_htree_has_the_weights_of_the_paper(
        branching in 2usize..5, height in 1usize..4, seed: u64,
    ) {
        let leaves = branching.pow(height as u32);
        let tree = Tree::new(branching, leaves).unwrap();
        let mut rng = generator(seed);
        let y: Vec<f64> = (0..tree.nodes()).map(|_| noise(&mut rng, 10.0)).collect();
        let k = branching as f64;
        let mut z = y.clone();
        for level in (0..tree.levels() - 1).rev() {
            // Leaves have height 1 in the formula.
            let h = (tree.levels() - level) as i32;
            for (place, node) in tree.level(level).enumerate() {
                let first = tree.level(level + 1).start + place * branching;
                let sum: f64 = z[first..][..branching].iter().sum();
                let (all, below) = (k.powi(h), k.powi(h - 1));
                z[node] = ((all - below) * y[node] + (below - 1.0) * sum) / (all - 1.0);
            }
        }
        let mut x = z.clone();
        for level in 0..tree.levels() - 1 {
            for (place, node) in tree.level(level).enumerate() {
                let first = tree.level(level + 1).start + place * branching;
                let sum: f64 = z[first..][..branching].iter().sum();
                (first..first + branching).for_each(|c| x[c] = z[c] + (x[node] - sum) / k);
            }
        }
        let found = HTree::new(tree).project(&y).unwrap();
        prop_assert!(found.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn nodes_are_the_sums_of_the_leaves_below_them(branching in 2usize..6, leaves in 1usize..60) {
        let tree = Tree::new(branching, leaves).unwrap();
        let counts: Vec<f64> = (0..leaves).map(|leaf| (leaf * leaf % 7) as f64).collect();
        let spans = tree.spans().map(|span| counts[span].iter().sum::<f64>());
        prop_assert_eq!(tree.sums(&counts), spans.collect::<Vec<_>>());
        // A leaf is below one node of each level.
        let covering = |leaf: usize| tree.spans().filter(|span| span.contains(&leaf)).count();
        prop_assert!((0..leaves).all(|leaf| covering(leaf) == tree.levels()));
    }
}

proptest! {
    #[test]
    fn scaled_trees_are_consistent_and_scaling_is_idempotent(
        branching in 2usize..6, leaves in 1usize..40, seed: u64,
    ) {
        let tree = Tree::new(branching, leaves).unwrap();
        let mut rng = generator(seed);
        let mut nodes: Vec<f64> = (0..tree.nodes()).map(|_| noise(&mut rng, 10.0)).collect();
        let root = nodes[0].max(0.0);
        tree.scale_down(&mut nodes);
        let sums = tree.sums(&nodes[tree.nodes() - leaves..]);
        prop_assert!(nodes.iter().all(|&node| node >= 0.0));
        prop_assert!(nodes.iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-9));
        prop_assert!((nodes[0] - root).abs() < 1e-12);
        tree.scale_down(&mut nodes);
        prop_assert!(nodes.iter().zip(&sums).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn tiny_children_are_scaled_to_finite_numbers() {
    // The parent over their sum would be infinite.
    let least = f64::from_bits(1);
    let mut nodes = [8.0, least, least];
    Tree::new(2, 2).unwrap().scale_down(&mut nodes);
    assert_eq!(nodes, [8.0, 4.0, 4.0]);
    let mut nodes = [8.0, 0.0, least];
    Tree::new(2, 2).unwrap().scale_down(&mut nodes);
    assert_eq!(nodes, [8.0, 0.0, 8.0]);
}

#[test]
fn the_branching_factor_may_exceed_the_number_of_leaves() {
    for branching in [5, 1 << 40, usize::MAX] {
        let htree = HTree::new(Tree::new(branching, 5).unwrap());
        let nodes = [20.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        // The root exceeds the sum by 5. It decreases by 5/6 and each leaf increases by 5/6.
        let found = htree.project(&nodes).unwrap();
        let expected = [115.0, 11.0, 17.0, 23.0, 29.0, 35.0].map(|sixths| sixths / 6.0);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }
}

#[test]
fn invalid_trees_are_refused() {
    assert_eq!(Tree::new(1, 4), Err(TreeError::Branching(1)));
    assert_eq!(Tree::new(2, 0), Err(TreeError::NoLeaves));
    let htree = HTree::new(Tree::new(2, 4).unwrap());
    let wrong = TreeError::Nodes { leaves: 4, branching: 2, expected: 7, found: 6 };
    assert_eq!(htree.project(&[0.0; 6]), Err(wrong));
}
