use super::Facts;
use super::chart::{Outcome, Panel};
use crate::results::{Metric, Spread, Status, TrialRecord, unconverged_note};
use private_pgm::numeric::bytes::Bytes;

/// How the trials that one bar or one point stands for ended.
#[derive(Debug, Default)]
pub(super) struct Tally {
    values: Vec<f64>,
    needed_bytes: Vec<f64>,
    done: usize,
    unconverged: usize,
    infeasible: usize,
    timeout: usize,
    failed: usize,
}

impl Tally {
    /// Counts `trials`; `metric` is the number that is shown of those that are done.
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
                Status::Failed => tally.failed += 1,
            }
        }
        tally
    }

    /// Whether there were no trials at all.
    pub(super) fn is_empty(&self) -> bool {
        self.done + self.infeasible + self.timeout + self.failed == 0
    }

    /// Median and range over the trials that are done.
    pub(super) fn spread(&self) -> Option<Spread> {
        spread_of(self.values.iter().copied())
    }

    /// How many of the trials that are done have not converged, as far as the metric depends on it.
    pub(super) fn unconverged(&self) -> usize {
        self.unconverged
    }

    /// Why no trial is done, when that is so and there is a reason.
    pub(super) fn mark(&self, facts: &Facts) -> Option<String> {
        match self {
            Self { done: 1.., .. } => None,
            Self { infeasible: 1.., .. } => {
                Some(match spread_of(self.needed_bytes.iter().copied()) {
                    Some(needed) => format!("infeasible: would need {}", Bytes(needed.median)),
                    None => "infeasible".into(),
                })
            }
            Self { timeout: 1.., .. } => Some(facts.timeout()),
            Self { failed: 1.., .. } => Some("failed".into()),
            _ => None,
        }
    }

    /// What a bar shows.
    pub(super) fn outcome(&self, facts: &Facts) -> Outcome {
        match (self.spread(), self.mark(facts)) {
            (Some(spread), _) => Outcome::Value(spread),
            (None, Some(mark)) => Outcome::Mark(mark),
            (None, None) => Outcome::Missing,
        }
    }

    /// What a median leaves out: `2 of 5 trials failed`. Nothing where all are done, and nothing
    /// about what [`Tally::mark`] says already.
    pub(super) fn left_out(&self) -> Option<String> {
        let total = self.done + self.infeasible + self.timeout + self.failed;
        let kinds = [
            (self.failed, "failed"),
            (self.timeout, "ran out of time"),
            (self.infeasible, "did not fit into memory"),
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

/// The values' spread; those that are not finite cannot be drawn and do not count.
pub(super) fn spread_of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    Spread::of(values.into_iter().filter(|value| value.is_finite()))
}

/// One note for all that medians leave out, or nothing.
pub(super) fn left_out_note(parts: &[(String, String)]) -> Option<String> {
    let listed: Vec<String> = parts.iter().map(|(of, what)| format!("{of}: {what}")).collect();
    (!listed.is_empty()).then(|| format!("Not in the medians: {}.", listed.join("; ")))
}

/// What the marks of estimates that have not converged mean, or nothing where there are none.
pub(super) fn marks_note(panels: &[Panel]) -> Option<String> {
    panels.iter().any(Panel::has_unconverged).then(|| unconverged_note() + ".")
}

/// One note for the lines that are not there, each with its reason, or nothing.
pub(super) fn no_line_note(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| format!("No line for {}.", parts.join(", ")))
}

/// `median of 5 trials, {ranges} from the smallest to the largest`.
pub(super) fn trials_phrase(trials: impl IntoIterator<Item = usize>, ranges: &str) -> String {
    let mut numbers: Vec<usize> = trials.into_iter().collect();
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.len() {
        0 => String::new(),
        1 => "one trial".into(),
        count => format!("median of {count} trials, {ranges} from the smallest to the largest"),
    }
}
