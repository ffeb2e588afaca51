//! The quality of the search for an elimination order.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;

/// The fewest cells over all elimination orders.
fn exhaustive_cells(
    domain: &Domain,
    measured: &[Clique],
    order: &mut [AttributeId],
    from: usize,
) -> f64 {
    if from == order.len() {
        let cliques = brute_force_cliques(domain, measured, order);
        return cliques.iter().map(|c| domain.cells_f64(c)).sum();
    }
    let mut best = f64::INFINITY;
    for chosen in from..order.len() {
        order.swap(from, chosen);
        best = best.min(exhaustive_cells(domain, measured, order, from + 1));
        order.swap(from, chosen);
    }
    best
}

#[test]
fn small_random_graphs_are_solved_to_optimality() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut hard = 0;
    for _ in 0..60 {
        let sizes: Vec<usize> = (0..7).map(|_| random.random_range(2..30)).collect();
        let domain = domain(&sizes);
        let pairs: Vec<Clique> = (0..random.random_range(7..13))
            .map(|_| clique(&[random.random_range(0..7), random.random_range(0..7)]))
            .collect();
        let mut order = JunctionTree::new(&domain, &pairs).elimination_order().to_vec();
        let best = exhaustive_cells(&domain, &pairs, &mut order, 0);
        let searched = JunctionTree::new(&domain, &pairs).size().cells;
        assert_eq!(searched, best, "{domain:?} {pairs:?}");
        let greedy = OrderSearch { restarts: 0, ..OrderSearch::default() };
        let greedy = JunctionTree::with_search(&domain, &pairs, &greedy).size().cells;
        assert!(greedy <= 3.0 * best);
        hard += usize::from(greedy > best);
    }
    assert!(hard > 0, "no graph needed restarts");
}

#[test]
fn adult_has_3_914_006_cells() {
    let domain = Domain::new([
        ("age", 85),
        ("workclass", 9),
        ("fnlwgt", 100),
        ("education", 16),
        ("education-num", 16),
        ("marital-status", 7),
        ("occupation", 15),
        ("relationship", 6),
        ("race", 5),
        ("sex", 2),
        ("capital-gain", 100),
        ("capital-loss", 100),
        ("hours-per-week", 99),
        ("native-country", 42),
        ("income>50K", 2),
    ])
    .unwrap();
    let triples: Vec<Clique> = [
        "occupation race capital-loss",
        "occupation sex native-country",
        "marital-status relationship income>50K",
        "age education-num sex",
        "workclass education-num occupation",
        "marital-status occupation income>50K",
        "race native-country income>50K",
        "occupation capital-gain income>50K",
        "marital-status hours-per-week income>50K",
        "workclass race capital-gain",
        "marital-status relationship capital-gain",
        "workclass education-num capital-gain",
        "education-num relationship race",
        "fnlwgt hours-per-week income>50K",
        "workclass sex native-country",
    ]
    .iter()
    .map(|triple| triple.split(' ').map(|name| domain.id(name).unwrap()).collect())
    .collect();
    let tree = JunctionTree::new(&domain, &triples);
    let size = tree.size();
    assert_eq!(size, TreeSize { cliques: 9, cells: 3_914_006.0, largest: 2_160_000.0 });
    assert_eq!(tree.covering(&clique(&[domain.id("education").unwrap().0])), None);

    assert_eq!(tree.check_limit(8 * 3_914_006), Ok(()));
    let error = tree.check_limit(8 * 3_914_006 - 1).unwrap_err();
    assert_eq!((error.needed_bytes, error.size), (8.0 * 3_914_006.0, size));
    let worst = &error.worst[0];
    assert_eq!((worst.cells, error.worst.len()), (2_160_000.0, 3));
    assert_eq!(domain.cells_f64(&worst.clique), worst.cells);
    assert!(worst.merged.len() > 3 && worst.merged.iter().all(|c| triples.contains(c)));
    let message = error.to_string();
    assert!(
        message.starts_with("the model needs 31 MB for a junction tree of 9 cliques"),
        "{message}"
    );
    assert!(message.contains(&worst.names.join(" x ")), "{message}");
    assert!(message.contains("(2160000 cells, from "), "{message}");
    let single = JunctionTree::new(&domain, &triples[..1]).check_limit(0).unwrap_err().to_string();
    assert!(
        single.contains(" of 1 clique, more than") && single.ends_with(" from 1 measured clique)")
    );
}

#[test]
fn a_chordal_graph_needs_no_fill_and_no_restarts() {
    let (domain, triples) = chain(50, 4);
    let search = OrderSearch { seed: 0, restarts: 0, work: 0 };
    let tree = JunctionTree::with_search(&domain, &triples, &search);
    let mut cliques = tree.cliques().to_vec();
    cliques.sort();
    assert_eq!(cliques, triples);
}

#[test]
fn equal_seeds_give_equal_orders() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let sizes: Vec<usize> = (0..40).map(|_| random.random_range(2..100)).collect();
    let domain = domain(&sizes);
    let pairs: Vec<Clique> = (0..60)
        .map(|_| clique(&[random.random_range(0..40), random.random_range(0..40)]))
        .collect();
    let tree = |seed| {
        let search = OrderSearch { seed, ..OrderSearch::default() };
        JunctionTree::with_search(&domain, &pairs, &search)
    };
    assert_eq!(tree(5).elimination_order(), tree(5).elimination_order());
    assert_ne!(tree(5).elimination_order(), tree(6).elimination_order());
    let greedy = OrderSearch { restarts: 0, ..OrderSearch::default() };
    let greedy = JunctionTree::with_search(&domain, &pairs, &greedy);
    assert!(tree(5).size().cells < greedy.size().cells);
}

proptest! {
    #[test]
    fn predicted_cells_are_those_of_a_greedy_tree(
        (domain, measured) in problem(),
        ids in prop::collection::vec(0u32..9, 0..4),
    ) {
        let one_more = clique(&ids.iter().map(|id| id % domain.len() as u32).collect::<Vec<_>>());
        let greedy = OrderSearch { restarts: 0, ..OrderSearch::default() };
        let tree = JunctionTree::with_search(&domain, &measured, &greedy);
        let predictor = SizePredictor::new(&domain, &measured);
        // A tree without attributes has one cell, which a prediction does not count.
        let size = |tree: &JunctionTree| match tree.elimination_order().is_empty() {
            true => 0.0,
            false => tree.size().cells,
        };
        prop_assert_eq!(predictor.cells(), size(&tree));
        let inside = tree.cliques().iter().any(|larger| one_more.is_subset(larger));
        prop_assert_eq!(predictor.contains(&one_more), inside || one_more.is_empty());
        let all: Vec<Clique> = measured.iter().chain([&one_more]).cloned().collect();
        let expected = match inside || one_more.is_empty() {
            true => size(&tree),
            false => size(&JunctionTree::with_search(&domain, &all, &greedy)),
        };
        prop_assert_eq!(predictor.cells_with(&one_more), expected);
        let built = size(&JunctionTree::new(&domain, &all));
        prop_assert!(inside || built <= predictor.cells_with(&one_more));
    }
}
