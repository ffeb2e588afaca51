use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::csv_records;
use super::super::text_table::{TextTable, number};

/// Whether a claim of the paper is one of ours as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Our trials agree.
    Holds,
    /// Our trials disagree.
    Differs,
    /// There are too few trials, or none on the real data.
    CannotTell,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::CannotTell => "cannot tell",
        })
    }
}

/// A claim with what became of it: a row of `claims.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The statement, as a sentence.
    pub says: String,
    /// What the paper gives.
    pub paper: String,
    /// What we got, in words; one number for each epsilon where there are several.
    pub ours: String,
    /// What we got, where it is one number.
    pub value: Option<f64>,
    /// The lower end of the interval for it.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The probability with which such an interval contains the true median.
    pub coverage: Option<f64>,
    /// Whether we agree.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub why: String,
}

/// Writes `claims.csv`, whole or not at all.
pub fn write_claims(path: &Path, findings: &[Finding]) -> io::Result<()> {
    csv_records::write_file(path, findings)
}

/// Reads a `claims.csv`.
pub fn read_claims(path: &Path) -> Result<Vec<Finding>, csv::Error> {
    csv::Reader::from_path(path)?.into_deserialize().collect()
}

/// The table for a terminal. Below it, the reasons of those that do not hold.
pub fn claims_table(findings: &[Finding]) -> String {
    let mut table = TextTable::new(["", "claim", "paper", "ours", "verdict"]);
    for (index, finding) in (1..).zip(findings) {
        table.push([
            format!("{index}"),
            finding.says.clone(),
            finding.paper.clone(),
            finding.ours_with_interval(),
            finding.verdict.to_string(),
        ]);
    }
    let mut text: String = table.lines().iter().map(|line| format!("{line}\n")).collect();
    for (index, finding) in (1..).zip(findings) {
        if finding.verdict != Verdict::Holds {
            text += &format!("{index}: {}\n", finding.why);
        }
    }
    text
}

impl Finding {
    /// What we got, with its interval where there is one.
    pub fn ours_with_interval(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                format!("{} [{}, {}]", self.ours, number(low), number(high))
            }
            _ => self.ours.clone(),
        }
    }
}
