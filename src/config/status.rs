use std::fmt;

use serde::{Deserialize, Serialize};

/// How an arm ended: a column of `trials.csv`, and what claims of the kind `ends` are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// With an estimate.
    #[default]
    Done,
    /// It would not fit into the memory that it may use.
    Infeasible,
    /// It took longer than it may.
    Timeout,
    /// With an error; tried again next time.
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Done => "done",
            Status::Infeasible => "infeasible",
            Status::Timeout => "timeout",
            Status::Failed => "failed",
        })
    }
}
