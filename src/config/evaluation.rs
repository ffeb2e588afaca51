use serde::Serialize;

/// What is recorded of estimates next to their errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Record how often error bars that should contain this part of the true answers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Simulations per estimate of a graphical model.
    pub replicates: usize,
}

/// Our choice: the error of an answer is then known to 10 %.
const REPLICATES: usize = 50;

impl Default for Evaluation {
    fn default() -> Self {
        Self { coverage: None, replicates: REPLICATES }
    }
}
