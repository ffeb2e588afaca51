use std::collections::BTreeMap;
use std::fmt;

use super::super::record::{TraceRecord, TrialRecord};
use super::super::statistics::Spread;
use super::super::summary::Endings;
use super::super::text_table::number;
use super::{Finding, Verdict};
use crate::config::Status;
use crate::config::claim::{Bounds, Claim, Expectation, Quantity, Statement, Trend};

/// A verdict and its reason.
type Judgement = (Verdict, String);

/// The quantity at one epsilon.
struct Measured {
    epsilon: f64,
    /// `None` without trials.
    spread: Option<Spread>,
    /// Why the trials cannot decide, if they cannot.
    lack: Option<String>,
}

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
        };
        let standin = rows.iter().find(|row| row.standin);
        let (verdict, why) = match (standin, verdict) {
            (Some(row), Verdict::Holds | Verdict::Differs) => {
                let would = if verdict == Verdict::Holds { "agree" } else { "do not agree" };
                let dataset = &row.dataset;
                let why = format!("{dataset} is a stand-in; its records {would}: {why}");
                (Verdict::CannotTell, why)
            }
            _ => (verdict, why),
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

    fn measure(
        &self,
        quantity: &Quantity,
        rows: &[&TrialRecord],
        traces: &[TraceRecord],
    ) -> Vec<Measured> {
        let mut epsilons =
            self.epsilon.clone().unwrap_or_else(|| rows.iter().map(|row| row.epsilon).collect());
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        let at = |epsilon: f64| {
            let of_side = |side: (&str, &str)| -> Vec<&TrialRecord> {
                let is_here = |row: &&&TrialRecord| {
                    row.epsilon == epsilon && side == (&row.mechanism, &row.arm)
                };
                rows.iter().filter(is_here).copied().collect()
            };
            let own = of_side((&self.mechanism, &self.arm));
            let values: Vec<f64> = match quantity {
                Quantity::Ratio { against, metric } => {
                    metric.paired_ratios(&own, &of_side((&against.mechanism, &against.arm)))
                }
                Quantity::Median { metric } | Quantity::Largest { metric } => {
                    own.iter().filter_map(|row| metric.of(row)).collect()
                }
                Quantity::Rebound => own.iter().filter_map(|row| rebound(row, traces)).collect(),
            };
            let lack = (values.len() < self.min_trials).then(|| {
                let ends =
                    |side: (&str, &str)| format!("{}: {}", side.1, Endings::of(of_side(side)));
                let ended: Vec<_> = self.sides().map(ends).collect();
                let trials = too_few(values.len(), self.min_trials, &ended.join("; "));
                format!("at epsilon {epsilon} {trials}")
            });
            let counted = match quantity {
                Quantity::Largest { .. } => {
                    values.into_iter().reduce(f64::max).into_iter().collect()
                }
                _ => values,
            };
            Measured { epsilon, spread: Spread::of(counted), lack }
        };
        epsilons.into_iter().map(at).collect()
    }

    fn no_trials(&self) -> String {
        format!("no {} trials of {} that are done", self.arm, self.mechanism)
    }
}

/// The last workload error of the row's trace divided by the smallest.
fn rebound(row: &TrialRecord, traces: &[TraceRecord]) -> Option<f64> {
    let own = traces.iter().filter(|trace| trace.key == row.key && row.status == Status::Done);
    let last = own.clone().max_by_key(|trace| trace.iteration)?.workload_error;
    let smallest = own.map(|trace| trace.workload_error).reduce(f64::min)?;
    Some(if last == smallest { 1.0 } else { last / smallest })
}

fn within(bounds: Bounds, needs_winner: bool, measured: &[Measured]) -> Judgement {
    let lack = lack_of(measured);
    let enough = || measured.iter().filter(|at| at.lack.is_none());
    let medians = || enough().filter_map(|at| Some((at, at.spread?)));
    if let Some((at, spread)) = medians().find(|(_, spread)| !bounds.contain(spread.median)) {
        let place = match measured.len() {
            1 => String::new(),
            _ => format!(" at epsilon {}", at.epsilon),
        };
        let why = format!("{} is not {bounds}{place}", number(spread.median));
        return (Verdict::Differs, why + &interval_across_bound(bounds, &spread));
    }
    if let Some(lack) = lack {
        return (Verdict::CannotTell, lack);
    }
    if needs_winner && let Some(draw) = medians().find_map(|(at, spread)| undecided(at, &spread)) {
        return (Verdict::CannotTell, draw);
    }
    let doubt = medians().map(|(_, spread)| interval_across_bound(bounds, &spread));
    let doubt = doubt.max_by_key(String::len).unwrap_or_default();
    (Verdict::Holds, format!("{} is {bounds}{doubt}", text_of(measured)))
}

fn follows(trend: Trend, slack: f64, measured: &[Measured]) -> Judgement {
    if let Some(lack) = lack_of(measured) {
        return (Verdict::CannotTell, lack);
    }
    let falling: Vec<(f64, f64)> =
        measured.iter().rev().filter_map(|at| Some((at.epsilon, at.spread?.median))).collect();
    let [(_, first), .., (_, last)] = falling[..] else {
        return (Verdict::CannotTell, "trials at two values of epsilon are needed".into());
    };
    let is_step = |from: f64, to: f64| match trend {
        Trend::Grows => to * slack >= from,
        Trend::Shrinks => to <= from * slack,
    };
    let verb = if trend == Trend::Grows { "grow" } else { "shrink" };
    for pair in falling.windows(2) {
        let [(above, from), (below, to)] = [pair[0], pair[1]];
        if !is_step(from, to) {
            let (from, to) = (number(from), number(to));
            let why = format!("from epsilon {above} to {below} it goes from {from} to {to}");
            return (Verdict::Differs, format!("does not {verb}: {why}"));
        }
    }
    let has_moved = if trend == Trend::Grows { last > first } else { last < first };
    let ends = format!("from {} to {} as epsilon falls", number(first), number(last));
    match has_moved {
        true => (Verdict::Holds, format!("{verb}s {ends}")),
        false => (Verdict::Differs, format!("does not {verb} {ends}")),
    }
}

fn lack_of(measured: &[Measured]) -> Option<String> {
    if measured.is_empty() {
        return Some("there are no trials".into());
    }
    measured.iter().find_map(|at| at.lack.clone())
}

fn too_few(count: usize, needed: usize, details: &str) -> String {
    format!("only {count} of the {needed} trials needed ended ({details})")
}

/// The medians, each with its epsilon if there are several.
fn text_of(measured: &[Measured]) -> String {
    let median = |at: &Measured| at.spread.map_or("-".into(), |spread| number(spread.median));
    match measured {
        [] => "-".into(),
        [single] => median(single),
        several => {
            let texts = several.iter().map(|at| format!("{} (epsilon {})", median(at), at.epsilon));
            texts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Why a ratio names no winner, if its interval includes 1.
fn undecided(at: &Measured, spread: &Spread) -> Option<String> {
    let interval = spread.interval?;
    let includes_one = interval.low <= 1.0 && interval.high >= 1.0;
    includes_one.then(|| {
        let coverage = 100.0 * interval.coverage;
        let (low, high) = (number(interval.low), number(interval.high));
        format!("at epsilon {} the {coverage:.1} % interval [{low}, {high}] includes 1", at.epsilon)
    })
}

/// The addition to the reason if an end of the interval is on the other side of a bound than the
/// median.
fn interval_across_bound(bounds: Bounds, spread: &Spread) -> String {
    let Some(interval) = spread.interval else { return String::new() };
    let is_in = bounds.contain(spread.median);
    if [interval.low, interval.high].iter().all(|&end| bounds.contain(end) == is_in) {
        return String::new();
    }
    let coverage = 100.0 * interval.coverage;
    let (low, high) = (number(interval.low), number(interval.high));
    format!(", though the {coverage:.1} % interval [{low}, {high}] leaves it open")
}

impl Bounds {
    fn contain(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, false) => write!(f, "at least {}", number(self.low)),
            (false, true) => write!(f, "at most {}", number(self.high)),
            _ => write!(f, "between {} and {}", number(self.low), number(self.high)),
        }
    }
}
