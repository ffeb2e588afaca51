//! The record of all draws and their costs: evidence that a budget was respected.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::account::{Account, Branch};
use super::draw::{Draw, within};
use super::{Composition, Guarantee, Neighbours};

/// A draw and the share that paid for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What was drawn.
    #[serde(flatten)]
    pub draw: Draw,
    /// The neighbouring relation of the sensitivity.
    pub neighbours: Neighbours,
    /// The guarantee of the draw on its own.
    pub granted: Guarantee,
    /// The guarantee converted to the currency of the budget.
    pub cost: Guarantee,
    /// The nested divisions and parts of the records that the draw saw; empty if it saw all
    /// records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Branch>,
    /// The advanced composition that the draw belongs to, if any. `cost` is then that of the draw
    /// on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composition: Option<Composition>,
}

/// One line of the ledger file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The draw and its cost.
    #[serde(flatten)]
    pub entry: Entry,
    /// The composed cost of this and all earlier lines.
    pub running_total: Guarantee,
}

/// The draws that one budget paid for, in order.
#[derive(Clone, Debug)]
pub struct Ledger {
    currency: Guarantee,
    neighbours: Neighbours,
    account: Account,
    divisions: u32,
    lines: Vec<Line>,
}

/// Why a ledger could not be read or verified. Lines are counted from 1.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The costs add up to more than the budget.
    #[error("overspent: the draws cost {leading} (delta {delta}), the budget is {total}")]
    Overspent {
        /// The sum of epsilon or rho.
        leading: f64,
        /// The sum of delta.
        delta: f64,
        /// The budget.
        total: Guarantee,
    },
    /// The scale of a draw is too small for its sensitivity and guarantee.
    #[error("line {line}, '{label}': the noise is too small for {granted}")]
    TooLittleNoise {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
        /// The guarantee that the draw claims.
        granted: Guarantee,
    },
    /// The sensitivity is for another neighbouring relation than the budget.
    #[error("line {line}, '{label}': the sensitivity is for the relation {found:?}")]
    WrongNeighbours {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
        /// The relation of the draw.
        found: Neighbours,
    },
    /// The recorded cost or running total differs from the recomputed one.
    #[error("line {line}, '{label}': the recorded cost or total is not the computed one")]
    WrongCost {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
    },
    /// The line is not a JSON object with the fields of [`Line`].
    #[error("line {line} is not a ledger line")]
    Json {
        /// The line.
        line: usize,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Entry {
    /// Whether the theorem of [`Share::advanced`](super::Share::advanced), if the entry relies on
    /// it, applies to its guarantee and to a budget of `total`.
    fn composes_in(&self, total: Guarantee) -> bool {
        let pure = matches!(self.granted, Guarantee::Pure { .. });
        let counts_delta = matches!(total, Guarantee::Approximate { .. });
        self.composition.is_none() || pure && counts_delta
    }
}

impl Ledger {
    pub(super) fn new(currency: Guarantee, neighbours: Neighbours) -> Self {
        let account = Account::default();
        Self { currency, neighbours, account, divisions: 0, lines: Vec::new() }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.account.add(&entry);
        let (leading, delta) = self.account.total(self.neighbours, self.currency);
        // The sums are at least this entry's cost. Only an overflow is not a parameter.
        let running_total = self.currency.of_sums(leading, delta).unwrap_or(entry.cost);
        self.lines.push(Line { entry, running_total });
    }

    pub(super) fn next_division(&mut self) -> u32 {
        self.divisions += 1;
        self.divisions
    }

    /// The lines, in the order of the draws.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Recomputes every cost from scale and sensitivity, composes the costs and compares the result
    /// with the budget. Returns the composed cost, or `None` if nothing was drawn.
    ///
    /// For each line: the relation is the budget's; the noise suffices for the guarantee (Laplace:
    /// sensitivity/b <= epsilon. Gaussian: sensitivity^2/(2 sigma^2) <= rho, or the rho that
    /// implies (epsilon, delta). Exponential: see [`Share::select`](super::Share::select)); cost
    /// and running total equal the recomputed ones. A ledger cannot show that the sensitivity
    /// itself is right.
    pub fn verify(&self, total: Guarantee) -> Result<Option<Guarantee>, LedgerError> {
        let mut account = Account::default();
        for (line, Line { entry, running_total }) in (1..).zip(&self.lines) {
            let label = || entry.draw.label.clone();
            let expected =
                if entry.path.is_empty() { self.neighbours } else { Neighbours::AddRemove };
            if entry.neighbours != expected {
                let found = entry.neighbours;
                return Err(LedgerError::WrongNeighbours { line, label: label(), found });
            }
            if !entry.draw.keeps(entry.granted).unwrap_or(false) {
                let granted = entry.granted;
                return Err(LedgerError::TooLittleNoise { line, label: label(), granted });
            }
            account.add(entry);
            let (leading, delta) = account.total(self.neighbours, total);
            if entry.granted.cost_in(total) != Some(entry.cost)
                || !entry.composes_in(total)
                || total.of_sums(leading, delta) != Some(*running_total)
            {
                return Err(LedgerError::WrongCost { line, label: label() });
            }
        }
        let (leading, delta) = account.total(self.neighbours, total);
        if within(leading, total.leading()) && within(delta, total.delta()) {
            Ok(total.of_sums(leading, delta))
        } else {
            Err(LedgerError::Overspent { leading, delta, total })
        }
    }

    /// Writes one JSON object per draw and line, see [`Line`].
    pub fn write_json_lines(&self, mut to: impl Write) -> std::io::Result<()> {
        for line in &self.lines {
            serde_json::to_writer(&mut to, line)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads what [`Ledger::write_json_lines`] wrote, for a budget with this currency and relation.
    /// The contents are unchecked until [`Ledger::verify`] recomputes them.
    pub fn read_json_lines(
        from: impl BufRead,
        currency: Guarantee,
        neighbours: Neighbours,
    ) -> Result<Self, LedgerError> {
        let mut ledger = Self::new(currency, neighbours);
        for (line, text) in (1..).zip(from.lines()) {
            let read: Line = serde_json::from_str(&text?)
                .map_err(|source| LedgerError::Json { line, source })?;
            ledger.lines.push(read);
        }
        Ok(ledger)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Budget, Delta, Epsilon, L1, L2, Mechanism, NoiseSource, NumberLine, Rho, Scores, SeedPath,
        Sensitivity, Share, Spacing,
    };
    use super::*;
    use proptest::prelude::*;

    fn source() -> NoiseSource {
        NoiseSource::seeded(&SeedPath::new("test", "ledger"))
    }

    fn draw(share: Share, kind: usize, source: &mut NoiseSource) {
        let relation = share.neighbours();
        let grid = NumberLine::Grid(Spacing::power_of_two(-7).unwrap());
        let line = [NumberLine::Integers, grid, NumberLine::Continuous][kind % 3];
        let l1 = Sensitivity::<L1>::linear(1.0, relation).unwrap();
        let l2 = Sensitivity::<L2>::nonnegative_linear(1.0, relation).unwrap();
        let score = Sensitivity::new(1.0 / 3.0, relation).unwrap();
        let answers = [5.0, 0.0, 2.0];
        let pure = matches!(share.guarantee(), Guarantee::Pure { .. });
        match kind / 3 {
            0 => drop(share.laplace("laplace", &answers, l1, line, source).unwrap()),
            1 if !pure => drop(share.gaussian("gaussian", &answers, l2, line, source).unwrap()),
            _ => drop(
                share
                    .select_many("select", &answers, score, Scores::General, kind, source)
                    .unwrap(),
            ),
        }
    }

    fn total(kind: usize, epsilon: f64) -> Guarantee {
        let e = Epsilon::new(epsilon).unwrap();
        [e.into(), (e, Delta::new(1e-6).unwrap()).into(), Rho::new(epsilon).unwrap().into()][kind]
    }

    /// A ledger with draws in sequence, and two on disjoint parts of the records.
    fn example() -> (Ledger, Guarantee) {
        let total = total(0, 1.0);
        let mut budget = Budget::new(total, Neighbours::Replace);
        let mut source = source();
        let mut shares = budget.rest().unwrap().split(4).unwrap();
        for part in shares.pop().unwrap().parallel(2).unwrap() {
            draw(part, 0, &mut source);
        }
        for (kind, share) in [0, 2, 6].into_iter().zip(shares) {
            draw(share, kind, &mut source);
        }
        (budget.ledger(), total)
    }

    #[test]
    fn running_totals_add_up_to_the_budget() {
        let (ledger, total) = example();
        let totals: Vec<f64> =
            ledger.lines().iter().map(|line| line.running_total.leading()).collect();
        // Each part of the records costs an eighth; together they cost twice the larger one.
        assert_eq!(totals, [0.25, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(ledger.verify(total).unwrap(), Some(total));
    }

    #[test]
    fn a_ledger_is_read_back_as_it_was_written() {
        let (ledger, total) = example();
        let mut file = Vec::new();
        ledger.write_json_lines(&mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        assert_eq!(text.lines().count(), 5);
        assert!(text.starts_with(
            r#"{"label":"laplace","mechanism":"discrete-laplace","sensitivity":1.0,"scale":8.0,"#
        ));
        let read = Ledger::read_json_lines(text.as_bytes(), total, Neighbours::Replace).unwrap();
        assert_eq!(read.lines(), ledger.lines());
        assert_eq!(read.verify(total).unwrap(), Some(total));
        assert!(matches!(
            Ledger::read_json_lines(&b"{}"[..], total, Neighbours::Replace),
            Err(LedgerError::Json { line: 1, .. })
        ));
    }

    #[test]
    fn a_smaller_budget_or_another_relation_does_not_verify() {
        let (mut ledger, _) = example();
        let smaller = total(0, 1.0f64 - 1e-12);
        assert!(matches!(ledger.verify(smaller), Err(LedgerError::Overspent { .. })));
        assert!(matches!(
            ledger.verify(total(2, 9.0)),
            Err(LedgerError::WrongCost { line: 1, .. })
        ));
        ledger.neighbours = Neighbours::AddRemove;
        assert!(ledger.verify(total(0, 1.0)).is_err());
    }

    #[test]
    fn falsified_lines_are_detected() {
        let falsified = |change: fn(&mut Vec<Line>)| {
            let (mut ledger, total) = example();
            change(&mut ledger.lines);
            ledger.verify(total).unwrap_err()
        };
        let error = falsified(|lines| lines[2].entry.draw.scale *= 0.999);
        assert!(matches!(error, LedgerError::TooLittleNoise { line: 3, .. }));
        let error = falsified(|lines| lines[4].entry.draw.values = 7);
        assert!(matches!(error, LedgerError::TooLittleNoise { line: 5, .. }));
        let error = falsified(|lines| lines[3].entry.draw.scale = f64::NAN);
        assert!(matches!(error, LedgerError::TooLittleNoise { line: 4, .. }));
        let error =
            falsified(|lines| lines[3].entry.draw.mechanism = Mechanism::ContinuousGaussian);
        assert!(matches!(error, LedgerError::TooLittleNoise { line: 4, .. }));
        let error = falsified(|lines| lines[0].entry.neighbours = Neighbours::Replace);
        assert!(matches!(error, LedgerError::WrongNeighbours { line: 1, .. }));
        let error = falsified(|lines| drop(lines.remove(2)));
        assert!(matches!(error, LedgerError::WrongCost { line: 3, .. }));
        let error = falsified(|lines| lines[2].entry.cost = lines[0].entry.cost);
        assert!(matches!(error, LedgerError::WrongCost { line: 3, .. }));
        // A draw on all records, recorded as a draw on a part of them.
        let error = falsified(|lines| lines[2].entry.path = lines[0].entry.path.clone());
        assert!(matches!(error, LedgerError::WrongNeighbours { line: 3, .. }));
    }

    #[test]
    fn more_selections_or_less_noise_than_rho_allows_are_detected() {
        let total = total(2, 0.5);
        for (kind, change) in [
            (6, (|draw| draw.values += 1) as fn(&mut Draw)),
            (6, |draw| draw.scale *= 0.999),
            (3, |draw| draw.scale *= 0.999),
            (0, |draw| draw.scale *= 0.999),
        ] {
            let mut budget = Budget::new(total, Neighbours::Replace);
            draw(budget.rest().unwrap(), kind, &mut source());
            let mut ledger = budget.ledger();
            assert!(ledger.verify(total).is_ok());
            change(&mut ledger.lines[0].entry.draw);
            let error = ledger.verify(total).unwrap_err();
            assert!(matches!(error, LedgerError::TooLittleNoise { line: 1, .. }), "{kind}");
        }
    }

    #[test]
    fn a_claim_is_charged_and_says_that_it_is_one() {
        for kind in 0..3 {
            let total = total(kind, 0.5);
            let mut budget = Budget::new(total, Neighbours::Replace);
            budget.rest().unwrap().claim("by a command", 12, &source());
            let ledger = budget.ledger();
            assert_eq!(ledger.verify(total).unwrap(), Some(total));
            assert_eq!(ledger.lines()[0].entry.draw.mechanism, Mechanism::Claimed);
            assert!(budget.rest().is_err(), "everything was paid");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_ledger_of_draws_with_shares_verifies(
            currency in 0usize..3,
            epsilon in 0.01..20f64,
            relation in prop::bool::ANY,
            kinds in prop::collection::vec((1usize..9, prop::bool::ANY), 1..8),
        ) {
            let total = total(currency, epsilon);
            let relation = if relation { Neighbours::Replace } else { Neighbours::AddRemove };
            let mut budget = Budget::new(total, relation);
            let mut source = source();
            let weights: Vec<f64> = (1..=kinds.len()).map(|i| (i as f64).sqrt()).collect();
            let shares = budget.rest().unwrap().split_weights(&weights).unwrap();
            for (share, (kind, parallel)) in shares.into_iter().zip(kinds) {
                if parallel {
                    for part in share.parallel(2).unwrap() {
                        part.split(2).unwrap().into_iter().for_each(|s| draw(s, kind, &mut source));
                    }
                } else {
                    draw(share, kind, &mut source);
                }
            }
            let spent = budget.ledger().verify(total).unwrap().unwrap();
            prop_assert!(spent.leading() > 0.999_999 * total.leading());
        }
    }
}
