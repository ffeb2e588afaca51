use super::*;
use crate::domain::AttributeId;
use crate::factor::Factor;
use crate::numeric::exp::log_sum_exp;
use crate::numeric::pointwise::add_scaled;
use crate::numeric::step::DistanceStep;
use crate::numeric::strided::Projection;
use proptest::prelude::*;

/// ln p(x) up to a constant for every record x, by direct summation.
fn joint(domain: &Domain, potentials: &Potentials) -> Vec<f64> {
    let everything = domain.everything();
    let shape = domain.shape(&everything);
    let mut joint = vec![0.0; shape.iter().product()];
    for (index, clique) in potentials.layout().cliques().iter().enumerate() {
        let kept: Vec<bool> = everything.iter().map(|id| clique.contains(id)).collect();
        let projection = Projection::new(&shape, &kept);
        projection.broadcast(potentials.table(index), &mut joint, |j, t| *j += t);
    }
    joint
}

fn model() -> impl Strategy<Value = (Domain, Vec<Clique>)> {
    let sizes = prop::collection::vec(1usize..5, 1..7);
    (sizes, prop::collection::vec(prop::collection::vec(0u32..7, 0..4), 0..7)).prop_map(
        |(sizes, sets)| {
            let d = sizes.len() as u32;
            let named = sizes.into_iter().enumerate().map(|(i, n)| (format!("x{i}"), n));
            let domain = Domain::new(named).unwrap();
            let sets: Vec<Clique> = sets
                .into_iter()
                .map(|set| set.into_iter().map(|i| AttributeId(i % d)).collect())
                .collect();
            let maximal = |c: &Clique| !sets.iter().any(|o| c != o && c.is_subset(o));
            let mut cliques: Vec<Clique> = sets.iter().filter(|c| maximal(c)).cloned().collect();
            cliques.sort();
            cliques.dedup();
            (domain, cliques)
        },
    )
}

fn potentials(oracle: &Exact, spread: f64, zeros: bool, salt: u64) -> Potentials {
    let mut potentials = Potentials::zeros(oracle.layout());
    for (i, value) in potentials.values_mut().iter_mut().enumerate() {
        let hash =
            (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt * 0x1234_5679);
        let unit = ((hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64
            / 2f64.powi(53);
        *value = spread * (unit - 0.5);
        if zeros && unit < 0.15 {
            *value = f64::NEG_INFINITY;
        }
    }
    potentials
}

#[test]
fn descend_equals_a_step_followed_by_marginals_with_and_without_threads() {
    let domain = Domain::new((0..60).map(|i| (format!("x{i}"), 7 + i % 3))).unwrap();
    let cliques: Vec<Clique> =
        (2..60).map(|i| [i - 2, i - 1, i].into_iter().map(AttributeId).collect()).collect();
    let tree = JunctionTree::new(&domain, &cliques);
    let mut alone = Exact::new(&domain, &cliques, &tree).with_threads(false);
    let mut shared = Exact::new(&domain, &cliques, &tree);
    for spread in [4.0, 3000.0] {
        let mut theta = potentials(&alone, spread, true, 1);
        let mut nu = Marginals(potentials(&alone, 10.0, false, 2).0);
        let y = potentials(&alone, 10.0, false, 3);
        let mut mean = potentials(&alone, 10.0, false, 4);
        let step = DistanceStep { blend: [0.25, 0.5], weights: [0.3, 0.7], length: 0.1 };

        let (mut moved, mut expected) = (theta.clone(), Marginals::zeros(alone.layout()));
        let mut blended = mean.clone();
        let stepped = step.take(blended.values_mut(), nu.values(), y.values(), moved.values_mut());
        let expected_log_z = alone.marginals(&moved, 10.0, &mut expected);

        let (mut other_theta, mut other_mean) = (theta.clone(), mean.clone());
        let mut next = Marginals::zeros(alone.layout());
        let (mean_cells, y_cells, kept) = (other_mean.values_mut(), y.values(), Some(nu.values()));
        let request = StepRequest::Distance { step, mean: mean_cells, y: y_cells, nu: kept };
        let StepResult { log_z, square } =
            shared.descend(request, &mut other_theta, 10.0, &mut next);
        assert!((square - stepped.square).abs() <= 1e-12 * square, "{square} {stepped:?}");
        assert_eq!((&other_theta, &other_mean, &next), (&moved, &blended, &expected));
        assert_eq!(log_z, expected_log_z);

        let mean_cells = mean.values_mut();
        let request = StepRequest::Distance { step, mean: mean_cells, y: y_cells, nu: None };
        let StepResult { log_z, .. } = shared.descend(request, &mut theta, 10.0, &mut nu);
        assert_eq!((&theta, &mean, &nu), (&moved, &blended, &expected));
        assert_eq!(log_z, expected_log_z);

        let request = StepRequest::Gradient { length: 0.5, gradient: y.values() };
        let StepResult { log_z, .. } = shared.descend(request, &mut theta, 10.0, &mut nu);
        add_scaled(-0.5, y.values(), moved.values_mut());
        assert_eq!(log_z, alone.marginals(&moved, 10.0, &mut expected));
        assert_eq!((&theta, &nu), (&moved, &expected));
    }
}

/// A chain of `attributes` attributes with three values each, with all adjacent triples.
fn chain(attributes: u32) -> (Domain, Vec<Clique>) {
    let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), 3))).unwrap();
    let triple = |i: u32| [i - 2, i - 1, i].into_iter().map(AttributeId).collect();
    (domain, (2..attributes).map(triple).collect())
}

fn compiled((domain, cliques): &(Domain, Vec<Clique>)) -> Exact {
    Exact::new(domain, cliques, &JunctionTree::new(domain, cliques))
}

#[test]
fn only_trees_that_pass_messages_from_table_to_table_are_conditioned() {
    let conditions = |model: (Domain, Vec<Clique>)| {
        matches!(compiled(&model).reparametrization, Reparametrization::Conditioning(_))
    };
    assert!(conditions(chain(20)));
    let domain = Domain::new((0..4).map(|i| (format!("x{i}"), 3))).unwrap();
    let pairs = |pairs: &[[u32; 2]]| -> Vec<Clique> {
        pairs.iter().map(|pair| pair.iter().map(|&i| AttributeId(i)).collect()).collect()
    };
    assert!(conditions((domain.clone(), pairs(&[[0, 1], [0, 2], [0, 3]]))));
    assert!(conditions((domain.clone(), pairs(&[[0, 1], [2, 3]]))));
    assert!(!conditions((domain, pairs(&[[0, 1], [1, 2], [2, 3], [0, 3]]))));
}

#[test]
fn reparametrized_potentials_near_a_vertex_do_not_underflow() {
    let model = chain(40);
    let (mut reparametrized, mut unchanged) = (compiled(&model), compiled(&model));
    let mut theta = Potentials::zeros(reparametrized.layout());
    let mut as_stepped = theta.clone();
    let mut marginals = Marginals::zeros(reparametrized.layout());
    let mut expected = marginals.clone();
    let mut decrease = 0.0;
    for _ in 0..100 {
        // Always in the same direction, which neighbouring tables contradict.
        let step = potentials(&reparametrized, 60.0, false, 7);
        add_scaled(1.0, step.values(), theta.values_mut());
        add_scaled(1.0, step.values(), as_stepped.values_mut());
        let log_z = reparametrized.marginals(&theta, 10.0, &mut marginals);
        assert!(!reparametrized.in_log_space);
        let expected_log_z = unchanged.marginals(&as_stepped, 10.0, &mut expected);
        assert!((log_z + decrease - expected_log_z).abs() <= 1e-11 * expected_log_z.abs());
        for (ours, theirs) in marginals.values().iter().zip(expected.values()) {
            assert!((ours - theirs).abs() <= 1e-9, "{ours} {theirs}");
        }
        match reparametrized.reparametrize(&mut theta, false) {
            Reparametrized::Unchanged => {}
            Reparametrized::Shifted(by) => decrease += by,
            Reparametrized::Recompute => panic!("the potentials were underflowed"),
        }
    }
    assert!(unchanged.in_log_space, "the same potentials do not underflow without replacement");
}

proptest! {
    #[test]
    fn agrees_with_brute_force((domain, cliques) in model(), salt in 0u64..1_000_000,
            spread in prop_oneof![Just(0.0), Just(4.0), Just(400.0), Just(6000.0)], zeros: bool) {
        let tree = JunctionTree::new(&domain, &cliques);
        let mut oracle = Exact::new(&domain, &cliques, &tree);
        let potentials = potentials(&oracle, spread, zeros, salt);
        let joint = joint(&domain, &potentials);
        let expected_log_z = log_sum_exp(&joint);
        let mut marginals = Marginals::zeros(oracle.layout());
        let log_z = oracle.marginals(&potentials, 10.0, &mut marginals);
        if expected_log_z == f64::NEG_INFINITY {
            prop_assert_eq!(log_z, expected_log_z);
            prop_assert!(marginals.values().iter().all(|&m| m == 0.0));
        } else {
            let size = 1.0 + expected_log_z.abs() + spread;
            prop_assert!((log_z - expected_log_z).abs() <= 1e-12 * size);
            let p = joint.iter().map(|j| 10.0 * (j - expected_log_z).exp()).collect();
            let p = Factor::new(&domain, domain.everything(), p);
            for (index, clique) in marginals.layout().cliques().iter().enumerate() {
                let expected = p.sum_onto(clique);
                for (ours, theirs) in marginals.table(index).iter().zip(expected.values()) {
                    let near = (ours - theirs).abs() <= 1e-12 * (10.0 + spread * 10.0);
                    prop_assert!(near, "{ours} {theirs}");
                }
            }
        }
        let mut moved = potentials.clone();
        let decrease = MaxReparametrization::new(oracle.layout()).apply(&mut moved);
        let mut equivalent = vec![(moved, decrease)];
        if let Reparametrization::Conditioning(conditioning) = &mut oracle.reparametrization {
            for parallel in [true, false] {
                let (tables, mut moved) = (oracle.workspace.tables_mut(), potentials.clone());
                let decrease =
                    conditioning.apply(tables, oracle.in_log_space, &mut moved, parallel);
                equivalent.push((moved, decrease));
            }
            prop_assert_eq!(&equivalent[1], &equivalent[2], "with and without threads");
        }
        for (moved, decrease) in equivalent {
            for (before, after) in joint.iter().zip(&self::joint(&domain, &moved)) {
                let same = (before - after - decrease).abs() <= 2e-12 * (1.0 + spread);
                prop_assert!(same || before == after && *before == f64::NEG_INFINITY);
            }
            for table in 0..moved.layout().cliques().len() {
                let largest = moved.table(table).iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(largest == 0.0 || largest == f64::NEG_INFINITY);
            }
        }
        let best = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let maximum = oracle.maximum(&potentials).unwrap();
        let near = (maximum - best).abs() <= 1e-12 * (1.0 + best.abs() + spread);
        prop_assert!(maximum == best || near);
    }
}

#[test]
fn repeated_calls_near_a_vertex_of_a_loopy_model_agree_with_brute_force() {
    let domain = Domain::new((0..6).map(|i| (format!("x{i}"), 4))).unwrap();
    let pairs = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 5], [0, 3], [1, 4]];
    let cliques = pairs.map(|pair| pair.into_iter().map(AttributeId).collect::<Clique>());
    let mut oracle = compiled(&(domain.clone(), cliques.to_vec()));
    assert!(matches!(oracle.reparametrization, Reparametrization::Max(_)));
    let mut theta = Potentials::zeros(oracle.layout());
    let mut marginals = Marginals::zeros(oracle.layout());
    let mut calls_in_log_space = 0;
    for step in 0..120 {
        // The direction changes now and then, so that other cells become noticeable.
        add_scaled(
            1.0,
            potentials(&oracle, 60.0, false, 7 + step / 20).values(),
            theta.values_mut(),
        );
        let log_z = oracle.marginals(&theta, 10.0, &mut marginals);
        calls_in_log_space += usize::from(oracle.in_log_space);
        let joint = joint(&domain, &theta);
        let expected_log_z = log_sum_exp(&joint);
        assert!((log_z - expected_log_z).abs() <= 1e-12 * expected_log_z.abs().max(1e3));
        let p = joint.iter().map(|j| 10.0 * (j - expected_log_z).exp()).collect();
        let p = Factor::new(&domain, domain.everything(), p);
        for (index, clique) in marginals.layout().cliques().iter().enumerate() {
            for (ours, theirs) in marginals.table(index).iter().zip(p.sum_onto(clique).values()) {
                assert!((ours - theirs).abs() <= 1e-8, "step {step}: {ours} {theirs}");
            }
        }
    }
    assert!(calls_in_log_space > 5, "{calls_in_log_space} calls underflowed");
}

/// A star whose messages multiply to [1e8, 1e8, 1e-120], of which the rest of the tree selects the
/// last.
#[test]
fn sums_in_linear_space_are_trusted_down_to_any_size() {
    let rays = (0..16).map(|i| (format!("x{i}"), 10));
    let domain = Domain::new(rays.chain([("c".into(), 3), ("y".into(), 2), ("z".into(), 2)]));
    let domain = domain.unwrap();
    let pair = |a: &str, b: &str| -> Clique {
        [a, b].map(|a| domain.id(a).unwrap()).into_iter().collect()
    };
    let rays = (0..16).map(|i| pair(&format!("x{i}"), "c"));
    let cliques: Vec<Clique> = rays.chain([pair("c", "y"), pair("y", "z")]).collect();
    let mut oracle = compiled(&(domain.clone(), cliques));
    let layout = Arc::clone(oracle.layout());
    let position = |clique: Clique| layout.cliques().iter().position(|c| *c == clique).unwrap();
    let small = 1e-120f64.ln() / 16.0;
    let mut potentials = Potentials::zeros(&layout);
    let mut fill = |a: &str, b: &str, potential: &dyn Fn(usize, usize) -> f64| {
        let clique = pair(a, b);
        let (names, shape) = (domain.names(&clique), domain.shape(&clique));
        let table = potentials.table_mut(position(clique));
        for (cell, to) in table.iter_mut().enumerate() {
            let (first, last) = (cell / shape[1], cell % shape[1]);
            *to = if names[0] == a { potential(first, last) } else { potential(last, first) };
        }
    };
    for i in 0..16 {
        // Each ray has ten values with one of c = 0 and c = 1, one value with the other, and a
        // rare one with c = 2.
        fill(&format!("x{i}"), "c", &|x, c| match (x, c) {
            (0, 2) => small,
            (_, c) if x == 0 || c == usize::from(i >= 8) => 0.0,
            _ => -1000.0,
        });
    }
    fill("c", "y", &|c, y| [[-400.0, 0.0], [-400.0, 0.0], [-20.0, -900.0]][c][y]);
    fill("y", "z", &|y, _| -2000.0 * y as f64);
    let mut marginals = Marginals::zeros(&layout);
    let log_z = oracle.marginals(&potentials, 10.0, &mut marginals);
    // Only c = 2 and y = 0 have noticeable mass, with two values of z.
    let expected = 16.0 * small - 20.0 + 2f64.ln();
    assert!((log_z - expected).abs() < 1e-9, "{log_z} {expected}");
    for table in 0..layout.cliques().len() {
        let sum: f64 = marginals.table(table).iter().sum();
        assert!((sum - 10.0).abs() < 1e-9, "{:?}", marginals.table(table));
    }
    let last = marginals.table(position(pair("c", "y")));
    assert!(last.iter().any(|cell| (cell - 10.0).abs() < 1e-9), "{last:?}");
}
