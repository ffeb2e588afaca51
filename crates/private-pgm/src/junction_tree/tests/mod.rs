mod search;

use proptest::prelude::*;

use super::*;

fn clique(ids: &[u32]) -> Clique {
    ids.iter().map(|&id| AttributeId(id)).collect()
}

fn domain(sizes: &[usize]) -> Domain {
    Domain::new(sizes.iter().enumerate().map(|(i, &size)| (format!("x{i}"), size))).unwrap()
}

fn chain(attributes: u32, size: usize) -> (Domain, Vec<Clique>) {
    let triples = (0..attributes - 2).map(|i| clique(&[i, i + 1, i + 2])).collect();
    (domain(&vec![size; attributes as usize]), triples)
}

/// Up to 9 attributes, some of size 1, and cliques that may be empty, nested or repeated.
fn problem() -> impl Strategy<Value = (Domain, Vec<Clique>)> {
    prop::collection::vec(prop::sample::select(vec![1, 2, 3, 5, 10, 40, 100]), 1..10).prop_flat_map(
        |sizes| {
            let ids = prop::collection::vec(0..sizes.len() as u32, 0..4);
            let cliques = prop::collection::vec(ids.prop_map(|ids| clique(&ids)), 0..12);
            (Just(domain(&sizes)), cliques)
        },
    )
}

/// Pairs over 40 attributes: long lists of neighbours, and several connected components.
fn wide_problem() -> impl Strategy<Value = (Domain, Vec<Clique>)> {
    let pairs = prop::collection::vec((0..40u32, 0..40u32), 0..120);
    (prop::collection::vec(2usize..50, 40), pairs).prop_map(|(sizes, pairs)| {
        (domain(&sizes), pairs.into_iter().map(|(a, b)| clique(&[a, b])).collect())
    })
}

/// The maximal cliques of an elimination order by definition: with an adjacency matrix and a
/// comparison of all pairs of cliques.
fn brute_force_cliques(domain: &Domain, measured: &[Clique], order: &[AttributeId]) -> Vec<Clique> {
    let mut adjacent = vec![vec![false; domain.len()]; domain.len()];
    for clique in measured {
        for (a, b) in clique.iter().flat_map(|a| clique.iter().map(move |b| (a, b))) {
            adjacent[a.index()][b.index()] = a != b;
        }
    }
    let mut left: Vec<AttributeId> = order.to_vec();
    let mut cliques = Vec::new();
    for &v in order {
        left.retain(|&u| u != v);
        let around: Vec<AttributeId> =
            left.iter().copied().filter(|u| adjacent[v.index()][u.index()]).collect();
        for (a, b) in around.iter().flat_map(|a| around.iter().map(move |b| (a, b))) {
            adjacent[a.index()][b.index()] = a != b;
        }
        cliques.push(around.into_iter().chain([v]).collect::<Clique>());
    }
    let maximal = |c: &Clique| !cliques.iter().any(|other| c != other && c.is_subset(other));
    let mut found: Vec<Clique> = cliques.iter().filter(|c| maximal(c)).cloned().collect();
    found.sort();
    found.dedup();
    found
}

fn edges(tree: &JunctionTree) -> Vec<(usize, usize)> {
    (0..tree.len()).filter_map(|index| Some((index, tree.parent(index)?))).collect()
}

/// Whether the forest has |nodes| - 1 edges between `nodes`, which means that they are connected.
fn connected(tree: &JunctionTree, nodes: &[usize]) -> bool {
    let inside = |&(a, b): &(usize, usize)| nodes.contains(&a) && nodes.contains(&b);
    nodes.is_empty() || edges(tree).iter().filter(|edge| inside(edge)).count() == nodes.len() - 1
}

proptest! {
    #[test]
    fn covering_finds_the_smallest_clique_that_contains_a_measured_one(
        (domain, measured) in problem(),
    ) {
        let tree = JunctionTree::new(&domain, &measured);
        for set in &measured {
            let index = tree.covering(set).unwrap();
            prop_assert!(set.is_subset(&tree.cliques()[index]));
            for (other, candidate) in tree.cliques().iter().enumerate() {
                prop_assert!(!set.is_subset(candidate) || tree.cells(index) <= tree.cells(other));
            }
        }
    }

    #[test]
    fn the_cliques_are_those_of_the_elimination_order(
        (domain, measured) in prop_oneof![3 => problem(), 1 => wide_problem()],
    ) {
        let tree = JunctionTree::new(&domain, &measured);
        let order = tree.elimination_order();
        let mut listed: Vec<AttributeId> = measured.iter().flat_map(Clique::iter).collect();
        listed.sort();
        listed.dedup();
        prop_assert_eq!(order.len(), listed.len());
        prop_assert_eq!(Clique::new(order.iter().copied()), Clique::new(listed));
        let mut cliques = tree.cliques().to_vec();
        cliques.sort();
        if order.is_empty() {
            let expected = if measured.is_empty() { vec![] } else { vec![Clique::empty()] };
            prop_assert_eq!(cliques, expected);
        } else {
            prop_assert_eq!(cliques, brute_force_cliques(&domain, &measured, order));
        }
    }

    #[test]
    fn the_cliques_of_an_attribute_are_connected((domain, measured) in problem()) {
        let tree = JunctionTree::new(&domain, &measured);
        for id in domain.ids() {
            let mut holders: Vec<usize> =
                (0..tree.len()).filter(|&index| tree.cliques()[index].contains(id)).collect();
            prop_assert!(connected(&tree, &holders));
            prop_assert_eq!(holders.is_empty(), !measured.iter().any(|c| c.contains(id)));
            let mut listed = tree.containing(id).to_vec();
            prop_assert!(listed.windows(2).all(|w| tree.cells(w[0]) <= tree.cells(w[1])));
            listed.sort();
            holders.sort();
            prop_assert_eq!(listed, holders);
        }
    }

    #[test]
    fn cliques_are_in_post_order((domain, measured) in problem()) {
        let tree = JunctionTree::new(&domain, &measured);
        let mut next = 0;
        for (component, range) in tree.components().iter().enumerate() {
            prop_assert_eq!(range.start, next);
            next = range.end;
            prop_assert_eq!(tree.parent(tree.root(component)), None);
            for index in range.clone() {
                prop_assert_eq!(tree.component_of(index), component);
                prop_assert_eq!(tree.parent(index).is_none(), index == tree.root(component));
            }
        }
        prop_assert_eq!(next, tree.len());
        let mut branch = vec![1; tree.len()];
        for (index, parent) in edges(&tree) {
            prop_assert!(parent > index);
            prop_assert!(!tree.separator(index, parent).is_empty());
            branch[parent] += branch[index];
        }
        for (index, parent) in edges(&tree) {
            // The branch of a child lies within the branch of its parent.
            prop_assert!(index + 1 - branch[index] >= parent + 1 - branch[parent]);
        }
        for index in 0..tree.len() {
            let mut expected: Vec<usize> =
                (0..tree.len()).filter(|&child| tree.parent(child) == Some(index)).collect();
            expected.extend(tree.parent(index));
            prop_assert_eq!(tree.neighbours(index), expected);
        }
    }

    #[test]
    fn no_branch_below_a_root_has_more_than_half_of_the_cells((domain, measured) in problem()) {
        let tree = JunctionTree::new(&domain, &measured);
        let mut branch: Vec<f64> = (0..tree.len()).map(|index| tree.cells(index)).collect();
        for (index, parent) in edges(&tree) {
            branch[parent] += branch[index];
        }
        for component in 0..tree.components().len() {
            let root = tree.root(component);
            for &child in tree.neighbours(root) {
                prop_assert!(branch[child] <= branch[root] / 2.0);
            }
        }
    }

    #[test]
    fn the_edges_cost_as_much_as_kruskals_spanning_tree((domain, measured) in problem()) {
        let tree = JunctionTree::new(&domain, &measured);
        let ends = |&(a, b): &(usize, usize)| tree.cells(a) + tree.cells(b);
        let shared = |&(a, b): &(usize, usize)| tree.separator(a, b).len();
        // Kruskal over all pairs: most shared attributes first, then fewest cells at the ends.
        let mut pairs: Vec<(usize, usize)> = (0..tree.len())
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|pair| shared(pair) > 0)
            .collect();
        pairs.sort_by(|x, y| shared(y).cmp(&shared(x)).then(ends(x).total_cmp(&ends(y))));
        let mut label: Vec<usize> = (0..tree.len()).collect();
        pairs.retain(|&(a, b)| {
            let (from, to) = (label[a], label[b]);
            label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            from != to
        });
        let chosen = edges(&tree);
        let total = |edges: &[(usize, usize)]| -> (usize, f64) {
            (edges.iter().map(shared).sum(), edges.iter().map(ends).sum())
        };
        prop_assert_eq!(chosen.len(), pairs.len());
        prop_assert_eq!(total(&chosen), total(&pairs));
    }

    #[test]
    fn a_steiner_subtree_is_connected_covers_the_set_and_is_the_smallest(
        (domain, measured) in problem(),
        set in prop::collection::vec(0u32..9, 0..5),
    ) {
        let tree = JunctionTree::new(&domain, &measured);
        let set: Clique =
            set.into_iter().map(AttributeId).filter(|id| id.index() < domain.len()).collect();
        let found = tree.steiner(&set);
        prop_assert!(found.windows(2).all(|w| w[0] < w[1]));
        for (component, range) in tree.components().iter().enumerate() {
            let attributes = |nodes: &[usize]| -> Clique {
                nodes.iter().flat_map(|&node| tree.cliques()[node].iter()).collect()
            };
            let wanted = set.intersection(&attributes(&range.clone().collect::<Vec<_>>()));
            let here: Vec<usize> =
                found.iter().copied().filter(|&i| tree.component_of(i) == component).collect();
            let good =
                |nodes: &[usize]| connected(&tree, nodes) && wanted.is_subset(&attributes(nodes));
            prop_assert!(good(&here));
            let smallest = (0u32..1 << range.len())
                .map(|bits| -> Vec<usize> {
                    range.clone().filter(|i| bits >> (i - range.start) & 1 == 1).collect()
                })
                .filter(|nodes| good(nodes))
                .map(|nodes| nodes.len())
                .min();
            prop_assert_eq!(Some(here.len()), smallest);
            if here.len() == 1 {
                prop_assert_eq!(Some(here[0]), tree.covering(&wanted));
            }
        }
    }

    #[test]
    fn the_order_of_the_cliques_does_not_matter((domain, measured) in problem()) {
        let tree = JunctionTree::new(&domain, &measured);
        let reversed: Vec<Clique> = measured.iter().rev().chain(&measured).cloned().collect();
        let other = JunctionTree::new(&domain, &reversed);
        prop_assert_eq!(tree.cliques(), other.cliques());
        prop_assert_eq!(edges(&tree), edges(&other));
    }
}

#[test]
fn the_root_halves_a_chain() {
    let (domain, triples) = chain(103, 4);
    let tree = JunctionTree::new(&domain, &triples);
    let root = tree.root(0);
    assert_eq!(tree.cliques()[root], clique(&[50, 51, 52]));
    // Two branches of 50 cliques each; the second one directly precedes the root.
    assert_eq!(tree.neighbours(root), [49, 99]);
}

#[test]
fn no_cliques_empty_cliques_and_disconnected_cliques_have_trees() {
    let domain = domain(&[1, 2, 3]);
    let none = JunctionTree::new(&domain, &[]);
    assert!(none.is_empty() && none.components().is_empty());
    assert_eq!(none.size(), TreeSize { cliques: 0, cells: 0.0, largest: 0.0 });
    assert_eq!(none.covering(&Clique::empty()), None);
    assert_eq!(none.check_limit(0), Ok(()));

    let empty = JunctionTree::new(&domain, &[Clique::empty(), Clique::empty()]);
    assert_eq!(empty.cliques(), [Clique::empty()]);
    assert_eq!(empty.size().cells, 1.0);
    assert_eq!(empty.covering(&Clique::empty()), Some(0));
    assert!(empty.check_limit(0).is_err());

    let single = JunctionTree::new(&domain, &[clique(&[2]), Clique::empty(), clique(&[2])]);
    assert_eq!(single.cliques(), [clique(&[2])]);

    let apart = JunctionTree::new(&domain, &[clique(&[0]), clique(&[2, 1]), clique(&[1])]);
    assert_eq!(apart.components(), [0..1, 1..2]);
    assert_eq!(apart.cliques(), [clique(&[0]), clique(&[1, 2])]);
    assert_eq!(apart.steiner(&clique(&[0, 1])), [0, 1]);
    assert_eq!(apart.covering(&clique(&[0, 1])), None);
    assert_eq!(apart.covering(&clique(&[7])), None);
}

#[test]
fn infinite_sizes_are_refused_without_panic() {
    let domain = domain(&[usize::MAX; 40]);
    let pairs: Vec<Clique> =
        (0..40).flat_map(|a| (0..a).map(move |b| clique(&[a, b]))).chain([clique(&[3])]).collect();
    let cycle: Vec<Clique> = (0..40).map(|a| clique(&[a, (a + 1) % 40])).collect();
    let everything = JunctionTree::new(&domain, &pairs);
    assert_eq!(everything.cliques(), [domain.everything()]);
    let error = everything.check_limit(u64::MAX).unwrap_err();
    assert_eq!((error.needed_bytes, error.worst.len()), (f64::INFINITY, 1));
    assert!(error.to_string().contains("over 1e299 GB"));
    assert_eq!(JunctionTree::new(&domain, &cycle).len(), 38);
}
