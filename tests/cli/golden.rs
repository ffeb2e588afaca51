//! Problems with a known optimum, from the file to the answers, by every algorithm.
//!
//! The optima were found on the full joint table by other methods than ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How far the loss may be from the known one, as a fraction of it.
const LOSS_TOLERANCE: f64 = 1e-6;

/// How far a cell may be from the known one, in counts.
const INTERIOR_TOLERANCE: f64 = 1e-3;

/// The same for an optimum with cells at zero, which potentials reach only in the limit.
const BOUNDARY_TOLERANCE: f64 = 1e-2;

struct Golden {
    name: String,
    path: PathBuf,
    loss: f64,
    /// Attributes as listed, and the cells.
    marginals: Vec<(String, Vec<f64>)>,
    cell_tolerance: f64,
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

impl Golden {
    fn read(path: PathBuf) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let problem: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let optimum = &problem["optimum"];
        let marginals = optimum["marginals"].as_object().unwrap().iter();
        // The notes of the last do not say it.
        let is_boundary =
            problem["notes"].as_str().unwrap().contains("boundary") || name == "g10_prefix";
        Self {
            loss: optimum["l2_loss"].as_f64().unwrap(),
            marginals: marginals.map(|(attrs, cells)| (attrs.clone(), numbers(cells))).collect(),
            cell_tolerance: if is_boundary { BOUNDARY_TOLERANCE } else { INTERIOR_TOLERANCE },
            name,
            path,
        }
    }

    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/private-pgm/tests/golden");
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= 20, "the problems are there");
        paths.into_iter().map(Self::read).collect()
    }

    /// The differences between the estimate by `algorithm` and the known optimum.
    fn differences(&self, algorithm: &str, model: &Path) -> Vec<String> {
        let estimate = run(program()
            .arg("estimate")
            .arg(&self.path)
            .arg("--out")
            .arg(model)
            .args(["--algorithm", algorithm, "--json", "--force"]));
        let mut complaints = Vec::new();
        let loss = estimate["loss"].as_f64().unwrap();
        if (loss - self.loss).abs() > LOSS_TOLERANCE * self.loss {
            complaints.push(format!("loss {loss}, not {}", self.loss));
        }
        let mut query = program();
        query.arg("query").arg(model).args(["--format", "json"]);
        for (attrs, _) in &self.marginals {
            query.args(["--marginal", attrs]);
        }
        let answers = run(&mut query);
        for ((attrs, expected), answer) in self.marginals.iter().zip(answers.as_array().unwrap()) {
            let found = numbers(&answer["values"]);
            assert_eq!(found.len(), expected.len(), "{}: {attrs}", self.name);
            let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            let worst = errors.fold(0.0, f64::max);
            if worst > self.cell_tolerance {
                complaints.push(format!("{attrs} is off by {worst:.2e}"));
            }
        }
        complaints
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pgmbench"))
}

fn run(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Collects the errors of all problems, so that one run shows all of them.
fn every_problem_is_solved_by(algorithm: &str) {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    let mut complaints = String::new();
    for golden in Golden::all() {
        for complaint in golden.differences(algorithm, &model) {
            complaints.push_str(&format!("{}: {complaint}\n", golden.name));
        }
    }
    assert!(complaints.is_empty(), "{algorithm}:\n{complaints}");
}

#[test]
fn the_chosen_algorithm_finds_every_known_optimum() {
    every_problem_is_solved_by("auto");
}

#[test]
fn mirror_descent_finds_every_known_optimum() {
    every_problem_is_solved_by("mirror");
}

#[test]
fn the_accelerated_algorithm_finds_every_known_optimum() {
    every_problem_is_solved_by("accelerated");
}
