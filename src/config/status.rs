use std::fmt;

use serde::{Deserialize, Serialize};

/// How an arm ended: a column of `trials.csv`, and the subject of claims of the kind `ends`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With an estimate.
    #[default]
    Done,
    /// It needs more memory than the limit.
    Infeasible,
    /// It exceeded the time limit.
    Timeout,
    /// The estimator cannot use what was measured, or cannot answer the workload from it.
    #[serde(rename = "not-applicable")]
    NotApplicable,
    /// With an error; the next run tries it again.
    Failed,
}

impl Status {
    pub const ALL: [Self; 5] =
        [Self::Done, Self::Infeasible, Self::Timeout, Self::NotApplicable, Self::Failed];
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Done => "done",
            Status::Infeasible => "infeasible",
            Status::Timeout => "timeout",
            Status::NotApplicable => "not applicable",
            Status::Failed => "failed",
        })
    }
}
