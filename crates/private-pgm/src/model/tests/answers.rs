use proptest::prelude::*;

use super::*;
use crate::junction_tree::JunctionTree;
use crate::model::{Calibrated, InferenceError};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;
use crate::query::{FactorError, QueryFactor, QueryMatrix};

/// A factor of one of nine kinds, with negative entries where the kind allows them.
fn factor(n: usize, kind: usize, salt: u64) -> QueryFactor {
    let unit = |i: usize| units(64, salt)[i];
    let values: Vec<usize> = (0..n).filter(|&a| unit(a) < 0.5).collect();
    let matrix = |rows: usize| {
        let cells: Vec<f64> = units(rows * n, salt).iter().map(|u| 4.0 * (u - 0.5)).collect();
        Matrix::new(rows, n, cells)
    };
    match kind % 9 {
        0 => QueryFactor::Identity,
        1 => QueryFactor::Prefix,
        2 => QueryFactor::Total,
        3 => QueryFactor::Ranges,
        4 => QueryFactor::Evidence(values),
        5 => QueryFactor::Compress((0..n).map(|a| (2.0 * unit(a)) as usize).collect()),
        6 => QueryFactor::Moments(1 + (2.0 * unit(0)) as usize),
        7 => QueryFactor::Dense(matrix(1 + (3.0 * unit(1)) as usize)),
        _ => {
            let dense = matrix(2);
            let mut sparse = CsrMatrix::new(n);
            for row in 0..2 {
                sparse.push_row(dense.row(row).iter().copied().enumerate().filter(|e| e.1 < 1.0));
            }
            QueryFactor::Sparse(sparse)
        }
    }
}

/// By definition: every factor applied to the marginal on all listed attributes.
fn brute_force(joint: &Factor, model: &Model, query: &[(AttributeId, QueryFactor)]) -> Vec<f64> {
    let listed: Vec<AttributeId> = query.iter().map(|(id, _)| *id).collect();
    let marginal = joint.sum_onto(&Clique::new(listed.iter().copied()));
    let factors = query.iter().map(|(_, factor)| factor.clone()).collect();
    let (matrix, order) = QueryMatrix::kronecker(model.domain(), &listed, factors).unwrap();
    let counts: Vec<f64> = marginal.values().iter().map(|p| model.total() * p).collect();
    let in_axis_order = matrix.to_dense();
    let answers: Vec<f64> = (0..in_axis_order.rows())
        .map(|row| in_axis_order.row(row).iter().zip(&counts).map(|(q, x)| q * x).sum())
        .collect();
    // Permuting row numbers like answers gives the position of each listed answer.
    let numbers: Vec<f64> = (0..answers.len()).map(|row| row as f64).collect();
    let mut listed_answers = vec![0.0; answers.len()];
    for (axis_row, listed_row) in order.to_axis_order(&numbers).into_iter().enumerate() {
        listed_answers[listed_row as usize] = answers[axis_row];
    }
    listed_answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn factored_queries_agree_with_the_kronecker_product(
        model in models(),
        picks in prop::collection::vec((any::<u32>(), any::<usize>(), any::<u64>()), 0..5),
    ) {
        let Some(joint) = joint(&model) else { return Ok(()) };
        let mut query: Vec<(AttributeId, QueryFactor)> = Vec::new();
        for (pick, kind, salt) in picks {
            let id = AttributeId(pick % model.domain().len() as u32);
            let size = model.domain().size(id);
            let own = factor(size, kind, salt);
            if query.iter().all(|(other, _)| *other != id) && own.check(size).is_ok() {
                query.push((id, own));
            }
        }
        let found = model.calibrate().unwrap().answer(&query).unwrap();
        let expected = brute_force(&joint, &model, &query);
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            // The largest entries, of moments, are about 30.
            prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn conditionals_are_slices_of_the_joint_table(
        model in models(),
        targets in any::<u32>(),
        evidence in prop::collection::vec((any::<u32>(), any::<usize>()), 0..4),
    ) {
        let Some(joint) = joint(&model) else { return Ok(()) };
        let domain = model.domain();
        let targets: Clique = domain.ids().filter(|id| targets >> id.0 & 1 == 1).collect();
        let evidence: Vec<(AttributeId, usize)> = evidence
            .into_iter()
            .map(|(id, value)| (AttributeId(id % domain.len() as u32), value))
            .map(|(id, value)| (id, value % domain.size(id)))
            .collect();
        let everything = domain.everything();
        let shape = domain.shape(&everything);
        let strides = crate::numeric::strided::row_major_strides(&shape);
        let agrees = |cell: usize| evidence.iter().all(|&(id, value)| {
            cell / strides[id.index()] % shape[id.index()] == value
        });
        let slice: Vec<f64> = joint.values().iter().enumerate()
            .map(|(cell, &p)| if agrees(cell) { p } else { 0.0 }).collect();
        let slice = Factor::new(domain, everything, slice);
        let found = model.calibrate().unwrap().conditional(&targets, &evidence);
        // The joint table underflows to zero for evidence that is possible in log space.
        prop_assume!(slice.total() > 1e-290 || found.is_err());
        if slice.total() == 0.0 {
            prop_assert_eq!(found.unwrap_err(), InferenceError::ImpossibleEvidence);
            return Ok(());
        }
        let found = found.unwrap();
        prop_assert!((found.total() - 1.0).abs() < 1e-12);
        for (found, expected) in found.values().iter().zip(slice.sum_onto(&targets).values()) {
            prop_assert!((found - expected / slice.total()).abs() < 1e-8);
        }
    }
}

#[test]
fn evidence_beyond_the_range_of_floats_still_conditions() {
    // p(x0 = 1) = e^-2000, and p(x1 | x0 = 1) is 2 : 1.
    let domain = Domain::new([("x0", 2), ("x1", 2)]).unwrap();
    let layout = CliqueLayout::new(domain, vec![clique(&[0, 1])]);
    let mut potentials = Potentials::zeros(&layout);
    let table = [0.0, 0.0, -2000.0 + 2f64.ln(), -2000.0];
    potentials.values_mut().copy_from_slice(&table);
    let calibrated = Model::new(1.0, potentials).calibrate().unwrap();
    let found = calibrated.conditional(&clique(&[1]), &[(AttributeId(0), 1)]).unwrap();
    assert_close(found.values(), &[2.0 / 3.0, 1.0 / 3.0], 1e-12);
    let contradiction = [(AttributeId(0), 1), (AttributeId(0), 0)];
    let refused = calibrated.conditional(&clique(&[1]), &contradiction).unwrap_err();
    assert_eq!(refused, InferenceError::ImpossibleEvidence);
}

#[test]
fn evidence_on_many_attributes_of_a_chain_is_a_product_of_conditionals() {
    let model = chain(60, 3, 3.0);
    let calibrated = model.calibrate().unwrap();
    let evidence: Vec<(AttributeId, usize)> =
        (0..60).step_by(3).map(|id| (AttributeId(id), id as usize / 3 % 3)).collect();
    let query: Vec<(AttributeId, QueryFactor)> =
        evidence.iter().map(|&(id, value)| (id, QueryFactor::Evidence(vec![value]))).collect();
    let found = calibrated.answer(&query).unwrap();
    let mut expected = model.total();
    for (known, &(id, value)) in evidence.iter().enumerate() {
        let next = calibrated.conditional(&Clique::new([id]), &evidence[..known]).unwrap();
        expected *= next.values()[value];
    }
    assert_eq!(found.len(), 1);
    assert!((found[0] - expected).abs() < 1e-9 * expected, "{} {expected}", found[0]);
}

#[test]
fn a_query_that_shrinks_its_attributes_needs_no_marginal_on_all_of_them() {
    let model = chain(40, 10, 2.0);
    let tree = JunctionTree::new(model.domain(), model.layout().cliques());
    let calibrated = Calibrated::new(&model, tree, 1 << 16).unwrap();
    let parity = || QueryFactor::Compress((0..10).map(|a| a % 2).collect());
    let six: Vec<u32> = vec![0, 7, 14, 21, 28, 35];
    let query: Vec<_> = six.iter().map(|&id| (AttributeId(id), parity())).collect();
    let answers = calibrated.answer(&query).unwrap();
    assert_eq!(answers.len(), 64);
    assert!((answers.iter().sum::<f64>() - model.total()).abs() < 1e-9);
    let refused = calibrated.marginal(&clique(&six)).unwrap_err();
    assert_eq!(refused, InferenceError::TooLarge { cells: 1e6, limit: 1 << 16 });
}

#[test]
fn signed_queries_survive_potentials_that_underflow() {
    // Potentials of +-1000 that cancel across tables.
    let domain = Domain::new((0..3).map(|i| (format!("x{i}"), 3))).unwrap();
    let layout = CliqueLayout::new(domain, vec![clique(&[0, 1]), clique(&[1, 2])]);
    let mut potentials = Potentials::zeros(&layout);
    let noise = units(18, 4);
    for cell in 0..9 {
        potentials.table_mut(0)[cell] = noise[cell] + 1000.0 * (cell % 3) as f64;
        potentials.table_mut(1)[cell] = noise[9 + cell] - 1000.0 * (cell / 3) as f64;
    }
    let model = Model::new(100.0, potentials);
    let contrast = |x: f64| QueryFactor::Dense(Matrix::new(1, 3, vec![1.0, -2.0, x]));
    let two = Matrix::new(2, 3, vec![1.0, -1.0, 0.5, -0.2, 0.0, 3.0]);
    let query = vec![
        (AttributeId(0), contrast(0.5)),
        (AttributeId(1), contrast(-1.0)),
        (AttributeId(2), QueryFactor::Dense(two)),
    ];
    let found = model.calibrate().unwrap().answer(&query).unwrap();
    assert_close(&found, &brute_force(&joint(&model).unwrap(), &model, &query), 1e-9);
}

#[test]
fn invalid_queries_are_refused_with_the_reason() {
    let calibrated = chain(4, 3, 1.0).calibrate().unwrap();
    let id = AttributeId(0);
    let identity = || QueryFactor::Identity;
    assert_eq!(
        calibrated.answer(&[(id, identity()), (id, identity())]).unwrap_err(),
        InferenceError::RepeatedAttribute(id)
    );
    let reason = FactorError::NoSuchValue { size: 3, found: 3 };
    assert_eq!(
        calibrated.answer(&[(id, QueryFactor::Evidence(vec![3]))]).unwrap_err(),
        InferenceError::Factor { id, reason }
    );
    assert_eq!(
        calibrated.conditional(&clique(&[1]), &[(id, 3)]).unwrap_err(),
        InferenceError::NoSuchValue { id, size: 3, value: 3 }
    );
    assert_eq!(
        calibrated.answer(&[(AttributeId(9), identity())]).unwrap_err(),
        InferenceError::NoSuchAttribute { id: AttributeId(9), attributes: 4 }
    );
}

/// A centre clique of three attributes, each in five further cliques with one leaf attribute. No
/// attribute is summed out before the centre, which receives all fifteen tables.
#[test]
fn all_leaves_of_a_star_can_be_queried_together() {
    let domain = Domain::new((0..18).map(|i| (format!("x{i}"), 2))).unwrap();
    let mut cliques = vec![clique(&[0, 1, 2])];
    cliques.extend((3..18).map(|leaf| clique(&[leaf % 3, leaf])));
    let model = random_model(domain, cliques, 2.0, false, 3);
    let joint = joint(&model).unwrap();
    for wanted in [clique(&(3..18).collect::<Vec<_>>()), clique(&(2..17).collect::<Vec<_>>())] {
        let found = model.calibrate().unwrap().marginal(&wanted).unwrap();
        let expected: Vec<f64> =
            joint.sum_onto(&wanted).values().iter().map(|p| model.total() * p).collect();
        assert_close(found.values(), &expected, 1e-9);
    }
}
