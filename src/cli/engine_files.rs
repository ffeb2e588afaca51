//! Files of the engine by path: the engine itself has readers and writers only.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use private_pgm::domain::Domain;
use private_pgm::model::Model;
use private_pgm::problem::{FactoredQuery, Problem};

use super::failure::{Failure, ResultExt};
use pgmbench::limits;
use private_pgm::numeric::memory::read_at_most;

/// Whether a path stands for the standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// The path in messages.
fn shown(path: &Path) -> String {
    match is_standard(path) {
        true => "the standard input".into(),
        false => path.display().to_string(),
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if is_standard(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).input_at(format!("cannot read {}", path.display()))?;
    Ok(Box::new(file))
}

pub(crate) fn read_problem(path: &Path) -> Result<Problem, Failure> {
    Problem::read(open(path)?).input_at(shown(path))
}

/// Factored queries on the attributes of `domain`.
pub(crate) fn read_queries(path: &Path, domain: &Domain) -> Result<Vec<FactoredQuery>, Failure> {
    let cannot_read = || format!("cannot read {}", path.display());
    let text = read_at_most(open(path)?, limits::JSON).input_at(cannot_read())?;
    FactoredQuery::list_from_json(&text, domain).input_at(shown(path))
}

pub(crate) fn read_model(path: &Path) -> Result<Model, Failure> {
    Model::read(open(path)?).input_at(shown(path))
}
