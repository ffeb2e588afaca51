//! What was drawn, and what each draw cost: the evidence that a budget was kept.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::account::{Account, Branch};
use super::{Guarantee, Neighbours, ParameterError, Provenance, Rho};

/// Relative slack of the comparisons in [`Ledger::verify`]: a few units in the last place, for
/// quotients and exponentials that are computed again. Sums of costs are exact and need none.
const SLACK: f64 = 16.0 * f64::EPSILON;

/// The ways to buy an output with privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Exact discrete Laplace noise, on the integers or on a grid.
    DiscreteLaplace,
    /// Exact discrete Gaussian noise, on the integers or on a grid.
    DiscreteGaussian,
    /// Laplace noise in floating point.
    ContinuousLaplace,
    /// Gaussian noise in floating point.
    ContinuousGaussian,
    /// The exponential mechanism.
    Exponential,
    /// The exponential mechanism for scores that one record moves in one direction.
    MonotoneExponential,
}

/// A draw of noise or a selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// What was drawn, in the mechanism's words.
    pub label: String,
    /// How.
    pub mechanism: Mechanism,
    /// The sensitivity that the scale was computed for: L1 for Laplace, L2 for Gaussian, of the
    /// scores for selections; with the allowance for rounding to a grid.
    pub sensitivity: f64,
    /// Laplace: b. Gaussian: sigma. Exponential: the temperature t of exp(score / t).
    pub scale: f64,
    /// The spacing of the grid, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<f64>,
    /// The number of noisy values, or of selections.
    pub values: usize,
    /// Where the randomness came from.
    pub randomness: Provenance,
}

/// A draw and the share that paid for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What was drawn.
    #[serde(flatten)]
    pub draw: Draw,
    /// The relation that the sensitivity is for.
    pub neighbours: Neighbours,
    /// The guarantee that the draw keeps.
    pub granted: Guarantee,
    /// The same in the currency of the budget.
    pub cost: Guarantee,
    /// The parts of the records that the draw saw; empty when it saw all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Branch>,
}

/// One line of the ledger file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The draw and its cost.
    #[serde(flatten)]
    pub entry: Entry,
    /// The cost of this and all earlier lines together.
    pub running_total: Guarantee,
}

/// The list of draws that one budget paid for, in their order.
#[derive(Clone, Debug)]
pub struct Ledger {
    currency: Guarantee,
    neighbours: Neighbours,
    account: Account,
    divisions: u32,
    lines: Vec<Line>,
}

/// Why a ledger does not show that a budget was kept. Lines are counted from 1.
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
    /// The scale is too small for the sensitivity and the guarantee.
    #[error("line {line}, '{label}': the noise is too small for {granted}")]
    TooLittleNoise {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
        /// What the draw claims to keep.
        granted: Guarantee,
    },
    /// The sensitivity is for another relation between neighbours than the budget.
    #[error("line {line}, '{label}': the sensitivity is for the relation {found:?}")]
    WrongNeighbours {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
        /// The relation of the draw.
        found: Neighbours,
    },
    /// The cost, or the running total, is not what the draw implies.
    #[error("line {line}, '{label}': the recorded cost or total is not the computed one")]
    WrongCost {
        /// The line.
        line: usize,
        /// Its label.
        label: String,
    },
    /// Not a ledger line.
    #[error("line {line} is not a ledger line")]
    Json {
        /// The line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Ledger {
    pub(super) fn new(currency: Guarantee, neighbours: Neighbours) -> Self {
        let account = Account::default();
        Self { currency, neighbours, account, divisions: 0, lines: Vec::new() }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.account.add(&entry.path, entry.cost);
        let (leading, delta) = self.account.total(self.neighbours, self.currency);
        // At least this entry's cost is in the sums; past the range of floats no budget holds.
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

    /// Computes every cost again, from scale and sensitivity on, adds the costs up and compares
    /// the sum with the budget. Returns the sum, or `None` when nothing was drawn.
    ///
    /// For each line: the relation is the budget's; the noise suffices for the guarantee
    /// (Laplace: sensitivity/b <= epsilon. Gaussian: sensitivity^2/(2 sigma^2) <= rho, or its
    /// (epsilon, delta). Exponential: see [`Share::select`](super::Share::select)); cost and
    /// running total are what follows from it. What no ledger can show is that the sensitivity
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
            account.add(&entry.path, entry.cost);
            let (leading, delta) = account.total(self.neighbours, total);
            if entry.granted.cost_in(total) != Some(entry.cost)
                || total.of_sums(leading, delta) != Some(*running_total)
            {
                return Err(LedgerError::WrongCost { line, label: label() });
            }
        }
        let (leading, delta) = account.total(self.neighbours, total);
        let within = |spent: f64, bound: f64| spent <= bound * (1.0 + SLACK);
        if within(leading, total.leading()) && within(delta, total.delta()) {
            Ok(total.of_sums(leading, delta))
        } else {
            Err(LedgerError::Overspent { leading, delta, total })
        }
    }

    /// Writes a JSON object per line.
    pub fn write_json_lines(&self, mut to: impl Write) -> std::io::Result<()> {
        for line in &self.lines {
            serde_json::to_writer(&mut to, line)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads what [`Ledger::write_json_lines`] wrote, as evidence about a budget with this
    /// relation. Nothing in it is believed before [`Ledger::verify`] has computed it again.
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

impl Draw {
    /// Whether the noise suffices for this guarantee.
    fn keeps(&self, granted: Guarantee) -> Result<bool, ParameterError> {
        let ratio = self.sensitivity / self.scale;
        if !(ratio > 0.0 && ratio.is_finite()) {
            return Ok(false);
        }
        let within = |loss: f64, bound: f64| loss <= bound * (1.0 + SLACK);
        let count = self.values as f64;
        Ok(match self.mechanism {
            Mechanism::DiscreteLaplace | Mechanism::ContinuousLaplace => {
                within(ratio, granted.pure_epsilon()?.get())
            }
            Mechanism::DiscreteGaussian | Mechanism::ContinuousGaussian => {
                let rho = Rho::new(ratio * ratio / 2.0)?;
                match granted {
                    Guarantee::Concentrated { rho: bound } => within(rho.get(), bound.get()),
                    Guarantee::Approximate { epsilon, delta } => {
                        within(rho.epsilon(delta)?.get(), epsilon.get())
                    }
                    // No Gaussian is pure.
                    Guarantee::Pure { .. } => false,
                }
            }
            Mechanism::Exponential | Mechanism::MonotoneExponential => {
                let factor = if self.mechanism == Mechanism::Exponential { 2.0 } else { 1.0 };
                let epsilon = factor * ratio;
                match granted {
                    Guarantee::Concentrated { rho } => {
                        within(count * epsilon * epsilon / 8.0, rho.get())
                    }
                    Guarantee::Pure { epsilon: bound }
                    | Guarantee::Approximate { epsilon: bound, .. } => {
                        within(count * epsilon, bound.get())
                    }
                }
            }
        })
    }
}
