//! What has changed between two results of an experiment.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::claims::{Finding, Verdict};
use super::record::TrialRecord;
use super::statistics::PairedRatio;
use super::summary::Endings;
use crate::config::Metric;

/// What distinguishes the trials of an arm, as text: dataset, case, mechanism, arm, budget.
type Place = String;

/// Whether a change is for the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// No number differs.
    Same,
    /// Numbers differ, and neither of the two below is certain.
    Unclear,
    Better,
    Worse,
}

/// The trials of one arm, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmChange {
    pub place: Place,
    pub before: Endings,
    pub after: Endings,
    /// The metric after divided by that before, in the trials that have both.
    pub ratio: Option<PairedRatio>,
    pub direction: Direction,
}

/// A claim with another verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlippedClaim {
    pub says: String,
    pub before: Verdict,
    pub after: Verdict,
    pub direction: Direction,
}

/// The changes from one set of results to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Of the arms in both, in the order of the results before.
    pub arms: Vec<ArmChange>,
    pub only_before: Vec<Place>,
    pub only_after: Vec<Place>,
    pub claims: Vec<FlippedClaim>,
    /// Rows with the same key, so of the same configuration, data and version of the numbers.
    pub same_keys: usize,
}

impl Changes {
    /// Compares rows by their coordinates: dataset, case, mechanism, arm, budget and trial. A
    /// change of the median by at most the factor 1 + `tolerance` is neither better nor worse.
    pub fn between(
        (before, after): (&[TrialRecord], &[TrialRecord]),
        (claims_before, claims_after): (&[Finding], &[Finding]),
        metric: Metric,
        tolerance: f64,
    ) -> Self {
        let (first, second) = (grouped(before), grouped(after));
        let places = ordered(before);
        let arms = places.iter().filter_map(|place| {
            let rows = (&first.get(place)?[..], &second.get(place)?[..]);
            Some(ArmChange::between(place, rows, metric, tolerance))
        });
        let missing = |places: Vec<Place>, there: &BTreeMap<Place, Vec<&TrialRecord>>| {
            places.into_iter().filter(|place| !there.contains_key(place)).collect()
        };
        let keys: BTreeSet<&str> = before.iter().map(|row| row.key.as_str()).collect();
        Self {
            arms: arms.collect(),
            only_before: missing(ordered(before), &second),
            only_after: missing(ordered(after), &first),
            claims: flipped(claims_before, claims_after),
            same_keys: after.iter().filter(|row| keys.contains(row.key.as_str())).count(),
        }
    }

    /// Whether an arm or a claim is worse.
    pub fn any_worse(&self) -> bool {
        let arms = self.arms.iter().map(|arm| arm.direction);
        arms.chain(self.claims.iter().map(|claim| claim.direction))
            .any(|direction| direction == Direction::Worse)
    }
}

impl ArmChange {
    fn between(
        place: &Place,
        (before, after): (&[&TrialRecord], &[&TrialRecord]),
        metric: Metric,
        tolerance: f64,
    ) -> Self {
        let of_trial: BTreeMap<usize, &TrialRecord> =
            before.iter().map(|row| (row.trial, *row)).collect();
        let ratio = |row: &&TrialRecord| {
            let (was, is) = (metric.of(of_trial.get(&row.trial)?)?, metric.of(row)?);
            // Zero before and after is no change.
            Some(if was == is { 1.0 } else { is / was })
        };
        let ratios: Vec<f64> = after.iter().filter_map(ratio).collect();
        let all_same = ratios.iter().all(|&ratio| ratio == 1.0);
        let ratio = PairedRatio::of(ratios);
        let (was, is) = (Endings::of(before.iter().copied()), Endings::of(after.iter().copied()));
        let direction = match done_share(is).total_cmp(&done_share(was)) {
            std::cmp::Ordering::Less => Direction::Worse,
            std::cmp::Ordering::Greater => Direction::Better,
            std::cmp::Ordering::Equal => match ratio {
                _ if all_same && was == is => Direction::Same,
                Some(ratio) => of_ratio(ratio, tolerance),
                None => Direction::Unclear,
            },
        };
        Self { place: place.clone(), before: was, after: is, ratio, direction }
    }
}

/// The whole interval on one side of 1, and the median beyond the tolerance.
fn of_ratio(ratio: PairedRatio, tolerance: f64) -> Direction {
    match ratio.interval {
        Some(interval) if interval.low > 1.0 && ratio.median > 1.0 + tolerance => Direction::Worse,
        Some(interval) if interval.high < 1.0 && ratio.median < 1.0 / (1.0 + tolerance) => {
            Direction::Better
        }
        _ => Direction::Unclear,
    }
}

fn done_share(endings: Endings) -> f64 {
    endings.done as f64 / endings.count().max(1) as f64
}

fn place(row: &TrialRecord) -> Place {
    let case = match row.case.is_empty() {
        true => String::new(),
        false => format!(" ({})", row.case),
    };
    let delta = match row.delta > 0.0 {
        true => format!(", delta {:e}", row.delta),
        false => String::new(),
    };
    let (dataset, mechanism, arm) = (&row.dataset, &row.mechanism, &row.arm);
    format!("{dataset}{case} {mechanism} {arm}, epsilon {}{delta}", row.epsilon)
}

fn grouped(rows: &[TrialRecord]) -> BTreeMap<Place, Vec<&TrialRecord>> {
    let mut groups: BTreeMap<Place, Vec<&TrialRecord>> = BTreeMap::new();
    for row in rows {
        groups.entry(place(row)).or_default().push(row);
    }
    groups
}

/// The places in the order of the rows.
fn ordered(rows: &[TrialRecord]) -> Vec<Place> {
    let mut seen = BTreeSet::new();
    rows.iter().map(place).filter(|place| seen.insert(place.clone())).collect()
}

/// Claims with the same text and different verdicts.
fn flipped(before: &[Finding], after: &[Finding]) -> Vec<FlippedClaim> {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Differs => 0,
        Verdict::CannotTell => 1,
        Verdict::Holds => 2,
    };
    let change = |finding: &Finding| {
        let was = before.iter().find(|other| other.says == finding.says)?.verdict;
        let direction = match rank(finding.verdict).cmp(&rank(was)) {
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Less => Direction::Worse,
            std::cmp::Ordering::Greater => Direction::Better,
        };
        let (says, after) = (finding.says.clone(), finding.verdict);
        Some(FlippedClaim { says, before: was, after, direction })
    };
    after.iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Status;

    fn rows(errors: &[Option<f64>]) -> Vec<TrialRecord> {
        let row = |(trial, error): (usize, &Option<f64>)| TrialRecord {
            key: format!("{trial} {error:?}"),
            dataset: "adult".into(),
            mechanism: "hdmm".into(),
            arm: "pgm".into(),
            epsilon: 1.0,
            trial,
            status: if error.is_some() { Status::Done } else { Status::Failed },
            workload_error: *error,
            ..TrialRecord::default()
        };
        errors.iter().enumerate().map(row).collect()
    }

    fn direction(before: &[Option<f64>], after: &[Option<f64>]) -> Direction {
        let (before, after) = (rows(before), rows(after));
        let changes = Changes::between((&before, &after), (&[], &[]), Metric::WorkloadError, 0.01);
        changes.arms[0].direction
    }

    #[test]
    fn an_arm_is_worse_if_all_of_its_interval_is_or_if_fewer_trials_end() {
        let five = [0.1, 0.2, 0.3, 0.4, 0.5];
        let times = |factors: [f64; 5]| {
            let pairs = five.into_iter().zip(factors);
            pairs.map(|(error, factor)| Some(error * factor)).collect::<Vec<_>>()
        };
        let before = times([1.0; 5]);
        assert_eq!(direction(&before, &before), Direction::Same);
        assert_eq!(direction(&before, &times([1.1; 5])), Direction::Worse);
        assert_eq!(direction(&before, &times([0.9; 5])), Direction::Better);
        assert_eq!(direction(&before, &times([1.005; 5])), Direction::Unclear, "tolerated");
        assert_eq!(direction(&before, &times([1.1, 1.1, 1.1, 0.9, 1.1])), Direction::Unclear);
        // One trial has no interval.
        assert_eq!(direction(&before[..1], &times([9.0; 5])[..1]), Direction::Unclear);
        let mut failed = before.clone();
        failed[2] = None;
        assert_eq!(direction(&before, &failed), Direction::Worse);
        assert_eq!(direction(&failed, &before), Direction::Better);
        assert_eq!(direction(&[Some(0.0); 5], &[Some(0.0); 5]), Direction::Same);
        assert_eq!(direction(&[Some(0.0); 5], &[Some(0.1); 5]), Direction::Worse);
    }

    #[test]
    fn trials_are_paired_by_their_coordinates() {
        let before = rows(&[Some(0.1), Some(0.2)]);
        let mut after = before.clone();
        after.reverse();
        let changes = Changes::between((&before, &after), (&[], &[]), Metric::WorkloadError, 0.01);
        assert_eq!((changes.arms[0].direction, changes.same_keys), (Direction::Same, 2));
        after[0].arm = "lls".into();
        after.pop();
        let changes = Changes::between((&before, &after), (&[], &[]), Metric::WorkloadError, 0.01);
        assert_eq!(changes.only_before, ["adult hdmm pgm, epsilon 1"]);
        assert_eq!(changes.only_after, ["adult hdmm lls, epsilon 1"]);
        assert!(!changes.any_worse());
    }
}
