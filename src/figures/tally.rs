use super::Facts;
use super::chart::{Bar, Outcome, Panel, Shown};
use crate::config::Statistic;
use crate::results::{Metric, Spread, Status, TrialRecord, unconverged_note};
use private_pgm::numeric::bytes::Bytes;

/// How the trials behind one bar or one point ended.
#[derive(Debug, Default)]
pub(super) struct Tally {
    values: Vec<f64>,
    needed_bytes: Vec<f64>,
    done: usize,
    unconverged: usize,
    infeasible: usize,
    timeout: usize,
    not_applicable: usize,
    failed: usize,
}

impl Tally {
    /// Counts `trials`, and collects the values of `metric` of those that are done.
    pub(super) fn of<'a>(
        trials: impl IntoIterator<Item = &'a TrialRecord>,
        metric: Metric,
    ) -> Self {
        let mut tally = Self::default();
        for trial in trials {
            match trial.status {
                Status::Done => {
                    tally.done += 1;
                    let is_marked = metric.is_about_the_estimate() && trial.is_unconverged();
                    tally.unconverged += usize::from(is_marked);
                    tally.values.extend(metric.of(trial));
                }
                Status::Infeasible => {
                    tally.infeasible += 1;
                    tally.needed_bytes.extend(trial.peak_bytes);
                }
                Status::Timeout => tally.timeout += 1,
                Status::NotApplicable => tally.not_applicable += 1,
                Status::Failed => tally.failed += 1,
            }
        }
        tally
    }

    fn trials(&self) -> usize {
        self.done + self.infeasible + self.timeout + self.not_applicable + self.failed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.trials() == 0
    }

    /// Median and range, or mean and standard error, over the trials that are done.
    pub(super) fn shown(&self, statistic: Statistic) -> Option<Shown> {
        shown_of(self.values.iter().copied(), statistic)
    }

    /// The number of done trials that have not converged; 0 if the metric does not depend on it.
    pub(super) fn unconverged(&self) -> usize {
        self.unconverged
    }

    /// Why no trial is done; `None` if some trial is done, or there are no trials.
    pub(super) fn failure(&self, facts: &Facts) -> Option<String> {
        match self {
            Self { done: 1.., .. } => None,
            Self { infeasible: 1.., .. } => {
                Some(match shown_of(self.needed_bytes.iter().copied(), Statistic::Median) {
                    Some(needed) => format!("infeasible: would need {}", Bytes(needed.value)),
                    None => "infeasible".into(),
                })
            }
            Self { timeout: 1.., .. } => Some(facts.timeout()),
            Self { not_applicable: 1.., .. } => Some(Status::NotApplicable.to_string()),
            Self { failed: 1.., .. } => Some("failed".into()),
            _ => None,
        }
    }

    pub(super) fn bar(&self, series: usize, facts: &Facts) -> Bar {
        let outcome = match (self.shown(facts.statistic), self.failure(facts)) {
            (Some(shown), _) => Outcome::Value(shown),
            (None, Some(reason)) => Outcome::Failure(reason),
            (None, None) => Outcome::Missing,
        };
        Bar { series, outcome, unconverged: self.unconverged }
    }

    /// What a median or mean leaves out: `2 of 5 trials failed`. `None` if all trials ended in the
    /// same way: they are all done, or [`Tally::failure`] has the reason.
    fn left_out(&self) -> Option<String> {
        let total = self.trials();
        let kinds = [
            (self.failed, "failed"),
            (self.timeout, "ran out of time"),
            (self.infeasible, "did not fit into memory"),
            (self.not_applicable, "had nothing to estimate from"),
        ];
        let parts: Vec<String> = kinds
            .iter()
            .filter(|&&(count, _)| count > 0 && count < total)
            .enumerate()
            .map(|(i, (count, how))| match i {
                0 => format!("{count} of {total} trials {how}"),
                _ => format!("{count} {how}"),
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// What is shown of the finite values; others cannot be drawn.
pub(super) fn shown_of(
    values: impl IntoIterator<Item = f64>,
    statistic: Statistic,
) -> Option<Shown> {
    let spread = Spread::of(values.into_iter().filter(|value| value.is_finite()))?;
    Some(Shown::of(&spread, statistic))
}

/// What a chart leaves out, for the notes under it.
#[derive(Debug, Default)]
pub(super) struct Omissions {
    no_line: Vec<String>,
    left_out: Vec<String>,
}

impl Omissions {
    /// Records which of the trials behind `tally` the number at `place` leaves out.
    pub(super) fn add(&mut self, place: &str, tally: &Tally) {
        self.left_out.extend(tally.left_out().map(|what| format!("{place}: {what}")));
    }

    /// Records that a line is missing, and why.
    pub(super) fn add_missing_line(&mut self, place: &str, reason: &str) {
        self.no_line.push(format!("{place} ({reason})"));
    }

    /// A note about missing lines and one about excluded trials, if there are any.
    pub(super) fn notes(&self) -> [Option<String>; 2] {
        let note = |parts: &[String], words: &str, separator: &str| {
            (!parts.is_empty()).then(|| format!("{words} {}.", parts.join(separator)))
        };
        [note(&self.no_line, "No line for", ", "), note(&self.left_out, "Left out:", "; ")]
    }
}

/// The meaning of the dagger, if some panel has one.
pub(super) fn unconverged_mark_note(panels: &[Panel]) -> Option<String> {
    panels.iter().any(Panel::has_unconverged).then(|| unconverged_note() + ".")
}

/// `median of 5 trials, {ranges} from the smallest to the largest`, or the mean with standard
/// errors.
pub(super) fn trials_phrase(
    trials: impl IntoIterator<Item = usize>,
    ranges: &str,
    statistic: Statistic,
) -> String {
    let mut numbers: Vec<usize> = trials.into_iter().collect();
    numbers.sort_unstable();
    numbers.dedup();
    match (numbers.len(), statistic) {
        (0, _) => String::new(),
        (1, _) => "one trial".into(),
        (count, Statistic::Median) => {
            format!("median of {count} trials, {ranges} from the smallest to the largest")
        }
        (count, Statistic::Mean) => {
            format!("mean of {count} trials, {ranges} of one standard error to either side")
        }
    }
}
