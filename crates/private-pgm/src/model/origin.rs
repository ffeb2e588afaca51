use serde::{Deserialize, Serialize};

/// Where a model comes from: notes that travel with its file, for people to read.
///
/// No computation depends on them. Names are text, so that a file that mentions an algorithm which
/// a release does not know can still be read by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The release that made the estimate.
    pub release: String,
    /// The optimiser.
    pub algorithm: String,
    /// The marginal oracle.
    pub oracle: String,
    /// Whether the oracle's marginals are those of the model, rather than an approximation.
    pub oracle_is_exact: bool,
    /// The norm of the loss.
    pub norm: String,
    /// The loss at the model's marginals.
    pub loss: Option<f64>,
    /// A bound on the distance of that loss from the smallest possible one, when it is known.
    pub gap: Option<f64>,
    /// The iterations that were made.
    pub iterations: u64,
    /// Whether the total was estimated from the measurements.
    pub total_is_estimated: bool,
}
