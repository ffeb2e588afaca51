use std::collections::BTreeMap;

use super::experiment::Experiment;
use super::table::{Cell, Row, Table, text};
use crate::figures::labels;
use crate::results::{TrialRecord, number};
use dp::{Guarantee, Line, Mechanism};

/// Epsilon or rho: the parameter by which costs are compared.
fn leading(guarantee: Guarantee) -> f64 {
    match guarantee {
        Guarantee::Pure { epsilon } | Guarantee::Approximate { epsilon, .. } => epsilon.get(),
        Guarantee::Concentrated { rho } => rho.get(),
    }
}

fn describe(guarantee: Guarantee) -> String {
    match guarantee {
        Guarantee::Pure { epsilon } => format!("\u{3b5} = {}", short(epsilon.get())),
        Guarantee::Approximate { epsilon, delta } => {
            format!("\u{3b5} = {}, \u{3b4} = {}", short(epsilon.get()), short(delta.get()))
        }
        Guarantee::Concentrated { rho } => format!("\u{3c1} = {}", short(rho.get())),
    }
}

fn noise_name(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::DiscreteLaplace => "discrete Laplace",
        Mechanism::DiscreteGaussian => "discrete Gaussian",
        Mechanism::ContinuousLaplace => "continuous Laplace",
        Mechanism::ContinuousGaussian => "continuous Gaussian",
        Mechanism::Exponential => "exponential",
        Mechanism::MonotoneExponential => "monotone exponential",
        Mechanism::Claimed => "claimed, not verified",
    }
}

/// Statistics of the draws of one kind, over all trials.
#[derive(Default)]
struct DrawStats {
    draws: Range,
    values: Range,
    sensitivity: Range,
    scale: Range,
    cost: Range,
    largest_cost: Option<Guarantee>,
}

/// Minimum and maximum.
#[derive(Clone, Copy, Default)]
struct Range(Option<(f64, f64)>);

impl Range {
    fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }

    /// `1` or `1 to 2`; sorts by the maximum.
    fn cell(self) -> Cell {
        match self.0 {
            // Values that print the same are one value to a reader.
            Some((low, high)) if short(low) != short(high) => {
                Cell { value: Some(high), ..text(format!("{} to {}", short(low), short(high))) }
            }
            Some((_, high)) => Cell { value: Some(high), ..text(short(high)) },
            None => Cell::default(),
        }
    }
}

/// The draws of all trials of one mechanism on one dataset with one budget.
struct Account<'a> {
    first: &'a TrialRecord,
    /// The cases that the releases answer: several, if the mechanism depends on the cliques alone.
    cases: Vec<&'a str>,
    /// By label and noise, in the order of their first draws.
    kinds: Vec<((String, &'static str), DrawStats)>,
    /// The largest total of a trial.
    spent: Option<Guarantee>,
}

/// The cost of draws of noise by kind, and their total. All arms of a trial share its draws, which
/// count once.
pub(super) fn table(id: String, experiment: &Experiment) -> Table {
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
    for account in accounts(experiment) {
        table.rows.extend(account.rows());
    }
    table.without_empty_columns()
}

fn accounts(experiment: &Experiment) -> Vec<Account<'_>> {
    let mut accounts: Vec<Account> = Vec::new();
    // The index of the account of each release.
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for row in experiment.rows.iter().flatten().filter(|row| row.has_draws()) {
        let Some(draws) = experiment.ledger.get(&row.release) else { continue };
        if let Some(&at) = seen.get(row.release.as_str()) {
            accounts[at].add_case(&row.case);
            continue;
        }
        let of_case = |account: &Account| {
            let first = account.first;
            (&first.dataset, &first.mechanism, &first.case, first.epsilon, first.delta)
                == (&row.dataset, &row.mechanism, &row.case, row.epsilon, row.delta)
        };
        let at = accounts.iter().position(of_case).unwrap_or_else(|| {
            let (cases, kinds) = (vec![row.case.as_str()], Vec::new());
            accounts.push(Account { first: row, cases, kinds, spent: None });
            accounts.len() - 1
        });
        seen.insert(&row.release, at);
        accounts[at].add(draws);
    }
    accounts
}

impl<'a> Account<'a> {
    fn add_case(&mut self, case: &'a str) {
        if !self.cases.contains(&case) {
            self.cases.push(case);
        }
    }

    /// Adds the draws of one release.
    fn add(&mut self, lines: &[Line]) {
        let mut counts = vec![0; self.kinds.len()];
        for Line { entry, running_total } in lines {
            let draw = &entry.draw;
            let name = (kind_of(&draw.label), noise_name(draw.mechanism));
            let at = self.kinds.iter().position(|(other, _)| *other == name);
            let at = at.unwrap_or_else(|| {
                self.kinds.push((name, DrawStats::default()));
                counts.push(0);
                self.kinds.len() - 1
            });
            counts[at] += 1;
            let kind = &mut self.kinds[at].1;
            kind.values.add(draw.values as f64);
            kind.sensitivity.add(draw.sensitivity);
            kind.scale.add(draw.scale);
            kind.cost.add(leading(entry.cost));
            kind.largest_cost = larger(kind.largest_cost, entry.cost);
            self.spent = larger(self.spent, *running_total);
        }
        for ((_, kind), count) in self.kinds.iter_mut().zip(counts) {
            kind.draws.add(f64::from(count));
        }
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
            let cost = match kind.largest_cost {
                Some(cost) if kind.cost.cell().text == short(leading(cost)) => {
                    Cell { value: Some(leading(cost)), ..text(describe(cost)) }
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
                text(*noise),
                kind.draws.cell(),
                kind.values.cell(),
                kind.sensitivity.cell(),
                kind.scale.cell(),
                cost,
            ];
            rows.push(Row { cells, is_total: false });
        }
        let [dataset, mechanism, case, budget] = name();
        let spent = self.spent.map_or_else(String::new, describe);
        let mut cells = vec![dataset, mechanism, case, budget, text("together, at most")];
        cells.extend(vec![Cell::default(); 5]);
        cells.push(text(spent));
        rows.push(Row { cells, is_total: true });
        rows
    }
}

/// Four digits without trailing zeros: 2, 0.001, 36.5.
fn short(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn larger(known: Option<Guarantee>, found: Guarantee) -> Option<Guarantee> {
    known.filter(|known| leading(*known) >= leading(found)).or(Some(found))
}

fn budget(row: &TrialRecord) -> String {
    match row.delta {
        0.0 => format!("\u{3b5} = {}", row.epsilon),
        delta => format!("\u{3b5} = {}, \u{3b4} = {delta}", row.epsilon),
    }
}

/// The label without numbers and attributes, which draws of one kind share: `round 3: the worst` is
/// `round n: the worst`, `strategy on age, sex` is `strategy`.
fn kind_of(label: &str) -> String {
    let label = label.split(" on ").next().unwrap_or(label);
    let label = match label.split_once(" of ") {
        Some((what, of)) if !of.starts_with("the ") && !of.starts_with("round ") => what,
        _ => label,
    };
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let generalised = |(place, word): (usize, &str)| match word.strip_suffix(':') {
        _ if place == 0 => word.to_string(),
        Some(number) if is_number(number) => "n:".into(),
        None if is_number(word) => "n".into(),
        _ => word.to_string(),
    };
    label.split(' ').enumerate().map(generalised).collect::<Vec<_>>().join(" ")
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
