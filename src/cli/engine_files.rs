//! Files of the engine by path: the engine itself has readers and writers only.

use std::fs::{self, File};
use std::path::Path;

use private_pgm::domain::Domain;
use private_pgm::model::Model;
use private_pgm::problem::{FactoredQuery, Problem};

use super::failure::{Failure, ResultExt};

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).input_at(format!("cannot read {}", path.display()))
}

pub(crate) fn read_problem(path: &Path) -> Result<Problem, Failure> {
    Problem::read(open(path)?).input_at(path.display())
}

/// Factored queries on the attributes of `domain`.
pub(crate) fn read_queries(path: &Path, domain: &Domain) -> Result<Vec<FactoredQuery>, Failure> {
    let text = fs::read(path).input_at(format!("cannot read {}", path.display()))?;
    FactoredQuery::list_from_json(&text, domain).input_at(path.display())
}

pub(crate) fn read_model(path: &Path) -> Result<Model, Failure> {
    Model::read(open(path)?).input_at(path.display())
}
