//! Properties of every estimated model: consistent marginals, and invariance under the order of the
//! attributes.

use private_pgm::domain::Clique;
use private_pgm::fit::{Settings, estimate};
use private_pgm::problem::Problem;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Noisy measurements of pairs of attributes.
#[derive(Clone, Debug)]
struct Measured {
    sizes: Vec<usize>,
    /// Two attributes and a count per combination of their values, row-major.
    pairs: Vec<(usize, usize, Vec<f64>)>,
}

const TOTAL: f64 = 100.0;

fn measured() -> impl Strategy<Value = Measured> {
    let sizes = prop::collection::vec(2usize..4, 3..5);
    let picks = prop::collection::vec((0usize..4, 1usize..4), 1..4);
    let counts = prop::collection::vec(-5.0..40.0f64, 4 * 9);
    (sizes, picks, counts).prop_map(|(sizes, picks, counts)| {
        let d = sizes.len();
        let pairs = picks
            .into_iter()
            .enumerate()
            .map(|(index, (first, step))| {
                let (a, b) = (first % d, (first % d + 1 + step % (d - 1)) % d);
                (a, b, counts[9 * index..][..sizes[a] * sizes[b]].to_vec())
            })
            .collect();
        Measured { sizes, pairs }
    })
}

impl Measured {
    /// The problem with the attributes declared in this order; `swapped` lists every pair in
    /// reverse.
    fn problem(&self, order: &[usize], swapped: bool) -> Problem {
        let name = |id: usize| format!("x{id}");
        // Not a JSON map, which would sort the attributes: their order in the file matters.
        let domain: Vec<String> =
            order.iter().map(|&id| format!("\"{}\": {}", name(id), self.sizes[id])).collect();
        let measurement = |(a, b, y): &(usize, usize, Vec<f64>)| {
            let (rows, columns) = (self.sizes[*a], self.sizes[*b]);
            let transposed: Vec<f64> =
                (0..columns).flat_map(|j| (0..rows).map(move |i| y[i * columns + j])).collect();
            let (attrs, y) = match swapped {
                false => ([name(*a), name(*b)], y.clone()),
                true => ([name(*b), name(*a)], transposed),
            };
            json!({"attrs": attrs, "query": ["identity", "identity"], "y": y, "stddev": 2.0})
        };
        let measurements: Vec<Value> = self.pairs.iter().map(measurement).collect();
        let text = format!(
            "{{\"domain\": {{{}}}, \"total\": {TOTAL}, \"measurements\": {}}}",
            domain.join(", "),
            Value::from(measurements)
        );
        Problem::from_json(&text).unwrap()
    }

    /// All two-way marginals of the estimate, row-major in a, b for all a < b.
    fn marginals(&self, order: &[usize], swapped: bool) -> Vec<Vec<f64>> {
        let problem = self.problem(order, swapped);
        let settings = Settings::default();
        let found = estimate(&problem.evidence(), &settings, None, &mut |_| {}).unwrap();
        let model = found.model.calibrate().unwrap();
        let id = |id: usize| problem.domain.id(&format!("x{id}")).unwrap();
        let d = self.sizes.len();
        let mut tables = Vec::new();
        for a in 0..d {
            for b in a + 1..d {
                let table = model.marginal(&Clique::new([id(a), id(b)])).unwrap();
                tables.push(table.values_as_listed(&[id(a), id(b)]));
            }
        }
        tables
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn marginals_sum_to_the_total_and_agree_where_they_overlap(measured in measured()) {
        let order: Vec<usize> = (0..measured.sizes.len()).collect();
        let tables = measured.marginals(&order, false);
        let d = measured.sizes.len();
        let mut one_way: Vec<Option<Vec<f64>>> = vec![None; d];
        let mut next = tables.iter();
        for a in 0..d {
            for b in a + 1..d {
                let (table, columns) = (next.next().unwrap(), measured.sizes[b]);
                prop_assert!((table.iter().sum::<f64>() - TOTAL).abs() < 1e-8);
                prop_assert!(table.iter().all(|&count| count >= 0.0));
                let rows: Vec<f64> = table.chunks(columns).map(|row| row.iter().sum()).collect();
                let sums: Vec<f64> =
                    (0..columns).map(|j| table.iter().skip(j).step_by(columns).sum()).collect();
                for (id, sums) in [(a, rows), (b, sums)] {
                    let first = one_way[id].get_or_insert_with(|| sums.clone());
                    for (x, y) in first.iter().zip(&sums) {
                        prop_assert!((x - y).abs() < 1e-8, "attribute {id}: {x} {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_of_attributes_changes_nothing(measured in measured(), turn in 1usize..4) {
        let d = measured.sizes.len();
        let order: Vec<usize> = (0..d).collect();
        let turned: Vec<usize> = (0..d).map(|i| (i * (d - 1) + turn) % d).collect();
        let (one, other) = (measured.marginals(&order, false), measured.marginals(&turned, true));
        for (one, other) in one.iter().zip(&other) {
            for (x, y) in one.iter().zip(other) {
                // Both losses are within the optimiser's gap of the same minimum.
                prop_assert!((x - y).abs() < 1e-3, "{x} {y}");
            }
        }
    }
}
