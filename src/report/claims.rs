use super::table::{Cell, Table, chosen, text};
use crate::results::claims::{Finding, Verdict};

/// The claims with their verdicts.
pub(super) fn table(id: String, findings: &[Finding]) -> Table {
    let row = |(at, finding): (usize, &Finding)| {
        // Claims with the reason of an earlier one refer to it.
        let earlier = findings[..at].iter().position(|other| other.has_reason_of(finding));
        let why = match earlier {
            Some(first) => format!("as claim {}", first + 1),
            None => finding.why.clone(),
        };
        [
            chosen((at + 1) as f64),
            text(finding.says.as_str()),
            text(finding.role.name()),
            Cell { value: finding.paper.parse().ok(), ..text(finding.paper.as_str()) },
            Cell { value: finding.value, ..text(finding.ours_with_interval()) },
            verdict(finding.verdict),
            text(why),
        ]
    };
    let columns = ["#*", "claim", "role", "paper*", "ours*", "verdict", "why"];
    let rows = findings.iter().enumerate().map(row).collect();
    Table::new(id, "What the paper says, and what our trials say", columns, rows)
}

/// A sign next to the word, so that the verdict does not depend on colour alone.
fn verdict(verdict: Verdict) -> Cell {
    let (sign, class) = match verdict {
        Verdict::Holds => ("\u{2713}", "holds"),
        Verdict::Differs => ("\u{2717}", "differs"),
        Verdict::CannotTell => ("?", "open"),
    };
    Cell { class, ..text(format!("{sign} {verdict}")) }
}
