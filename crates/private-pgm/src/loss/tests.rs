//! Losses compared with direct computation on the full table.

use std::sync::Arc;

use proptest::prelude::*;

use super::cover::CliqueIndex;
use super::*;
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::Factor;
use crate::query::tests::factor;
use crate::query::{QueryFactor, QueryMatrix};

#[derive(Clone, Debug)]
struct Case {
    domain: Domain,
    measurements: Vec<Measurement>,
    /// Two full tables.
    tables: [Vec<f64>; 2],
}

fn measurement(domain: Domain) -> impl Strategy<Value = Measurement> {
    let ids: Vec<AttributeId> = domain.ids().collect();
    prop::sample::subsequence(ids.clone(), 0..=ids.len()).prop_flat_map(move |listed| {
        let domain = domain.clone();
        let identity = vec![Just(QueryFactor::Identity).boxed(); listed.len()];
        let any: Vec<_> = listed.iter().map(|&id| factor(domain.size(id)).boxed()).collect();
        // Often all cells, which take separate code paths.
        (prop_oneof![identity, any], 0.5f64..3.0).prop_flat_map(move |(factors, stddev)| {
            let (query, _) = QueryMatrix::kronecker(&domain, &listed, factors).unwrap();
            let clique = Clique::new(listed.iter().copied());
            prop::collection::vec(-5.0f64..20.0, query.rows()).prop_map(move |y| Measurement {
                clique: clique.clone(),
                query: query.clone(),
                y,
                stddev,
            })
        })
    })
}

fn case() -> impl Strategy<Value = Case> {
    prop::collection::vec(1usize..5, 1..4)
        .prop_map(|sizes| {
            Domain::new(sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n))).unwrap()
        })
        .prop_flat_map(|domain| {
            let cells = domain.cells(&domain.everything()).unwrap();
            let table = prop::collection::vec(0.0f64..10.0, cells);
            let measurements = prop::collection::vec(measurement(domain.clone()), 0..5);
            (Just(domain), measurements, [table.clone(), table])
        })
        .prop_map(|(domain, measurements, tables)| Case { domain, measurements, tables })
}

impl Case {
    fn loss(&self, norm: Norm) -> LinearLoss {
        let cliques = maximal_cliques(self.measurements.iter().map(|m| &m.clique));
        let layout = CliqueLayout::new(self.domain.clone(), cliques);
        LinearLoss::new(layout, self.measurements.clone(), norm).unwrap()
    }

    fn marginals(&self, layout: &Arc<CliqueLayout>, table: usize) -> Marginals {
        let everything = self.domain.everything();
        let full = Factor::new(&self.domain, everything, self.tables[table].clone());
        let mut marginals = Marginals::zeros(layout);
        for (index, clique) in layout.cliques().iter().enumerate() {
            marginals.table_mut(index).copy_from_slice(full.sum_onto(clique).values());
        }
        marginals
    }

    /// Both losses with dense matrices.
    fn direct(&self) -> (f64, f64) {
        let everything = self.domain.everything();
        let full = Factor::new(&self.domain, everything, self.tables[0].clone());
        let (mut l1, mut l2) = (0.0, 0.0);
        for measurement in &self.measurements {
            let mu = full.sum_onto(&measurement.clique);
            let q = measurement.query.to_dense();
            for (row, y) in measurement.y.iter().enumerate() {
                let answer: f64 = q.row(row).iter().zip(mu.values()).map(|(q, mu)| q * mu).sum();
                let r = (answer - y) / measurement.stddev;
                l1 += r.abs();
                l2 += r * r / 2.0;
            }
        }
        (l1, l2)
    }
}

fn inner(a: &CliqueVector, b: &CliqueVector) -> f64 {
    a.values().iter().zip(b.values()).map(|(a, b)| a * b).sum()
}

proptest! {
    #[test]
    fn values_agree_with_dense_matrices(case in case()) {
        let (l1, l2) = case.direct();
        for (norm, expected) in [(Norm::L1, l1), (Norm::L2, l2)] {
            let mut loss = case.loss(norm);
            let marginals = case.marginals(&Arc::clone(loss.layout()), 0);
            let mut gradient = CliqueVector::zeros(loss.layout());
            let tolerance = 1e-11 * expected.max(1.0);
            prop_assert!((loss.value(&marginals) - expected).abs() <= tolerance);
            let value = loss.value_and_gradient(&marginals, &mut gradient);
            prop_assert!((value - expected).abs() <= tolerance);
        }
    }

    #[test]
    fn the_l2_gradient_agrees_with_central_differences(case in case()) {
        let mut loss = case.loss(Norm::L2);
        let layout = Arc::clone(loss.layout());
        let mut marginals = case.marginals(&layout, 0);
        let mut gradient = CliqueVector::zeros(&layout);
        // Previous contents must be overwritten.
        gradient.values_mut().fill(f64::NAN);
        let value = loss.value_and_gradient(&marginals, &mut gradient);
        for cell in 0..layout.len() {
            let at = marginals.values()[cell];
            // Central differences of a quadratic are exact up to rounding.
            marginals.values_mut()[cell] = at + 0.5;
            let above = loss.value(&marginals);
            marginals.values_mut()[cell] = at - 0.5;
            let below = loss.value(&marginals);
            marginals.values_mut()[cell] = at;
            let slope = above - below;
            let rounding = 1e-12 * (above + below + value).max(1.0);
            prop_assert!((gradient.values()[cell] - slope).abs() <= rounding);
        }
    }

    #[test]
    fn the_l1_gradient_is_a_subgradient(case in case()) {
        let mut loss = case.loss(Norm::L1);
        let layout = Arc::clone(loss.layout());
        let (here, there) = (case.marginals(&layout, 0), case.marginals(&layout, 1));
        let mut gradient = CliqueVector::zeros(&layout);
        gradient.values_mut().fill(f64::NAN);
        let value = loss.value_and_gradient(&here, &mut gradient);
        let bound = value + inner(&gradient, &there) - inner(&gradient, &here);
        prop_assert!(bound <= loss.value(&there) * (1.0 + 1e-10) + 1e-9);
        prop_assert_eq!(loss.smoothness(), None);
        // <gradient, mu> is the sum over the answers of answer * sign(r) / stddev.
        let direct: f64 = case.measurements.iter().map(|m| {
            let full = Factor::new(&case.domain, case.domain.everything(), case.tables[0].clone());
            let mu = full.sum_onto(&m.clique);
            let q = m.query.to_dense();
            m.y.iter().enumerate().map(|(row, y)| {
                let answer: f64 = q.row(row).iter().zip(mu.values()).map(|(q, mu)| q * mu).sum();
                answer * (answer - y).signum() / m.stddev
            }).sum::<f64>()
        }).sum();
        prop_assert!((direct - inner(&gradient, &here)).abs() <= 1e-9 * (1.0 + direct.abs()));
    }

    #[test]
    fn the_smoothness_bounds_the_second_order_term(case in case()) {
        let mut loss = case.loss(Norm::L2);
        let layout = Arc::clone(loss.layout());
        let (here, there) = (case.marginals(&layout, 0), case.marginals(&layout, 1));
        let mut gradient = CliqueVector::zeros(&layout);
        let value = loss.value_and_gradient(&here, &mut gradient);
        let distance: f64 =
            case.tables[0].iter().zip(&case.tables[1]).map(|(a, b)| (a - b).abs()).sum();
        let bound = value + inner(&gradient, &there) - inner(&gradient, &here)
            + loss.smoothness().unwrap() / 2.0 * distance * distance;
        prop_assert!(loss.value(&there) <= bound * (1.0 + 1e-10) + 1e-9);
    }

    #[test]
    fn maximal_cliques_are_contained_in_no_other(
        sets in prop::collection::vec(prop::collection::vec(0u32..6, 0..4), 0..12),
    ) {
        let cliques: Vec<Clique> =
            sets.into_iter().map(|ids| ids.into_iter().map(AttributeId).collect()).collect();
        let mut expected: Vec<Clique> = Vec::new();
        for clique in &cliques {
            let inside = cliques.iter().any(|other| clique != other && clique.is_subset(other));
            if !inside && !expected.contains(clique) {
                expected.push(clique.clone());
            }
        }
        prop_assert_eq!(maximal_cliques(&cliques), expected);
        let index = CliqueIndex::new(&cliques);
        for clique in &cliques {
            let containing: Vec<usize> =
                (0..cliques.len()).filter(|&i| clique.is_subset(&cliques[i])).collect();
            prop_assert_eq!(index.containing(clique), containing);
        }
    }
}

fn measure(domain: &Domain, names: &[&str], factors: Vec<QueryFactor>, y: &[f64]) -> Measurement {
    let listed: Vec<AttributeId> = names.iter().map(|name| domain.id(name).unwrap()).collect();
    let (query, rows) = QueryMatrix::kronecker(domain, &listed, factors).unwrap();
    Measurement { clique: Clique::new(listed), query, y: rows.to_axis_order(y), stddev: 1.0 }
}

#[test]
fn the_total_is_averaged_by_inverse_variance() {
    let domain = Domain::new([("a", 4), ("b", 3)]).unwrap();
    let cells = measure(&domain, &["a"], vec![QueryFactor::Identity], &[10.0, 20.0, 30.0, 40.0]);
    let mut total = measure(&domain, &[], vec![], &[110.0]);
    let evidence = measure(&domain, &["b"], vec![QueryFactor::Evidence(vec![1])], &[7.0]);
    // Four cells of variance 1 estimate 100 with variance 4; the total is 110 with variance 1.
    assert_eq!(estimate_total(&[cells.clone(), evidence.clone(), total.clone()]), Some(108.0));
    total.stddev = 2.0;
    assert_eq!(estimate_total(&[cells, total]), Some(105.0));
    assert_eq!(estimate_total(&[evidence]), None);
    assert_eq!(estimate_total(&[]), None);
}

#[test]
fn invalid_measurements_are_rejected() {
    let domain = Domain::new([("a", 4), ("b", 3)]).unwrap();
    let good = measure(&domain, &["a"], vec![QueryFactor::Prefix], &[1.0, 2.0, 3.0, 4.0]);
    let layout = |names: &[&str]| {
        let clique = names.iter().map(|name| domain.id(name).unwrap()).collect();
        CliqueLayout::new(domain.clone(), vec![clique])
    };
    let refusal = |change: fn(&mut Measurement)| {
        let mut bad = good.clone();
        change(&mut bad);
        match LinearLoss::new(layout(&["a", "b"]), vec![good.clone(), bad], Norm::L2).err() {
            Some(LinearLossError::Measurement { index: 1, reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let answers = MeasurementError::Answers { expected: 4, found: 3 };
    assert_eq!(refusal(|m| m.y.truncate(3)), answers);
    assert_eq!(refusal(|m| m.stddev = 0.0), MeasurementError::Stddev(0.0));
    assert_eq!(refusal(|m| m.stddev = 1e-200), MeasurementError::Stddev(1e-200));
    let infinite = MeasurementError::NotFinite { index: 2, value: f64::INFINITY };
    assert_eq!(refusal(|m| m.y[2] = f64::INFINITY), infinite);
    let cells = MeasurementError::Cells { expected: 1.0, found: 4 };
    assert_eq!(refusal(|m| m.clique = Clique::empty()), cells);
    assert!(matches!(
        LinearLoss::new(layout(&["b"]), vec![good.clone()], Norm::L2).err(),
        Some(LinearLossError::NotCovered { index: 0, .. })
    ));
}

#[test]
fn a_measurement_is_evaluated_on_the_smallest_clique_that_contains_it() {
    let domain = Domain::new([("a", 2), ("b", 3), ("c", 4)]).unwrap();
    let clique = |names: &[&str]| names.iter().map(|name| domain.id(name).unwrap()).collect();
    let layout = CliqueLayout::new(domain.clone(), vec![clique(&["a", "c"]), clique(&["a", "b"])]);
    let total = measure(&domain, &["a"], vec![QueryFactor::Identity], &[1.0, 2.0]);
    let covering = layout.covering(&total.clique).unwrap();
    let mut loss = LinearLoss::new(layout, vec![total], Norm::L2).unwrap();
    let mut gradient = CliqueVector::zeros(loss.layout());
    loss.value_and_gradient(&Marginals::zeros(&Arc::clone(loss.layout())), &mut gradient);
    assert_eq!(gradient.table(covering), [-1.0, -1.0, -1.0, -2.0, -2.0, -2.0]);
    assert!(gradient.table(1 - covering).iter().all(|&slope| slope == 0.0));
}
