use super::table::{Cell, Table, text};
use crate::results::claims::{Finding, Verdict};

/// The claims with their verdicts.
pub(super) fn table(id: String, findings: &[Finding]) -> Table {
    let row = |finding: &Finding| {
        [
            text(finding.says.as_str()),
            Cell { value: finding.paper.parse().ok(), ..text(finding.paper.as_str()) },
            Cell { value: finding.value, ..text(finding.ours_with_interval()) },
            verdict(finding.verdict),
            text(finding.why.as_str()),
        ]
    };
    let columns = ["claim", "paper*", "ours*", "verdict", "why"];
    let rows = findings.iter().map(row).collect();
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

/// For example `12 hold, 3 differ, 1 cannot be told`; empty without claims.
pub(super) fn tally(findings: &[Finding]) -> String {
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let plural = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let parts = [
        plural(count(Verdict::Holds), "holds", "hold"),
        plural(count(Verdict::Differs), "differs", "differ"),
        plural(count(Verdict::CannotTell), "cannot be told", "cannot be told"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
