//! Problems with a known optimum, found on the full joint table by other methods than ours.

use std::fs;
use std::path::{Path, PathBuf};

use private_pgm::{Algorithm, Constant, Fit, Problem, Settings, StepSize};
use serde_json::Value;

/// How far the loss may be from the known one, as a fraction of it.
const LOSS_TOLERANCE: f64 = 1e-6;

/// How far a cell may be from the known one, in counts.
const INTERIOR_TOLERANCE: f64 = 1e-3;

/// The same for an optimum with cells at zero, which potentials reach only in the limit.
const BOUNDARY_TOLERANCE: f64 = 1e-2;

fn problems() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "the problems are there");
    paths
}

/// What is wrong with the estimate of one problem.
fn complaints(path: &Path, settings: &Settings) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let optimum = file["optimum"]["l2_loss"].as_f64().unwrap();
    let name = path.file_stem().unwrap().to_string_lossy();
    // The notes of the last do not say it.
    let is_boundary = file["notes"].as_str().unwrap().contains("boundary") || name == "g10_prefix";
    let tolerance = if is_boundary { BOUNDARY_TOLERANCE } else { INTERIOR_TOLERANCE };
    let problem = Problem::read(text.as_bytes()).unwrap();
    let fitted = Fit::new(&problem).settings(settings.clone()).run().unwrap();
    let mut complaints = Vec::new();
    if (fitted.loss - optimum).abs() > LOSS_TOLERANCE * optimum {
        complaints.push(format!("{name}: loss {}, not {optimum}", fitted.loss));
    }
    let gap = fitted.gap.unwrap();
    if fitted.loss - gap > optimum * (1.0 + 1e-8) + 1e-12 {
        complaints.push(format!("{name}: a gap of {gap} is too small"));
    }
    for (names, cells) in file["optimum"]["marginals"].as_object().unwrap() {
        let names: Vec<&str> = names.split(',').collect();
        let found = fitted.model.marginal(&names).unwrap();
        let expected = cells.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap());
        assert_eq!(found.len(), expected.len(), "{name}: {names:?}");
        let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        let worst = errors.fold(0.0, f64::max);
        if worst > tolerance {
            complaints.push(format!("{name}: {names:?} is off by {worst:.2e}"));
        }
    }
    complaints
}

fn every_optimum_is_found_by(algorithm: Algorithm) {
    let settings = Settings { algorithm, ..Settings::default() };
    let all: Vec<String> = problems().iter().flat_map(|path| complaints(path, &settings)).collect();
    assert!(all.is_empty(), "{algorithm}:\n{}", all.join("\n"));
}

#[test]
fn auto_finds_every_known_optimum() {
    every_optimum_is_found_by(Algorithm::Auto);
}

#[test]
fn accelerated_finds_every_known_optimum_with_the_constant_of_the_loss() {
    every_optimum_is_found_by(Algorithm::Accelerated(Constant::Smoothness));
}

#[test]
fn mirror_descent_finds_every_known_optimum() {
    every_optimum_is_found_by(Algorithm::Mirror(StepSize::Auto));
}
