//! Commands of the user, as mechanisms and estimators.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::{Spanned, Table};

use crate::mechanism::GuaranteeKind;

/// A mechanism that is a command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MechanismCommand {
    /// The program and its arguments. Relative paths are relative to the experiment file.
    pub command: Spanned<Vec<String>>,
    /// Further files on which its numbers depend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// What it claims. Default: pure.
    pub guarantee: GuaranteeKind,
}

/// An estimator that is a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct EstimatorCommand {
    /// For arms, and in the results.
    pub name: Spanned<String>,
    /// The program and its arguments. Relative paths are relative to the experiment file.
    pub command: Spanned<Vec<String>>,
    /// Further files on which its numbers depend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// Passed to the command.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub parameters: Table,
}
