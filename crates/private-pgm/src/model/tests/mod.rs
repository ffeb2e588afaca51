mod answers;
mod marginals;
mod sampling;

use proptest::prelude::*;

use super::Model;
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::{CliqueLayout, Factor, Potentials};
use crate::numeric::exp::log_sum_exp;
use crate::numeric::strided::Projection;

/// Pseudo-random numbers in [0, 1), determined by the salt.
pub(super) fn units(count: usize, salt: u64) -> Vec<f64> {
    let unit = |i: usize| {
        let mut hash = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt;
        for _ in 0..2 {
            hash = (hash ^ (hash >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        }
        (hash >> 11) as f64 / 2f64.powi(53)
    };
    (0..count).map(unit).collect()
}

pub(super) fn clique(ids: &[u32]) -> Clique {
    ids.iter().map(|&id| AttributeId(id)).collect()
}

/// Potentials between -spread/2 and spread/2; with `zeros`, a tenth of them are minus infinity.
pub(super) fn random_model(
    domain: Domain,
    cliques: Vec<Clique>,
    spread: f64,
    zeros: bool,
    salt: u64,
) -> Model {
    let layout = CliqueLayout::new(domain, cliques);
    let mut potentials = Potentials::zeros(&layout);
    let units = units(layout.len(), salt);
    for (theta, unit) in potentials.values_mut().iter_mut().zip(units) {
        let structural = zeros && unit < 0.1;
        *theta = if structural { f64::NEG_INFINITY } else { spread * (unit - 0.5) };
    }
    Model::new(100.0, potentials)
}

/// Small models with nested, repeated and empty cliques, and attributes in no clique.
pub(super) fn models() -> impl Strategy<Value = Model> {
    let sizes = prop::collection::vec(1usize..5, 1..7);
    let sets = prop::collection::vec(prop::collection::vec(0u32..7, 0..4), 0..7);
    let spread = prop::sample::select(vec![1.0, 10.0, 2000.0]);
    (sizes, sets, spread, any::<bool>(), any::<u64>()).prop_map(
        |(sizes, sets, spread, zeros, salt)| {
            let d = sizes.len() as u32;
            let named = sizes.into_iter().enumerate().map(|(i, n)| (format!("x{i}"), n));
            let cliques = sets
                .into_iter()
                .map(|set| set.into_iter().map(|i| AttributeId(i % d)).collect())
                .collect();
            random_model(Domain::new(named).unwrap(), cliques, spread, zeros, salt)
        },
    )
}

/// The probability of every record by brute force; `None` if all are impossible.
pub(super) fn joint(model: &Model) -> Option<Factor> {
    let domain = model.domain();
    let everything = domain.everything();
    let shape = domain.shape(&everything);
    let mut joint = vec![0.0; shape.iter().product()];
    for (index, clique) in model.layout().cliques().iter().enumerate() {
        let kept: Vec<bool> = everything.iter().map(|id| clique.contains(id)).collect();
        let table = model.potentials().table(index);
        Projection::new(&shape, &kept).broadcast(table, &mut joint, |sum, theta| *sum += theta);
    }
    let log_z = log_sum_exp(&joint);
    joint.iter_mut().for_each(|x| *x = (*x - log_z).exp());
    (log_z > f64::NEG_INFINITY).then(|| Factor::new(domain, everything, joint))
}

/// A chain of attributes of one size, with potentials on every three consecutive ones.
pub(super) fn chain(attributes: usize, size: usize, spread: f64) -> Model {
    let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), size))).unwrap();
    let cliques = (0..attributes as u32 - 2).map(|i| clique(&[i, i + 1, i + 2])).collect();
    random_model(domain, cliques, spread, false, 7)
}

#[track_caller]
pub(super) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (cell, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "cell {cell}: {found} for {expected}");
    }
}
