use serde::Deserialize;

/// What a command may answer in place of a result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    /// It cannot work with what it was given. The text says why.
    NotApplicable(String),
    /// It would need more memory than its limit.
    Infeasible { bytes: f64, message: String },
}

/// The refusal that an answer consists of, if it is one.
pub(crate) fn refusal(answer: &[u8]) -> Option<Refusal> {
    serde_json::from_slice(answer).ok()
}
