use super::experiment::Experiment;
use super::table::{Cell, Table, chosen, text};
use crate::figures::labels;
use crate::results::summary::Group;
use crate::results::{Status, TrialRecord};
use private_pgm::numeric::bytes::Bytes;

/// Characters of a reason; longer ones lose their middle.
const MAX_LENGTH: usize = 160;
const KEPT_HEAD: usize = 90;
const KEPT_TAIL: usize = 45;

/// The arms without an estimate and the reasons, grouped over trials.
pub(super) fn table(id: String, experiment: &Experiment) -> Table {
    let rows = match &experiment.rows {
        Some(rows) => from_rows(rows),
        None => experiment.summary.groups.iter().flat_map(from_group).collect(),
    };
    let columns =
        ["dataset", "mechanism", "estimator", "epsilon*", "ended", "during", "trials*", "reason"];
    Table::new(id, "Arms without an estimate", columns, rows)
        .without_empty_columns()
        .without_constant("epsilon")
}

fn from_rows(rows: &[TrialRecord]) -> Vec<[Cell; 8]> {
    let mut groups: Vec<Vec<&TrialRecord>> = Vec::new();
    for row in rows.iter().filter(|row| row.status != Status::Done) {
        let is_same_group = |other: &TrialRecord| {
            (&other.dataset, &other.mechanism, &other.arm, &other.phase)
                == (&row.dataset, &row.mechanism, &row.arm, &row.phase)
                && (other.epsilon, other.delta, other.status)
                    == (row.epsilon, row.delta, row.status)
        };
        match groups.iter_mut().find(|group| is_same_group(group[0])) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().map(|group| cells(group)).collect()
}

fn cells(group: &[&TrialRecord]) -> [Cell; 8] {
    let first = group[0];
    let others = group.iter().filter(|row| row.message != first.message).count();
    let more = match others {
        0 => String::new(),
        1 => "; another trial for a similar reason".into(),
        count => format!("; {count} other trials for similar reasons"),
    };
    [
        text(labels::dataset(&first.dataset)),
        text(labels::mechanism(&first.mechanism)),
        text(labels::arm(&first.arm)),
        chosen(first.epsilon),
        text(first.status.to_string()),
        text(first.phase.as_str()),
        chosen(group.len() as f64),
        text(shortened(&first.message) + &more),
    ]
}

/// From a summary, which has counts and memory but no messages.
fn from_group(group: &Group) -> Vec<[Cell; 8]> {
    let endings = group.endings;
    let needs = group.peak_bytes.map(|bytes| format!("would need {}", Bytes(bytes)));
    let parts = [
        (Status::Infeasible, endings.infeasible, needs.unwrap_or_default()),
        (Status::Timeout, endings.timeout, String::new()),
        (Status::NotApplicable, endings.not_applicable, String::new()),
        (Status::Failed, endings.failed, String::new()),
    ];
    let ended = parts.into_iter().filter(|&(_, count, _)| count > 0);
    ended
        .map(|(status, count, reason)| {
            [
                text(labels::dataset(&group.dataset)),
                text(labels::mechanism(&group.mechanism)),
                text(labels::arm(&group.arm)),
                chosen(group.epsilon),
                text(status.to_string()),
                Cell::default(),
                chosen(count as f64),
                text(reason),
            ]
        })
        .collect()
}

/// Replaces the middle of a long reason, such as a list of hundreds of attributes, by an ellipsis.
fn shortened(reason: &str) -> String {
    let characters: Vec<char> = reason.chars().collect();
    if characters.len() <= MAX_LENGTH {
        return reason.to_string();
    }
    let is_blank = |c: &char| c.is_whitespace();
    let head = &characters[..KEPT_HEAD];
    let head = &head[..head.iter().rposition(is_blank).unwrap_or(KEPT_HEAD)];
    let tail = &characters[characters.len() - KEPT_TAIL..];
    let tail = &tail[tail.iter().position(is_blank).map_or(0, |at| at + 1)..];
    let text = |part: &[char]| part.iter().collect::<String>();
    format!("{} \u{2026} {}", text(head), text(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reasons_keep_their_beginning_and_their_end() {
        let names: Vec<String> = (0..500).map(|i| format!("x{i}")).collect();
        let reason = format!(
            "the table needs 800 EB for {}, more than the limit of 17 GB",
            names.join(", ")
        );
        let short = shortened(&reason);
        assert!(short.chars().count() < MAX_LENGTH, "{short}");
        assert!(short.starts_with("the table needs 800 EB for x0, x1,"), "{short}");
        assert!(short.ends_with("more than the limit of 17 GB"), "{short}");
        assert_eq!(shortened("out of time"), "out of time");
        assert!(shortened(&"\u{e4}".repeat(500)).chars().count() < MAX_LENGTH);
    }
}
