use std::collections::BTreeMap;
use std::fmt;

use super::super::record::{TraceRecord, TrialRecord};
use super::super::summary::Endings;
use super::super::text_table::number;
use super::measure::{follows, text_of, too_few, within};
use super::{Finding, Verdict};
use crate::config::Status;
use crate::config::claim::{Bounds, Claim, Expectation, Quantity, Statement};

/// A verdict and its reason.
pub(super) type Judgement = (Verdict, String);

const NO_TRIALS: &str = "a claim about the data, which has no trials";

impl Claim {
    /// Compares the claim with the rows of one configuration (no stale ones, one for each trial
    /// and arm) and their traces.
    ///
    /// Medians decide. The reason names the interval if it extends across a bound. If the bounds of
    /// a ratio name a winner, an interval that includes 1 cannot tell. A single epsilon that
    /// disagrees makes the claim differ. With missing rows or a stand-in for the data the
    /// verdict is [`Verdict::CannotTell`], and the value is shown nevertheless.
    pub fn check(&self, rows: &[TrialRecord], traces: &[TraceRecord]) -> Finding {
        let is_ours = |row: &&TrialRecord| {
            self.sides().any(|side| side == (&row.mechanism, &row.arm))
                && self.case.as_ref().is_none_or(|case| *case == row.case)
                && self.dataset.as_ref().is_none_or(|dataset| *dataset == row.dataset)
                && self.epsilon.as_ref().is_none_or(|list| list.contains(&row.epsilon))
        };
        let rows: Vec<&TrialRecord> = rows.iter().filter(is_ours).collect();
        let mut measured = Vec::new();
        let (ours, (verdict, why)) = match &self.statement {
            Statement::Ends(statuses) => self.check_endings(statuses, &rows),
            Statement::Reaches(bounds) => self.check_reach(*bounds, &rows),
            Statement::Measures(quantity, expectation) => {
                measured = self.measure(quantity, &rows, traces);
                let judgement = match expectation {
                    Expectation::Within(bounds) => {
                        let is_ratio = matches!(quantity, Quantity::Ratio { .. });
                        within(*bounds, is_ratio && bounds.name_a_winner(), &measured)
                    }
                    Expectation::AsEpsilonFalls { trend, slack } => {
                        follows(*trend, *slack, &measured)
                    }
                };
                (text_of(&measured), judgement)
            }
            Statement::Describes(..) => ("-".into(), (Verdict::CannotTell, NO_TRIALS.into())),
        };
        let standin = rows.iter().find(|row| row.standin);
        let (verdict, why) = match standin {
            Some(row) => on_standin(&row.dataset, verdict, why),
            None => (verdict, why),
        };
        let single = match &measured[..] {
            [single] => single.spread,
            _ => None,
        };
        let interval = single.and_then(|spread| spread.interval);
        Finding {
            says: self.says.clone(),
            role: self.role,
            paper: self.paper.to_string(),
            ours,
            value: single.map(|spread| spread.median),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            coverage: interval.map(|interval| interval.coverage),
            verdict,
            why,
        }
    }

    fn check_endings(&self, statuses: &[Status], rows: &[&TrialRecord]) -> (String, Judgement) {
        let endings = Endings::of(rows.iter().copied());
        let (ended, count) = (endings.to_string(), rows.len());
        let names: Vec<_> = statuses.iter().map(ToString::to_string).collect();
        let names = names.join(" or ");
        let judgement = if rows.iter().any(|row| {
            // A failure is no evidence of how the arm would have ended.
            !statuses.contains(&row.status) && row.status != Status::Failed
        }) {
            (Verdict::Differs, format!("not all trials are {names}: {ended}"))
        } else if count < self.min_trials {
            (Verdict::CannotTell, too_few(count, self.min_trials, &self.arm))
        } else if rows.iter().any(|row| !statuses.contains(&row.status)) {
            (Verdict::CannotTell, format!("some trials failed: {ended}"))
        } else {
            (Verdict::Holds, format!("all trials are {names}"))
        };
        (ended, judgement)
    }

    /// The arm has reached a size if all of its trials of that size are done. It is known to end
    /// above that size if a trial with more attributes is infeasible or exceeds the time limit.
    fn check_reach(&self, bounds: Bounds, rows: &[&TrialRecord]) -> (String, Judgement) {
        let mut sizes: BTreeMap<usize, Vec<&TrialRecord>> = BTreeMap::new();
        for row in rows {
            sizes.entry(row.attributes).or_default().push(row);
        }
        let is_reached = |rows: &[&TrialRecord]| {
            rows.len() >= self.min_trials && rows.iter().all(|row| row.status == Status::Done)
        };
        let Some(reached) = sizes.iter().rev().find(|(_, rows)| is_reached(rows)) else {
            return ("nothing".into(), (Verdict::CannotTell, self.no_trials()));
        };
        let reached = *reached.0;
        let has_ended =
            |row: &&TrialRecord| matches!(row.status, Status::Infeasible | Status::Timeout);
        let above = sizes.range(reached + 1..);
        let ended =
            above.filter(|(_, rows)| rows.iter().any(has_ended)).map(|(&size, _)| size).next();
        let size = reached as f64;
        let judgement = match ended {
            _ if size > bounds.high => (Verdict::Differs, format!("{reached} is not {bounds}")),
            Some(end) if size < bounds.low && end as f64 <= bounds.low => {
                (Verdict::Differs, format!("ends before {end} attributes, which is not {bounds}"))
            }
            _ if size < bounds.low => {
                let why = format!("not tried between {reached} and {} attributes", bounds.low);
                (Verdict::CannotTell, why)
            }
            None if bounds.high.is_finite() => {
                let why = format!("not tried with more than {reached} attributes");
                (Verdict::CannotTell, why)
            }
            _ => (Verdict::Holds, format!("{reached} is {bounds}")),
        };
        (reached.to_string(), judgement)
    }

    fn no_trials(&self) -> String {
        format!("no {} trials of {} that are done", self.arm, self.mechanism)
    }
}

/// A stand-in tells nothing about the data.
pub(super) fn on_standin(dataset: &str, verdict: Verdict, why: String) -> Judgement {
    let would = match verdict {
        Verdict::Holds => "agree",
        Verdict::Differs => "do not agree",
        Verdict::CannotTell => return (verdict, why),
    };
    let why = format!("{dataset} is a stand-in; its records {would}: {why}");
    (Verdict::CannotTell, why)
}

impl Bounds {
    pub(super) fn contain(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            _ if self.low == self.high && self.low.fract() == 0.0 && self.low.abs() < 1e9 => {
                write!(f, "exactly {}", self.low)
            }
            _ if self.low == self.high => write!(f, "exactly {}", number(self.low)),
            (true, false) => write!(f, "at least {}", number(self.low)),
            (false, true) => write!(f, "at most {}", number(self.high)),
            _ => write!(f, "between {} and {}", number(self.low), number(self.high)),
        }
    }
}
