//! Numbers of trials, and whether they are as expected.

use std::collections::BTreeMap;

use super::super::rates::{above_minimum, exponent};
use super::super::record::{TraceRecord, TrialRecord};
use super::super::statistics::Spread;
use super::super::summary::Endings;
use super::super::text_table::number;
use super::Verdict;
use super::check::Judgement;
use crate::config::claim::{Bounds, Claim, Over, Quantity, Trend};
use crate::config::{Metric, Status};

/// The quantity at one epsilon.
pub(super) struct Measured {
    epsilon: f64,
    /// `None` without trials.
    pub(super) spread: Option<Spread>,
    /// Why the trials cannot decide, if they cannot.
    lack: Option<String>,
}

impl Claim {
    /// The quantity at each epsilon, from the rows of the claim.
    pub(super) fn measure(
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
                Quantity::Median { metric }
                | Quantity::Largest { metric }
                | Quantity::Coverage { metric } => {
                    own.iter().filter_map(|row| metric.of(row)).collect()
                }
                Quantity::Rebound => own.iter().filter_map(|row| rebound(row, traces)).collect(),
                Quantity::Minimum => {
                    let errors = own.iter().filter_map(|row| lowest(row, traces));
                    errors.map(|trace| trace.workload_error).collect()
                }
                Quantity::Exponent { metric, over, from } => {
                    exponents(*metric, *over, *from, &own, traces)
                }
                Quantity::Argmin => {
                    let places = own.iter().filter_map(|row| lowest(row, traces));
                    places.map(|trace| trace.iteration as f64).collect()
                }
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
                // Of all answers, of which each trial has about as many.
                Quantity::Coverage { .. } => mean(&values).into_iter().collect(),
                _ => values,
            };
            Measured { epsilon, spread: Spread::of(counted), lack }
        };
        epsilons.into_iter().map(at).collect()
    }
}

/// The exponent of each trial: over the datasets, or over the iterations of a row.
fn exponents(
    metric: Metric,
    over: Over,
    from: f64,
    rows: &[&TrialRecord],
    traces: &[TraceRecord],
) -> Vec<f64> {
    let mut points: BTreeMap<(&str, usize), Vec<(f64, f64)>> = BTreeMap::new();
    match over {
        Over::Records => {
            for row in rows.iter().filter(|row| row.records as f64 >= from) {
                let value = metric.of(row).map(|value| (row.records as f64, value));
                points.entry((&row.case, row.trial)).or_default().extend(value);
            }
        }
        Over::Iterations => {
            let loss = if metric == Metric::L1Loss { l1_loss } else { l2_loss };
            for (trace, excess) in above_minimum(traces, loss) {
                let row = rows.iter().find(|row| row.key == trace.key);
                let is_counted = |row: &&&TrialRecord| row.status == Status::Done;
                if let Some(row) = row.filter(is_counted)
                    && trace.iteration as f64 >= from
                {
                    let point = (trace.iteration as f64, excess);
                    points.entry((&row.dataset, row.trial)).or_default().push(point);
                }
            }
        }
    }
    points.into_values().filter_map(exponent).collect()
}

fn l1_loss(trace: &TraceRecord) -> f64 {
    trace.l1_loss
}

fn l2_loss(trace: &TraceRecord) -> f64 {
    trace.l2_loss
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The trace of the row with the smallest workload error, the first of several.
fn lowest<'a>(row: &TrialRecord, traces: &'a [TraceRecord]) -> Option<&'a TraceRecord> {
    let of_row = own(row, traces);
    of_row.min_by(|a, b| {
        let by_error = a.workload_error.total_cmp(&b.workload_error);
        by_error.then(a.iteration.cmp(&b.iteration))
    })
}

/// The last workload error of the row's trace divided by the smallest.
fn rebound(row: &TrialRecord, traces: &[TraceRecord]) -> Option<f64> {
    let last = own(row, traces).max_by_key(|trace| trace.iteration)?.workload_error;
    let smallest = lowest(row, traces)?.workload_error;
    Some(if last == smallest { 1.0 } else { last / smallest })
}

/// The traces of a row; none unless it is done.
fn own<'a>(row: &TrialRecord, traces: &'a [TraceRecord]) -> impl Iterator<Item = &'a TraceRecord> {
    traces.iter().filter(|trace| trace.key == row.key && row.status == Status::Done)
}

pub(super) fn within(bounds: Bounds, needs_winner: bool, measured: &[Measured]) -> Judgement {
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

pub(super) fn follows(trend: Trend, slack: f64, measured: &[Measured]) -> Judgement {
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

pub(super) fn too_few(count: usize, needed: usize, details: &str) -> String {
    format!("only {count} of the {needed} trials needed ended ({details})")
}

/// The medians, each with its epsilon if there are several.
pub(super) fn text_of(measured: &[Measured]) -> String {
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
