use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::ReportError;
use super::experiment::Experiment;
use super::table::{Cell, Row, Table, text};
use crate::figures::labels;
use crate::results::store::LedgerLine;
use crate::results::{TrialRecord, number};

/// What a line of the ledger says about a draw.
#[derive(Deserialize)]
struct Draw {
    label: String,
    mechanism: String,
    values: f64,
    sensitivity: f64,
    scale: f64,
    cost: Guarantee,
    running_total: Guarantee,
}

/// What a draw, or several together, promise.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Guarantee {
    Pure { epsilon: f64 },
    Approximate { epsilon: f64, delta: f64 },
    Concentrated { rho: f64 },
}

impl Guarantee {
    /// Epsilon or rho.
    fn leading(self) -> f64 {
        match self {
            Self::Pure { epsilon } | Self::Approximate { epsilon, .. } => epsilon,
            Self::Concentrated { rho } => rho,
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Pure { epsilon } => format!("\u{3b5} = {}", short(epsilon)),
            Self::Approximate { epsilon, delta } => {
                format!("\u{3b5} = {}, \u{3b4} = {}", short(epsilon), short(delta))
            }
            Self::Concentrated { rho } => format!("\u{3c1} = {}", short(rho)),
        }
    }
}

/// The draws of one kind, over all trials.
#[derive(Default)]
struct Kind {
    draws: Range,
    values: Range,
    sensitivity: Range,
    scale: Range,
    cost: Range,
    dearest: Option<Guarantee>,
}

/// The smallest and the largest of some numbers.
#[derive(Clone, Copy, Default)]
struct Range(Option<(f64, f64)>);

impl Range {
    fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }

    /// One number, or two.
    fn cell(self) -> Cell {
        match self.0 {
            // Neighbouring floats are one number to a reader.
            Some((low, high)) if short(low) != short(high) => {
                Cell { value: Some(high), ..text(format!("{} to {}", short(low), short(high))) }
            }
            Some((_, high)) => Cell { value: Some(high), ..text(short(high)) },
            None => Cell::default(),
        }
    }
}

/// The draws of the trials of one mechanism on one dataset with one budget, for the cases that they
/// are for.
struct Account<'a> {
    first: &'a TrialRecord,
    /// A release may answer several cases, and a mechanism that reads the queries has one for each.
    cases: Vec<&'a str>,
    /// In the order of their first draws.
    kinds: Vec<((String, String), Kind)>,
    /// The most that a trial has spent.
    spent: Option<Guarantee>,
}

/// What every draw of noise cost, kind by kind, and together against the budget. All arms of a trial
/// share its draws, which count once.
pub(super) fn table(id: String, experiment: &Experiment) -> Result<Table, ReportError> {
    let mut table = Table::new(
        id,
        "Draws of noise, kind by kind, and what those of a trial cost together",
        [
            "dataset",
            "mechanism",
            "case",
            "budget",
            "draw",
            "noise",
            "draws in a trial*",
            "values of a draw*",
            "sensitivity*",
            "scale*",
            "cost*",
        ],
        Vec::new(),
    );
    table.is_sortable = false;
    for account in accounts(experiment)? {
        table.rows.extend(account.rows());
    }
    Ok(table.without_empty_columns())
}

fn accounts(experiment: &Experiment) -> Result<Vec<Account<'_>>, ReportError> {
    let mut lines: BTreeMap<&str, Vec<&LedgerLine>> = BTreeMap::new();
    for line in &experiment.ledger {
        lines.entry(&line.key).or_default().push(line);
    }
    let mut accounts: Vec<Account> = Vec::new();
    // Trials with their draws, and the accounts that these are in.
    let mut seen: Vec<(&TrialRecord, &[&LedgerLine], usize)> = Vec::new();
    for row in experiment.rows.iter().flatten() {
        let Some(lines) = lines.get(row.key.as_str()) else { continue };
        let beside = |other: &TrialRecord| {
            (&other.dataset, &other.mechanism, other.epsilon, other.delta)
                == (&row.dataset, &row.mechanism, row.epsilon, row.delta)
        };
        let known = seen.iter().find(|(other, draws, _)| {
            other.trial == row.trial
                && beside(other)
                && (other.case == row.case || same_draws(draws, lines))
        });
        if let Some(&(_, _, at)) = known {
            accounts[at].add_case(&row.case);
            continue;
        }
        let of_case = |account: &Account| beside(account.first) && account.first.case == row.case;
        let at = accounts.iter().position(of_case).unwrap_or_else(|| {
            let (cases, kinds) = (vec![row.case.as_str()], Vec::new());
            accounts.push(Account { first: row, cases, kinds, spent: None });
            accounts.len() - 1
        });
        seen.push((row, lines, at));
        accounts[at].add(lines)?;
    }
    Ok(accounts)
}

/// Whether these are the draws of one release: with the same seed, the same noise.
fn same_draws(some: &[&LedgerLine], others: &[&LedgerLine]) -> bool {
    let pairs = || some.iter().zip(others);
    some.len() == others.len() && pairs().all(|(a, b)| a.seed == b.seed && a.entry == b.entry)
}

impl<'a> Account<'a> {
    fn add_case(&mut self, case: &'a str) {
        if !self.cases.contains(&case) {
            self.cases.push(case);
        }
    }

    /// Adds the draws of a trial.
    fn add(&mut self, lines: &[&LedgerLine]) -> Result<(), ReportError> {
        let mut counts = vec![0; self.kinds.len()];
        for line in lines {
            let draw = Draw::deserialize(&line.entry)
                .map_err(|error| ReportError::Ledger { key: line.key.clone(), error })?;
            let name = (kind_of(&draw.label), draw.mechanism);
            let at = self.kinds.iter().position(|(other, _)| *other == name);
            let at = at.unwrap_or_else(|| {
                self.kinds.push((name, Kind::default()));
                counts.push(0);
                self.kinds.len() - 1
            });
            counts[at] += 1;
            let kind = &mut self.kinds[at].1;
            kind.values.add(draw.values);
            kind.sensitivity.add(draw.sensitivity);
            kind.scale.add(draw.scale);
            kind.cost.add(draw.cost.leading());
            kind.dearest = dearer(kind.dearest, draw.cost);
            self.spent = dearer(self.spent, draw.running_total);
        }
        for ((_, kind), count) in self.kinds.iter_mut().zip(counts) {
            kind.draws.add(f64::from(count));
        }
        Ok(())
    }

    fn rows(&self) -> Vec<Row> {
        let name = || {
            let row = self.first;
            let standin = if row.standin { " (stand-in)" } else { "" };
            let dataset = text(labels::dataset(&row.dataset) + standin);
            let case = match self.cases.as_slice() {
                [only] => only.to_string(),
                several => format!("{} cases", several.len()),
            };
            [dataset, text(labels::mechanism(&row.mechanism)), text(case), text(budget(row))]
        };
        let mut rows: Vec<Row> = Vec::new();
        for ((label, noise), kind) in &self.kinds {
            let cost = match kind.dearest {
                Some(cost) if kind.cost.cell().text == short(cost.leading()) => {
                    Cell { value: Some(cost.leading()), ..text(cost.in_words()) }
                }
                _ => kind.cost.cell(),
            };
            let [dataset, mechanism, case, budget] = name();
            let cells = vec![
                dataset,
                mechanism,
                case,
                budget,
                text(label.as_str()),
                text(noise.as_str()),
                kind.draws.cell(),
                kind.values.cell(),
                kind.sensitivity.cell(),
                kind.scale.cell(),
                cost,
            ];
            rows.push(Row { cells, is_total: false });
        }
        let [dataset, mechanism, case, budget] = name();
        let spent = self.spent.map_or_else(String::new, Guarantee::in_words);
        let mut cells = vec![dataset, mechanism, case, budget, text("together, at most")];
        cells.extend(vec![Cell::default(); 5]);
        cells.push(text(spent));
        rows.push(Row { cells, is_total: true });
        rows
    }
}

/// Four digits, fewer where they are zeros: 2, 0.001, 36.5.
fn short(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn dearer(known: Option<Guarantee>, found: Guarantee) -> Option<Guarantee> {
    known.filter(|known| known.leading() >= found.leading()).or(Some(found))
}

fn budget(row: &TrialRecord) -> String {
    match row.delta {
        0.0 => format!("\u{3b5} = {}", row.epsilon),
        delta => format!("\u{3b5} = {}, \u{3b4} = {delta}", row.epsilon),
    }
}

/// What draws have in common that differ in their number or in the attributes that they are about:
/// `round 3: the worst` is `round n: the worst`, `strategy on age, sex` is `strategy`.
fn kind_of(label: &str) -> String {
    let label = label.split(" on ").next().unwrap_or(label);
    let label = match label.split_once(" of ") {
        Some((what, of)) if !of.starts_with("the ") && !of.starts_with("round ") => what,
        _ => label,
    };
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let counted = |(place, word): (usize, &str)| match word.strip_suffix(':') {
        _ if place == 0 => word.to_string(),
        Some(number) if is_number(number) => "n:".into(),
        None if is_number(word) => "n".into(),
        _ => word.to_string(),
    };
    label.split(' ').enumerate().map(counted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_a_kind_differ_in_numbers_and_attributes() {
        let cases = [
            ("attribute 2 of the network", "attribute n of the network"),
            ("round 3: the worst", "round n: the worst"),
            ("queries of round 17", "queries of round n"),
            ("strategy on race, capital-loss", "strategy"),
            ("table of age x sex", "table"),
            ("15 marginals", "15 marginals"),
            ("edge 4 of the tree", "edge n of the tree"),
        ];
        for (label, kind) in cases {
            assert_eq!(kind_of(label), kind);
        }
    }
}
