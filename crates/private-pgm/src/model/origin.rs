use serde::{Deserialize, Serialize};

/// The provenance of a model, stored in its file for readers.
///
/// No computation depends on it. Names are strings, so that an older release reads a file that
/// names an algorithm unknown to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The version of the software that fitted the model.
    pub release: String,
    /// The name of the optimiser.
    pub algorithm: String,
    /// The name of the marginal oracle.
    pub oracle: String,
    /// Whether the oracle computes exact marginals.
    pub oracle_is_exact: bool,
    /// The name of the loss's norm.
    pub norm: String,
    /// The loss at the model's marginals.
    pub loss: Option<f64>,
    /// An upper bound on the loss minus its minimum, if one was computed.
    pub gap: Option<f64>,
    /// The number of iterations of the optimiser.
    pub iterations: u64,
    /// Whether the total was estimated from the measurements.
    pub total_is_estimated: bool,
}
