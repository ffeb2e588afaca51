use proptest::prelude::*;

use super::*;
use crate::junction_tree::JunctionTree;
use crate::model::Projectable;
use crate::model::{Calibrated, InferenceError};

fn subset(model: &Model, mask: u32) -> Clique {
    model.domain().ids().filter(|id| mask >> id.0 & 1 == 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_marginal_is_the_one_of_the_joint_table(
        model in models(),
        masks in prop::collection::vec(any::<u32>(), 4),
    ) {
        let cliques: Vec<Clique> = masks.into_iter().map(|mask| subset(&model, mask)).collect();
        let Some(joint) = joint(&model) else {
            prop_assert_eq!(model.calibrate().unwrap_err(), InferenceError::Impossible);
            return Ok(());
        };
        let calibrated = model.calibrate().unwrap();
        let together = calibrated.marginals(&cliques).unwrap();
        for (clique, found) in cliques.iter().zip(together) {
            prop_assert_eq!(&found, &calibrated.project(clique).unwrap());
            prop_assert_eq!(found.clique(), clique);
            let expected = joint.sum_onto(clique);
            for (found, expected) in found.values().iter().zip(expected.values()) {
                prop_assert!((found - 100.0 * expected).abs() < 1e-8, "{found} {expected}");
                prop_assert!(*found == 0.0 || *expected > 0.0 || *found < 1e-300);
            }
        }
    }

    #[test]
    fn a_junction_tree_with_an_additional_clique_changes_no_marginal(
        model in models(),
        more in any::<u32>(),
        asked in any::<u32>(),
    ) {
        let Some(joint) = joint(&model) else { return Ok(()) };
        let mut cliques = model.layout().cliques().to_vec();
        cliques.push(subset(&model, more));
        let tree = JunctionTree::new(model.domain(), &cliques);
        let calibrated = Calibrated::new(&model, tree, 1 << 20).unwrap();
        let asked = subset(&model, asked);
        let found = calibrated.marginal(&asked).unwrap();
        for (found, expected) in found.values().iter().zip(joint.sum_onto(&asked).values()) {
            prop_assert!((found - 100.0 * expected).abs() < 1e-8, "{found} {expected}");
        }
    }
}

#[test]
fn a_clique_without_tables_between_two_others_forwards_messages() {
    let domain = Domain::new([("a", 2), ("b", 2), ("c", 2), ("d", 3)]).unwrap();
    let cliques = vec![clique(&[1, 3]), clique(&[0, 2])];
    let mut potentials = Potentials::zeros(&CliqueLayout::new(domain, cliques.clone()));
    for (cell, theta) in potentials.values_mut().iter_mut().enumerate() {
        *theta = (cell * cell % 7) as f64 / 3.0;
    }
    let model = Model::new(100.0, potentials);
    let bridged: Vec<Clique> = cliques.into_iter().chain([clique(&[1, 2])]).collect();
    let tree = JunctionTree::new(model.domain(), &bridged);
    let ends = clique(&[0, 3]);
    let found = Calibrated::new(&model, tree, 1 << 20).unwrap().marginal(&ends).unwrap();
    let expected = joint(&model).unwrap().sum_onto(&ends);
    for (found, expected) in found.values().iter().zip(expected.values()) {
        assert!((found - 100.0 * expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// A chain with +1000 and -1000 on opposite sides of every edge: each table alone would put all
/// mass on values that have little mass in the product.
#[test]
fn potentials_that_cancel_across_tables_lose_nothing() {
    let domain = Domain::new((0..6).map(|i| (format!("x{i}"), 3))).unwrap();
    let cliques: Vec<Clique> = (0..5).map(|i| clique(&[i, i + 1])).collect();
    let layout = CliqueLayout::new(domain, cliques);
    let mut potentials = Potentials::zeros(&layout);
    for index in 0..5 {
        let units = units(9, index as u64);
        for (cell, theta) in potentials.table_mut(index).iter_mut().enumerate() {
            let (first, second) = (cell / 3, cell % 3);
            *theta = 3.0 * units[cell] + 1000.0 * first as f64 - 1000.0 * second as f64;
        }
    }
    // Cancels the potentials at the two ends, which have no second table.
    for (cell, theta) in potentials.table_mut(0).iter_mut().enumerate() {
        *theta -= 1000.0 * (cell / 3) as f64;
    }
    for (cell, theta) in potentials.table_mut(4).iter_mut().enumerate() {
        *theta += 1000.0 * (cell % 3) as f64;
    }
    let model = Model::new(100.0, potentials);
    let joint = joint(&model).unwrap();
    let calibrated = model.calibrate().unwrap();
    for asked in [clique(&[0, 5]), clique(&[1, 3]), clique(&[0, 2, 4])] {
        let expected: Vec<f64> =
            joint.sum_onto(&asked).values().iter().map(|p| 100.0 * p).collect();
        assert!(expected.iter().all(|&cell| cell > 0.01), "every cell has mass");
        assert_close(calibrated.marginal(&asked).unwrap().values(), &expected, 1e-9);
    }
}

#[test]
fn far_ends_of_a_long_chain_agree_with_the_product_of_its_transitions() {
    // Pairs only, so that the expected marginal is a product of small matrices.
    let (attributes, size) = (200, 4);
    let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), size))).unwrap();
    let cliques = (0..attributes as u32 - 1).map(|i| clique(&[i, i + 1])).collect();
    let model = random_model(domain, cliques, 4.0, false, 3);
    let mut product: Vec<f64> = (0..16).map(|cell| f64::from(u8::from(cell % 5 == 0))).collect();
    for index in 0..attributes - 1 {
        let theta = model.potentials().table(index);
        let cell = |row: usize, col: usize| -> f64 {
            (0..size).map(|k| product[row * size + k] * theta[k * size + col].exp()).sum()
        };
        let next: Vec<f64> = (0..16).map(|c| cell(c / size, c % size)).collect();
        let sum: f64 = next.iter().sum();
        product = next.iter().map(|x| x / sum).collect();
    }
    let expected: Vec<f64> = product.iter().map(|p| 100.0 * p).collect();
    let ends = clique(&[0, attributes as u32 - 1]);
    let found = model.calibrate().unwrap().marginal(&ends).unwrap();
    assert_close(found.values(), &expected, 1e-10);
}

#[test]
fn a_marginal_above_the_cell_limit_is_refused_with_its_size() {
    let model = chain(12, 10, 1.0);
    let tree = JunctionTree::new(model.domain(), model.layout().cliques());
    let calibrated = Calibrated::new(&model, tree.clone(), 1000).unwrap();
    let refused = calibrated.marginal(&clique(&[0, 3, 6, 9])).unwrap_err();
    assert_eq!(refused, InferenceError::TooLarge { cells: 1e4, limit: 1000 });
    // The marginal on both ends is small, but messages have one end and a separator of two.
    let refused = Calibrated::new(&model, tree, 900).unwrap().marginal(&clique(&[0, 11]));
    assert_eq!(refused.unwrap_err(), InferenceError::TooLarge { cells: 1000.0, limit: 900 });
    let unknown = calibrated.marginal(&clique(&[12])).unwrap_err();
    let expected = InferenceError::NoSuchAttribute { id: AttributeId(12), attributes: 12 };
    assert_eq!(unknown, expected);
}

#[test]
fn wide_attributes_behind_narrow_separators_are_multiplied_in_last() {
    // A chain of binary hubs; three of them have a leaf of twelve values.
    let hubs = (0..7).map(|i| (format!("hub{i}"), 2));
    let leaves = (0..3).map(|i| (format!("leaf{i}"), 12));
    let domain = Domain::new(hubs.chain(leaves)).unwrap();
    let row = (0..6).map(|i| clique(&[i, i + 1]));
    let cliques = row.chain([clique(&[0, 7]), clique(&[3, 8]), clique(&[6, 9])]).collect();
    let model = random_model(domain, cliques, 4.0, true, 11);
    let joint = joint(&model).unwrap();
    let calibrated = model.calibrate().unwrap();
    for asked in [clique(&[7, 8, 9]), clique(&[7, 9]), clique(&[1, 7, 9]), clique(&[0, 6, 8])] {
        let expected = joint.sum_onto(&asked);
        let expected: Vec<f64> = expected.values().iter().map(|p| 100.0 * p).collect();
        assert_close(calibrated.marginal(&asked).unwrap().values(), &expected, 1e-10);
    }
}
