//! The L1 loss against linear programming on the table of all records.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use private_pgm::{Fit, Norm, Problem, Settings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// A measurement as in files, and its rows over all records, divided by the standard deviation.
struct Measured {
    json: Value,
    rows: Vec<Vec<f64>>,
    y: Vec<f64>,
}

fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    let mut exponential = || -(1.0 - rng.random::<f64>()).ln();
    exponential() - exponential()
}

/// A query on some attributes: each as it is or as prefix sums.
fn measured(sizes: &[usize], counts: &[f64], rng: &mut ChaCha8Rng) -> Measured {
    let mut attributes: Vec<usize> = (0..sizes.len()).collect();
    for _ in 0..rng.random_range(1..sizes.len()) {
        attributes.remove(rng.random_range(0..attributes.len()));
    }
    attributes.truncate(2);
    let prefixes: Vec<bool> = attributes.iter().map(|_| rng.random_range(0..4) == 0).collect();
    let value = |record: usize, attribute: usize| {
        record / sizes[attribute + 1..].iter().product::<usize>() % sizes[attribute]
    };
    let answers: usize = attributes.iter().map(|&attribute| sizes[attribute]).product();
    let stddev = [0.5, 3.0, 20.0][rng.random_range(0..3)];
    let row = |answer: usize| -> Vec<f64> {
        let counted = |record: usize| {
            let mut rest = answer;
            attributes.iter().zip(&prefixes).rev().all(|(&attribute, &is_prefix)| {
                let wanted = rest % sizes[attribute];
                rest /= sizes[attribute];
                let found = value(record, attribute);
                if is_prefix { found <= wanted } else { found == wanted }
            })
        };
        (0..counts.len()).map(|record| f64::from(u8::from(counted(record))) / stddev).collect()
    };
    let rows: Vec<Vec<f64>> = (0..answers).map(row).collect();
    let exact = |row: &Vec<f64>| row.iter().zip(counts).map(|(a, count)| a * count).sum::<f64>();
    let y: Vec<f64> = rows.iter().map(|row| exact(row) + laplace(rng)).collect();
    let names: Vec<String> = attributes.iter().map(|attribute| format!("x{attribute}")).collect();
    let kinds = prefixes.iter().map(|&prefix| if prefix { "prefix" } else { "identity" });
    let json = json!({
        "attrs": names,
        "query": kinds.collect::<Vec<_>>(),
        "y": y.iter().map(|y| y * stddev).collect::<Vec<f64>>(),
        "stddev": stddev,
    });
    Measured { json, rows, y }
}

/// The smallest sum of |A p - y| over nonnegative p with this total: over p and bounds u of the
/// residuals, the sum of u, where A p - y <= u and y - A p <= u.
fn optimum(rows: &[Vec<f64>], y: &[f64], total: f64) -> f64 {
    let (answers, records) = (y.len(), rows[0].len());
    let variables = records + answers;
    let mut constraints: Vec<Vec<f64>> = Vec::new();
    let mut bounds = Vec::new();
    constraints.push((0..variables).map(|i| f64::from(u8::from(i < records))).collect());
    bounds.push(total);
    for sign in [1.0, -1.0] {
        for (i, row) in rows.iter().enumerate() {
            let mut constraint: Vec<f64> = row.iter().map(|a| sign * a).collect();
            constraint.resize(variables, 0.0);
            constraint[records + i] = -1.0;
            constraints.push(constraint);
            bounds.push(sign * y[i]);
        }
    }
    for record in 0..records {
        let mut constraint = vec![0.0; variables];
        constraint[record] = -1.0;
        constraints.push(constraint);
        bounds.push(0.0);
    }
    let cones =
        [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(2 * answers + records)];
    let objective: Vec<f64> = (0..variables).map(|i| f64::from(u8::from(i >= records))).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let quadratic = CscMatrix::zeros((variables, variables));
    let linear = CscMatrix::from(&constraints);
    let mut solver =
        DefaultSolver::new(&quadratic, &objective, &linear, &bounds, &cones, settings).unwrap();
    solver.solve();
    let solved = [SolverStatus::Solved, SolverStatus::AlmostSolved];
    assert!(solved.contains(&solver.solution.status), "{:?}", solver.solution.status);
    solver.solution.obj_val
}

#[test]
fn l1_estimates_of_random_problems_are_optimal_with_a_certificate() {
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let sizes: Vec<usize> =
            (0..rng.random_range(2..=4)).map(|_| rng.random_range(2..=4)).collect();
        let records: usize = sizes.iter().product();
        let total = [20.0, 300.0, 4000.0][rng.random_range(0..3)];
        let weights: Vec<f64> = (0..records).map(|_| rng.random::<f64>().powi(4)).collect();
        let sum: f64 = weights.iter().sum();
        let counts: Vec<f64> = weights.iter().map(|weight| total * weight / sum).collect();
        let all: Vec<Measured> =
            (0..rng.random_range(2..=6)).map(|_| measured(&sizes, &counts, &mut rng)).collect();
        let domain: serde_json::Map<String, Value> =
            sizes.iter().enumerate().map(|(i, &size)| (format!("x{i}"), size.into())).collect();
        let measurements: Vec<&Value> = all.iter().map(|measured| &measured.json).collect();
        let text =
            json!({"domain": domain, "total": total, "measurements": measurements}).to_string();
        let problem = Problem::from_json(&text).unwrap();
        let rows: Vec<Vec<f64>> = all.iter().flat_map(|measured| measured.rows.clone()).collect();
        let y: Vec<f64> = all.iter().flat_map(|measured| measured.y.clone()).collect();
        let smallest = optimum(&rows, &y, total);
        let settings = Settings { loss: Norm::L1, ..Settings::default() };
        let found = Fit::new(&problem).settings(settings).run().unwrap();
        let (loss, gap) = (found.loss, found.gap.unwrap());
        // The solver is accurate to about 1e-9 of the loss.
        let tolerance = 1e-6 * smallest + 1e-8;
        assert!((loss - smallest).abs() <= tolerance, "{seed}: {loss}, not {smallest}");
        assert!(gap <= tolerance, "{seed}: a gap of {gap} at {loss}, {:?}", found.reason);
        assert!(loss - gap <= smallest + tolerance, "{seed}: the gap {gap} is too small");
        // The loss is that of the model.
        let of_model = found.l1_l2.unwrap().0;
        assert!((of_model - loss).abs() <= 1e-9 * loss + 1e-9, "{seed}: {of_model}, not {loss}");
    }
}
