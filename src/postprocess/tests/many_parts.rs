//! Trees so large that an iteration uses several threads.

use rand::RngExt;

use super::{generator, noise};
use crate::postprocess::admm::{Estimate, Settings, Tolerance};
use crate::postprocess::copies::{PARALLEL, PART};
use crate::postprocess::histogram;
use crate::postprocess::htree::HTree;
use crate::postprocess::proximal::Objective;
use crate::postprocess::tree::Tree;

const LEAVES: usize = 1 << 15;
/// The scale of the noise, and its standard deviation.
const SCALE: f64 = 100.0;
const STDDEV: f64 = SCALE * std::f64::consts::SQRT_2;

fn noisy_tree() -> (HTree, Vec<f64>) {
    let tree = Tree::new(2, LEAVES).unwrap();
    assert!(tree.nodes() > PARALLEL * PART);
    let mut rng = generator(15);
    let counts: Vec<f64> = (0..LEAVES)
        .map(|_| match rng.random_range(0..30u8) {
            0 => f64::from(rng.random_range(1..400u16)),
            _ => 0.0,
        })
        .collect();
    let noisy = tree.sums(&counts).iter().map(|c| c + noise(&mut rng, SCALE)).collect();
    (HTree::new(tree), noisy)
}

fn estimated(threads: usize, alpha: f64, settings: &Settings) -> Estimate {
    let (htree, noisy) = noisy_tree();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let objective = Objective::new(alpha).unwrap();
    pool.install(|| histogram::estimate(&htree, &noisy, objective, settings)).unwrap()
}

#[test]
fn histograms_do_not_depend_on_the_number_of_threads() {
    for alpha in [0.0, 0.9, 1.0] {
        let settings = Settings { iterations: 100, ..Settings::suited(alpha, STDDEV) };
        let (one, three) = (estimated(1, alpha, &settings), estimated(3, alpha, &settings));
        let bits = |bins: &[f64]| bins.iter().map(|bin| bin.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&one.counts), bits(&three.counts), "alpha {alpha}");
        assert_eq!((one.iterations, one.residuals), (three.iterations, three.residuals));
    }
}

/// A bound on the relative distance of the objective from its minimum.
///
/// F(b) is the sum over the nodes of phi((S b)_v - y_v), where S sums and phi(t) = alpha |t| + (1 -
/// alpha) t^2. For any slope g, phi(t) >= g t - phi*(g) with the conjugate phi*(g) = max(|g| -
/// alpha, 0)^2 / (4 (1 - alpha)). If the slopes along each path from a leaf to the root have a
/// nonnegative sum, then g^T S b >= 0 for all b >= 0, and F is at least the sum of -g_v y_v -
/// phi*(g_v). g are the slopes at the histogram; those of the leaves are raised where the sum along
/// a path is negative.
fn relative_gap(alpha: f64, tree: &Tree, noisy: &[f64], bins: &[f64]) -> f64 {
    let sums = tree.sums(bins);
    let differences: Vec<f64> = sums.iter().zip(noisy).map(|(sum, y)| sum - y).collect();
    let phi = |t: &f64| alpha * t.abs() + (1.0 - alpha) * t * t;
    let value: f64 = differences.iter().map(phi).sum();
    let slope = |t: &f64| match t.abs() < 1e-3 * STDDEV {
        // Anything from -alpha to alpha.
        true => 2.0 * (1.0 - alpha) * t,
        false => alpha * t.signum() + 2.0 * (1.0 - alpha) * t,
    };
    let mut slopes: Vec<f64> = differences.iter().map(slope).collect();
    let mut along_path = vec![0.0; LEAVES];
    for (span, slope) in tree.spans().zip(&slopes) {
        along_path[span].iter_mut().for_each(|sum| *sum += slope);
    }
    let of_leaves = tree.level(tree.levels() - 1);
    slopes[of_leaves].iter_mut().zip(&along_path).for_each(|(g, sum)| *g += (-sum).max(0.0));
    let conjugate = |g: f64| (g.abs() - alpha).max(0.0).powi(2) / (4.0 * (1.0 - alpha));
    let bound: f64 = slopes.iter().zip(noisy).map(|(g, y)| -g * y - conjugate(*g)).sum();
    (value - bound) / value
}

#[test]
fn histograms_in_many_parts_are_optimal() {
    let (htree, noisy) = noisy_tree();
    // Squares have a unique slope, so the gap is that of the iterations. The mixture has any slope
    // up to 0.9 where a node equals its measurement, compared with 29 at one standard deviation.
    for (alpha, part, most) in [(0.0, 1e-8, 1e-8), (0.9, 1e-6, 1e-4)] {
        let tolerance = Tolerance::relative(part, alpha, STDDEV);
        let settings = Settings { tolerance, ..Settings::suited(alpha, STDDEV) };
        let found = estimated(2, alpha, &settings);
        assert!(found.residuals.converged(), "{}", found.residuals);
        let gap = relative_gap(alpha, htree.tree(), &noisy, &found.counts);
        assert!((-1e-12..most).contains(&gap), "alpha {alpha}: {gap:e}");
    }
}
