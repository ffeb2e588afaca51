use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use dp::Epsilon;
use dp::sensitivity::brute_force::{Records, worst_case};

#[test]
fn the_sensitivity_of_scores_is_at_most_as_claimed() {
    let worst = worst_case::<LInfinity>(5, Records::UpTo(4), |counts| {
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        deviation::of_splits(&counts)
    });
    assert!(worst.distance <= DEVIATION_SENSITIVITY, "{}", worst.distance);
    assert!(worst.distance > 0.75 * DEVIATION_SENSITIVITY);
}

#[test]
fn clusters_are_disjoint_and_cover_all_cells() {
    for (seed, neighbours) in [(1, Neighbours::Replace), (2, Neighbours::AddRemove)] {
        let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
        let (release, budget) = table.release(&PHP, Epsilon::new(3.0).unwrap(), neighbours, seed);
        assert!(budget.ledger().verify(budget.total()).is_ok());
        for measured in answers(&release) {
            let [QueryFactor::Intervals(clusters)] = measured.query.factors() else { panic!() };
            assert_eq!(clusters[0].0, 0);
            assert!(clusters.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert_eq!(clusters.last().unwrap().1, measured.query.cols());
        }
    }
}

#[test]
fn with_a_large_budget_the_counts_of_a_cluster_are_equal() {
    let counts = [9.0, 9.0, 9.0, 2.0, 2.0, 50.0, 50.0, 50.0];
    let mut source = NoiseSource::seeded(&dp::SeedPath::new("seed", 1));
    let mut budget = Budget::new(Epsilon::new(1e5).unwrap(), Neighbours::AddRemove);
    let clusters = Php::default().divide(&counts, "x", &mut budget, &mut source).unwrap();
    let is_even = |cluster: &Range<usize>| {
        counts[cluster.clone()].iter().all(|c| *c == counts[cluster.start])
    };
    assert!(clusters.iter().all(is_even), "{clusters:?}");
}

#[test]
fn a_depth_out_of_range_is_refused() {
    for text in ["depth = 0", "depth = 33", "depth = \"deep\""] {
        let message = (PHP.build)(&text.parse().unwrap()).err().unwrap().message;
        assert!(message.starts_with("depth"), "{message}");
    }
}

#[test]
fn halving_reaches_single_cells_after_as_many_levels() {
    let levels = [1, 2, 3, 1024, 11_342].map(|cells| Depth::Auto.levels(cells));
    assert_eq!(levels, [1, 1, 2, 10, 14]);
    assert_eq!(Depth::Levels(3).levels(1024), 3);
}
