use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::csv_records;
use super::super::text_table::{TextTable, number};
use crate::config::claim::Role;

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
    #[serde(default)]
    pub role: Role,
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
    csv_records::read_file(path)
}

/// The claims with their verdicts for the terminal, the count, and the reasons of those that do not
/// hold. Claims with the same reason share a line; where only details differ, these are left to
/// `claims.csv`.
pub fn claims_table(findings: &[Finding]) -> String {
    let mut table = TextTable::new(["", "claim", "role", "paper", "ours", "verdict"]);
    for (index, finding) in (1..).zip(findings) {
        table.push([
            format!("{index}"),
            finding.says.clone(),
            finding.role.name().into(),
            finding.paper.clone(),
            finding.ours_with_interval(),
            finding.verdict.to_string(),
        ]);
    }
    let mut text: String = table.lines().iter().map(|line| format!("{line}\n")).collect();
    text += &format!("{}\n", tally(findings));
    let mut reasons: Vec<(&Finding, Vec<String>)> = Vec::new();
    for (index, finding) in (1..).zip(findings) {
        if finding.verdict == Verdict::Holds {
            continue;
        }
        match reasons.iter_mut().find(|(first, _)| first.has_reason_of(finding)) {
            Some((_, indices)) => indices.push(index.to_string()),
            None => reasons.push((finding, vec![index.to_string()])),
        }
    }
    for (first, indices) in reasons {
        let mut same = findings.iter().filter(|other| other.has_reason_of(first));
        let why = match same.all(|other| other.why == first.why) {
            true => &first.why,
            false => first.reason(),
        };
        text += &format!("{}: {why}\n", indices.join(", "));
    }
    text
}

/// The verdicts of each role, those that do not hold included. For example `statements of the
/// paper: 12 of 15 hold, 2 differ, 1 cannot tell; invariants: 2 of 2 hold`. Empty without claims.
pub fn tally(findings: &[Finding]) -> String {
    let of_role = |role: Role| {
        let count =
            |verdict| findings.iter().filter(|it| it.role == role && it.verdict == verdict).count();
        let [holds, differs, open] =
            [Verdict::Holds, Verdict::Differs, Verdict::CannotTell].map(count);
        let all = holds + differs + open;
        let verb = |count, one: &str, many: &str| {
            (count > 0).then(|| format!(", {count} {}", if count == 1 { one } else { many }))
        };
        (all > 0).then(|| {
            format!(
                "{}: {holds} of {all} hold{}{}",
                plural(role),
                verb(differs, "differs", "differ").unwrap_or_default(),
                verb(open, "cannot tell", "cannot tell").unwrap_or_default(),
            )
        })
    };
    Role::ALL.into_iter().filter_map(of_role).collect::<Vec<_>>().join("; ")
}

fn plural(role: Role) -> &'static str {
    match role {
        Role::Statement => "statements of the paper",
        Role::Reference => "values of the authors' code",
        Role::Expectation => "expectations of ours",
        Role::Condition => "conditions of our choices",
        Role::Invariant => "invariants",
    }
}

impl Finding {
    /// `why` without details, which follow in brackets or after a colon.
    fn reason(&self) -> &str {
        let ends = [" (", ": "].iter().filter_map(|mark| self.why.find(mark));
        &self.why[..ends.min().unwrap_or(self.why.len())]
    }

    /// Whether both do not hold, for the same reason.
    pub fn has_reason_of(&self, other: &Self) -> bool {
        [self, other].iter().all(|finding| finding.verdict != Verdict::Holds)
            && self.verdict == other.verdict
            && self.reason() == other.reason()
    }

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
