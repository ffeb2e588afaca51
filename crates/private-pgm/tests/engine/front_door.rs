//! What a program needs that depends on the engine alone.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use private_pgm::fit::settings::SettingsLayer;
use private_pgm::ndarray::{Array2, ArrayD, array};
use private_pgm::{
    Algorithm, Constant, Domain, EstimateError, Fit, InferenceError, Measurement, MeasurementError,
    Model, Norm, Problem, ProblemError, QueryFactor, Reason, Settings,
};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/example.json");

fn example() -> Problem {
    Problem::read(File::open(EXAMPLE).unwrap()).unwrap()
}

/// The example of the documents, made in code.
fn example_in_code() -> Problem {
    let domain = Domain::new([("age", 5), ("sex", 2), ("education", 4), ("income", 3)]).unwrap();
    let age_sex = [73.6, 86.2, 108.1, 133.1, 118.2, 118.5, 100.6, 105.1, 61.1, 70.6];
    let age_education = [
        44.1, 57.6, 38.6, 18.8, 94.8, 158.1, 135.7, 41.3, 124.9, 278.2, 205.5, 63.5, 171.4, 352.2,
        257.5, 77.4, 199.4, 415.3, 287.5, 90.5,
    ];
    let education_income =
        array![[151.6, 52.2, 5.0], [242.4, 158.1, 9.0], [106.1, 153.9, 41.3], [31.2, 15.7, 31.2]];
    let sex_income = array![[270.5, 186.2, 35.0], [254.0, 211.9, 50.1]];
    let prefix = vec![QueryFactor::Prefix, QueryFactor::Identity];
    let measurements = [
        Measurement::marginal(&domain, &["age", "sex"], &age_sex, 8.0),
        Measurement::linear(&domain, &["age", "education"], prefix, &age_education, 8.0),
        Measurement::from_array(&domain, &["education", "income"], education_income.view(), 8.0),
        Measurement::from_array(&domain, &["sex", "income"], sex_income.view(), 8.0),
    ];
    let measurements = measurements.map(|measurement| measurement.unwrap());
    Problem::builder(domain).total(1000.0).measure_all(measurements).build().unwrap()
}

#[test]
fn a_problem_made_in_code_is_that_of_the_file() {
    assert_eq!(example_in_code(), example());
}

#[test]
fn the_order_in_which_an_array_lies_in_memory_does_not_matter() {
    let domain = Domain::new([("a", 3), ("b", 2)]).unwrap();
    let table = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let listed = Measurement::from_array(&domain, &["a", "b"], table.view(), 1.0).unwrap();
    let turned = Measurement::from_array(&domain, &["b", "a"], table.t(), 1.0).unwrap();
    assert_eq!(listed, turned);
    let cells = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(Measurement::marginal(&domain, &["a", "b"], &cells, 1.0).unwrap(), listed);
}

#[test]
fn matrices_over_the_whole_marginal_are_those_of_files() {
    let domain = Domain::new([("a", 2), ("b", 2)]).unwrap();
    let text = r#"{"domain": {"a": 2, "b": 2}, "total": 9, "measurements": [
        {"attrs": ["b", "a"], "query": {"matrix": [[1, 0, 0, 2], [0, 1, 1, 0]]},
         "y": [3, 4], "stddev": 2}]}"#;
    let matrix = array![[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]];
    let measured = Measurement::dense(&domain, &["b", "a"], matrix.view(), &[3.0, 4.0], 2.0);
    let built = Problem::builder(domain).total(9.0).measure(measured.unwrap()).build().unwrap();
    assert_eq!(built, Problem::from_json(text).unwrap());
}

#[test]
fn measurements_that_make_no_sense_have_typed_errors() {
    let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
    let marginal = |names: &[&str], y: &[f64]| Measurement::marginal(&domain, names, y, 1.0);
    let unknown = marginal(&["c"], &[1.0, 2.0]).unwrap_err();
    assert_eq!(unknown, MeasurementError::NoSuchAttribute("c".into()));
    assert_eq!(unknown.to_string(), "expected an attribute of the domain, found \"c\"");
    let twice = marginal(&["a", "a"], &[1.0; 4]).unwrap_err();
    assert!(matches!(twice, MeasurementError::Query(_)), "{twice}");
    let short = marginal(&["a"], &[1.0]).unwrap_err();
    assert_eq!(short, MeasurementError::Answers { expected: 2, found: 1 });
    let not_finite = marginal(&["a"], &[1.0, f64::NAN]).unwrap_err();
    assert!(matches!(not_finite, MeasurementError::NotFinite { index: 1, .. }));
    let without_noise = Measurement::marginal(&domain, &["a"], &[1.0, 2.0], 0.0).unwrap_err();
    assert_eq!(without_noise, MeasurementError::Stddev(0.0));
    let turned = Array2::<f64>::zeros((3, 2));
    let shape = Measurement::from_array(&domain, &["a", "b"], turned.view(), 1.0).unwrap_err();
    assert_eq!(shape, MeasurementError::Shape { expected: vec![2, 3], found: vec![3, 2] });
}

#[test]
fn problems_that_make_no_sense_are_refused_when_they_are_built() {
    let domain = Domain::new([("a", 2)]).unwrap();
    let message = |problem: Result<Problem, ProblemError>| problem.unwrap_err().to_string();
    let nothing = Problem::builder(domain.clone()).build();
    assert!(message(nothing).starts_with("total: expected a positive number"));
    let negative = Problem::builder(domain.clone()).total(-1.0).build();
    assert_eq!(message(negative), "total: expected a positive number, found -1");
    let zeros = Problem::builder(domain.clone()).total(9.0).zeros(&["a"], &[[2]]).build();
    assert_eq!(message(zeros), "zeros[0].cells[0][0]: expected a value of \"a\" below 2, found 2");
    let other = Domain::new([("a", 3)]).unwrap();
    let measured = Measurement::marginal(&other, &["a"], &[1.0, 2.0, 3.0], 1.0).unwrap();
    let foreign = Problem::builder(domain).total(9.0).measure(measured).build();
    assert!(message(foreign).starts_with("measurements[0]: expected queries over"));
    let empty = Problem::builder(Domain::new::<String>([]).unwrap()).total(1.0).build();
    assert_eq!(message(empty), "domain: expected at least one attribute, found none");
}

#[test]
fn a_model_answers_by_name_without_further_ado() {
    let problem = example();
    let fitted = private_pgm::estimate(&problem).unwrap();
    assert!(fitted.gap.unwrap() <= 1e-9 * fitted.loss.max(1.0));
    let table = fitted.model.marginal(&["sex", "education"]).unwrap();
    assert_eq!(table.shape(), [2, 4]);
    assert!((table.sum() - 1000.0).abs() < 1e-6);
    let turned = fitted.model.marginal(&["education", "sex"]).unwrap();
    assert_eq!(turned.shape(), [4, 2]);
    assert_eq!(turned.t(), table.view());
    let given = fitted.model.conditional(&["education"], &[("sex", 1)]).unwrap();
    let share = table[[1, 2]] / table.row_sum(1);
    assert!((given[[2]] - share).abs() < 1e-9);
    let of_women = [("sex", QueryFactor::Evidence(vec![1]))];
    let answer = fitted.model.answer(&of_women).unwrap();
    assert!((answer[0] - table.row_sum(1)).abs() < 1e-6);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let records = fitted.model.sample(1000, &mut rng).unwrap();
    assert_eq!((records.len(), records[0].len()), (4, 1000));
    assert!(records[0].iter().all(|&age| age < 5), "columns are in declared order");
}

trait RowSum {
    fn row_sum(&self, row: usize) -> f64;
}

impl RowSum for ArrayD<f64> {
    fn row_sum(&self, row: usize) -> f64 {
        self.outer_iter().nth(row).unwrap().sum()
    }
}

#[test]
fn questions_about_unknown_attributes_are_refused() {
    let model = private_pgm::estimate(&example()).unwrap().model;
    let unknown = model.marginal(&["sex", "height"]).unwrap_err();
    assert_eq!(unknown, InferenceError::NoSuchName { name: "height".into() });
    assert_eq!(unknown.to_string(), "expected an attribute of the model, found \"height\"");
    let twice = model.marginal(&["sex", "sex"]).unwrap_err();
    assert!(matches!(twice, InferenceError::RepeatedAttribute(_)));
}

#[test]
fn potentials_and_marginals_are_read_by_name() {
    let fitted = private_pgm::estimate(&example()).unwrap();
    let tables: Vec<_> = fitted.model.potentials().tables().collect();
    assert_eq!(tables.len(), 4);
    for ((names, potentials), (same, marginal)) in tables.iter().zip(fitted.marginals.tables()) {
        assert_eq!(names, &same);
        assert_eq!(potentials.shape(), marginal.shape());
        let asked = fitted.model.marginal(names).unwrap();
        let differences = asked.iter().zip(marginal.iter()).map(|(a, b)| (a - b).abs());
        assert!(differences.fold(0.0, f64::max) < 1e-6, "{names:?}");
    }
}

#[test]
fn a_model_that_was_asked_is_still_the_same_model() {
    let model = private_pgm::estimate(&example()).unwrap().model;
    let fresh = model.clone();
    model.marginal(&["age"]).unwrap();
    assert_eq!(model, fresh);
    let mut bytes = Vec::new();
    model.write(&mut bytes).unwrap();
    let again = Model::read(&bytes[..]).unwrap();
    assert_eq!(again, model);
    assert_eq!(again.marginal(&["age"]).unwrap(), model.marginal(&["age"]).unwrap());
}

#[test]
fn the_builder_observes_and_reports_both_losses() {
    let problem = example();
    let mut seen = Vec::new();
    let fitted = Fit::new(&problem)
        .both_losses(true)
        .observer(|progress| seen.push((progress.iteration, progress.l1_l2)))
        .run()
        .unwrap();
    assert!(seen.len() <= fitted.iterations && !seen.is_empty());
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let (_, l2) = seen[seen.len() - 1].1.unwrap();
    assert!((l2 - fitted.loss).abs() <= 1e-3 * fitted.loss, "{l2} {}", fitted.loss);
    let mut silent = true;
    Fit::new(&problem).observer(|progress| silent &= progress.l1_l2.is_none()).run().unwrap();
    assert!(silent, "both losses cost time and are not computed unasked");
}

#[test]
fn settings_that_contradict_each_other_are_no_estimate() {
    let problem = example();
    let algorithm = Algorithm::Accelerated(Constant::Spectral);
    let settings = Settings { algorithm, ..Settings::default() };
    let refused = Fit::new(&problem).settings(settings).run().unwrap_err();
    assert!(matches!(refused, EstimateError::Settings(_)), "{refused}");
    assert!(refused.to_string().contains("write dual-averaging"), "{refused}");
}

#[test]
fn settings_of_a_file_are_those_of_a_program() {
    let text = r#"{"algorithm": "accelerated", "constant": 2, "loss": "l1", "iterations": 50}"#;
    let read: Settings = serde_json::from_str(text).unwrap();
    let written = Settings {
        algorithm: Algorithm::Accelerated(Constant::Fixed(2.0)),
        loss: Norm::L1,
        iterations: Some(50),
        ..Settings::default()
    };
    assert_eq!(read, written);
    let layer: SettingsLayer = serde_json::from_str(r#"{"constant": 3}"#).unwrap();
    let above = layer.over(&written).unwrap();
    assert_eq!(above.algorithm, Algorithm::Accelerated(Constant::Fixed(3.0)));
    let problem = example();
    let settings = Settings { loss: Norm::L2, ..above };
    let fixed = Fit::new(&problem).settings(settings).run().unwrap();
    assert!(fixed.loss.is_finite() && fixed.iterations <= 50);
}

#[test]
fn whether_the_total_was_estimated_travels_with_the_model() {
    let mut problem = example();
    let of = |problem: &Problem| {
        let model = private_pgm::estimate(problem).unwrap().model;
        model.origin().unwrap().total_is_estimated
    };
    assert!(!of(&problem));
    problem.total_is_estimated = true;
    assert!(of(&problem));
}

#[test]
fn a_flag_ends_a_fit_with_the_best_model_so_far() {
    let problem = example();
    let all = private_pgm::estimate(&problem).unwrap().iterations;
    for loss in [Norm::L2, Norm::L1] {
        let flag = AtomicBool::new(false);
        let fitted = Fit::new(&problem)
            .settings(Settings { loss, ..Settings::default() })
            .stop_flag(&flag)
            .observer(|progress| flag.store(progress.iteration >= 10, Ordering::Relaxed))
            .run()
            .unwrap();
        assert_eq!(fitted.reason, Reason::Stopped);
        assert!((10..all).contains(&fitted.iterations), "{} of {all}", fitted.iterations);
        assert!(fitted.loss.is_finite() && fitted.gap.is_some_and(|gap| gap > 0.0));
    }
}
