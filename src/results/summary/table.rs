use super::super::convergence::unconverged_note;
use super::super::statistics::{Interval, Spread};
use super::super::text_table::{TextTable, number};
use super::{Group, REFERENCE_ARM, Summary};
use crate::config::{Metric, Status};
use private_pgm::numeric::bytes::Bytes;

/// Comparisons in a row at most; more are in rows of their own below.
const PER_ROW: usize = 2;

/// Their column.
const COMPARISONS: usize = 6;

impl Summary {
    /// The table of a metric for a terminal, one block per mechanism. A star marks stand-ins, a
    /// dagger numbers from estimates that have not converged.
    pub fn table(&self, metric: Metric) -> String {
        let mut mechanisms: Vec<&str> = Vec::new();
        for group in &self.groups {
            if !mechanisms.contains(&group.mechanism.as_str()) {
                mechanisms.push(&group.mechanism);
            }
        }
        let blocks = mechanisms.iter().map(|&mechanism| self.block(mechanism, metric));
        let mut text = blocks.collect::<Vec<_>>().join("\n");
        if metric == Metric::WorkloadError
            && let Some(coverage) = self.coverage()
        {
            text += &format!(
                "\n[low, high]: the median of all possible trials is in it with a probability of \
                 {:.1} %\n",
                100.0 * coverage
            );
        }
        if self.groups.iter().any(|group| mark(group, metric).is_some()) {
            text += &format!("\n{}\n", unconverged_note());
        }
        if self.groups.iter().any(|group| group.standin) {
            text += "\n* stand-in: synthetic records in place of data that does not ship\n";
        }
        text
    }

    /// The smallest coverage of the intervals of ratios.
    fn coverage(&self) -> Option<f64> {
        let intervals = self.groups.iter().filter_map(|group| group.ratio?.interval);
        intervals.map(|interval| interval.coverage).min_by(f64::total_cmp)
    }

    fn block(&self, mechanism: &str, metric: Metric) -> String {
        let median = format!("median {}", metric.label());
        let heading = [
            "dataset",
            "case",
            "epsilon",
            "arm",
            &median,
            "range",
            "times better than",
            "seconds",
            "trials",
        ];
        let mut table = TextTable::new(heading);
        let epsilon = self.groups.first().map(|group| group.epsilon);
        let has_epsilons = self.groups.iter().any(|group| Some(group.epsilon) != epsilon);
        for group in self.groups.iter().filter(|group| group.mechanism == mechanism) {
            let error = group.spread(metric);
            let seconds = group.spread(Metric::EstimateSeconds);
            let text = |spread: Option<Spread>, text: fn(Spread) -> String| {
                spread.map_or_else(String::new, text)
            };
            let comparisons = match metric {
                Metric::WorkloadError => self.comparisons(group),
                _ => Vec::new(),
            };
            let mut comparisons = comparisons.chunks(PER_ROW).map(|row| row.join(", "));
            table.push([
                format!("{}{}", group.dataset, if group.standin { " *" } else { "" }),
                group.case.clone(),
                if has_epsilons { group.epsilon.to_string() } else { String::new() },
                group.arm.clone(),
                match (error, mark(group, metric)) {
                    (None, _) => no_error(group),
                    (Some(error), None) => number(error.median),
                    (Some(error), Some(mark)) => format!("{} {mark}", number(error.median)),
                },
                text(error, range),
                comparisons.next().unwrap_or_default(),
                text(seconds, |seconds| number(seconds.median)),
                group.endings.to_string(),
            ]);
            for more in comparisons {
                let mut row = <[String; 9]>::default();
                row[COMPARISONS] = more;
                table.push(row);
            }
        }
        let lines: Vec<_> = table.lines().iter().map(|line| format!("  {line}\n")).collect();
        format!("{mechanism}\n{}", lines.concat())
    }

    /// For the reference arm: how many times better it is than each of the others.
    fn comparisons(&self, group: &Group) -> Vec<String> {
        if group.arm != REFERENCE_ARM {
            return Vec::new();
        }
        let matches_except_arm = |other: &&Group| {
            (&other.dataset, other.attributes, &other.case, &other.mechanism)
                == (&group.dataset, group.attributes, &group.case, &group.mechanism)
                && (other.epsilon, other.delta) == (group.epsilon, group.delta)
        };
        let others = self.groups.iter().filter(matches_except_arm);
        let texts = others.filter_map(|other| {
            other.ratio.map(|ratio| {
                format!("{} {}", other.arm, with_interval(ratio.median, ratio.interval))
            })
        });
        texts.collect()
    }
}

/// From the smallest to the largest value; empty for a single trial.
fn range(spread: Spread) -> String {
    match spread.count {
        1 => String::new(),
        _ => format!("{} to {}", number(spread.min), number(spread.max)),
    }
}

fn mark(group: &Group, metric: Metric) -> Option<&'static str> {
    group.mark().filter(|_| metric.is_about_the_estimate())
}

/// The text in place of the error of an arm without an estimate.
fn no_error(group: &Group) -> String {
    match (group.endings, group.peak_bytes) {
        (endings, Some(needed)) if endings.infeasible > 0 => {
            format!("infeasible, {}", Bytes(needed))
        }
        (endings, _) if endings.infeasible > 0 => "infeasible".into(),
        (endings, _) if endings.timeout > 0 => "timeout".into(),
        (endings, _) if endings.not_applicable > 0 => Status::NotApplicable.to_string(),
        (endings, _) if endings.failed > 0 => "failed".into(),
        _ => "-".into(),
    }
}

/// The median and its interval: `3.220 [3.050, 3.400]`.
pub(in super::super) fn with_interval(median: f64, interval: Option<Interval>) -> String {
    let median = number(median);
    match interval {
        Some(interval) => {
            format!("{median} [{}, {}]", number(interval.low), number(interval.high))
        }
        None => median,
    }
}
