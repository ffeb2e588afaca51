use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::csv_records;
use super::super::text_table::{TextTable, number};

/// Whether our trials agree with a claim of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Holds,
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

/// The result of checking a claim: a row of `claims.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub says: String,
    pub paper: String,
    /// Our value as text; one number per epsilon if there are several.
    pub ours: String,
    /// Our value, if it is a single number.
    pub value: Option<f64>,
    /// The lower end of the confidence interval of `value`.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The probability that the interval contains the true median.
    pub coverage: Option<f64>,
    pub verdict: Verdict,
    /// The reason, as a sentence.
    pub why: String,
}

/// Writes `claims.csv` atomically.
pub fn write_claims(path: &Path, findings: &[Finding]) -> io::Result<()> {
    csv_records::write_file(path, findings)
}

pub fn read_claims(path: &Path) -> Result<Vec<Finding>, csv::Error> {
    csv::Reader::from_path(path)?.into_deserialize().collect()
}

/// The table for a terminal, followed by the reasons of the claims that do not hold.
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
    /// Our value, with its interval if there is one.
    pub fn ours_with_interval(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                format!("{} [{}, {}]", self.ours, number(low), number(high))
            }
            _ => self.ours.clone(),
        }
    }
}
