use std::collections::BTreeMap;

use super::manifest::Manifest;
use super::record::TrialRecord;
use super::schedule::ScheduledArm;
use super::store::Recorded;
use crate::config::Status;

/// The progress of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// In the order of the configuration.
    pub rows: Vec<TrialRecord>,
    /// The arms that remain, in the order of the configuration, each with its expected seconds:
    /// those without a row, and those that failed, which are tried again.
    pub left: Vec<(ScheduledArm, f64)>,
    /// The number of rows of other configurations.
    pub stale: usize,
}

impl Progress {
    pub fn of(manifest: &Manifest, recorded: &Recorded) -> Self {
        let arms = manifest.arms();
        let rows = recorded.rows_of(arms.iter().map(|arm| &arm.key));
        let ended: BTreeMap<&str, &TrialRecord> = rows
            .iter()
            .filter(|row| row.status != Status::Failed)
            .map(|row| (row.key.as_str(), row))
            .collect();
        let times = Times::seen(&arms, &ended);
        let without_end = arms.iter().filter(|arm| !ended.contains_key(arm.key.as_str()));
        let left = without_end.map(|arm| (arm.clone(), times.expected(arm))).collect();
        let stale = recorded.rows.len() - rows.len();
        Self { rows, left, stale }
    }

    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// The expected seconds of the remaining work on one processor.
    pub fn seconds_left(&self) -> f64 {
        self.left.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// The measured seconds of arms.
struct Times {
    /// By data, mechanism and arm.
    by_arm: BTreeMap<[String; 3], Mean>,
    /// By mechanism and arm, as multiples of the prediction.
    by_kind: BTreeMap<[String; 2], Mean>,
    /// Multiples of the prediction, over all arms.
    overall: Mean,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += value;
        self.count += weight;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Times {
    fn seen(arms: &[ScheduledArm], ended: &BTreeMap<&str, &TrialRecord>) -> Self {
        let mut times =
            Self { by_arm: BTreeMap::new(), by_kind: BTreeMap::new(), overall: Mean::default() };
        for arm in arms {
            let Some(row) = ended.get(arm.key.as_str()) else { continue };
            let seconds = seconds(row);
            times.by_arm.entry(names(arm)).or_default().add(seconds, 1.0);
            let [_, mechanism, name] = names(arm);
            let kind = times.by_kind.entry([mechanism, name]).or_default();
            kind.add(seconds, arm.predicted_seconds);
            times.overall.add(seconds, arm.predicted_seconds);
        }
        times
    }

    /// The mean time of the arm on the same data; else the prediction, scaled by the arm's mean
    /// multiple on other data; else scaled by the overall mean multiple.
    fn expected(&self, arm: &ScheduledArm) -> f64 {
        let [_, mechanism, name] = names(arm);
        let mean = |mean: &Mean| mean.get();
        self.by_arm.get(&names(arm)).and_then(mean).unwrap_or_else(|| {
            let kind = self.by_kind.get(&[mechanism, name]).and_then(mean);
            arm.predicted_seconds * kind.or(self.overall.get()).unwrap_or(1.0)
        })
    }
}

fn names(arm: &ScheduledArm) -> [String; 3] {
    [&arm.dataset, &arm.mechanism, &arm.arm].map(String::clone)
}

/// The seconds of a row. The mechanism's part, which all arms of a trial share, is counted for each
/// of them: the estimate is too long rather than too short.
fn seconds(row: &TrialRecord) -> f64 {
    let parts =
        [row.select_seconds, row.measure_seconds, row.estimate_seconds, row.evaluate_seconds];
    parts.into_iter().flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_its_like_took() {
        let mut manifest = examples::manifest(&["adult", "loans"], &["pgm"]);
        let other = examples::manifest(&["adult"], &["lls"]).schedule.remove(0);
        manifest.schedule.push(other);
        manifest.experiment.trials = 2;
        for (block, seconds) in manifest.schedule.iter_mut().zip([0.1, 0.2, 0.4]) {
            block.arms[0].predicted_seconds = seconds;
        }
        // By data, mechanism and trial: adult pgm twice, loans pgm twice, adult lls twice.
        let arms = manifest.arms();
        let row = |at: usize| TrialRecord {
            key: arms[at].key.clone(),
            ..examples::row(&arms[at].dataset, "hdmm", &arms[at].arm, arms[at].trial)
        };
        let failed = TrialRecord { status: Status::Failed, ..row(4) };
        let stale = examples::row("adult", "old", "pgm", 0);
        let recorded = Recorded { rows: vec![row(0), failed, stale], traces: Vec::new() };
        let progress = Progress::of(&manifest, &recorded);
        assert_eq!((progress.rows.len(), progress.stale), (2, 1));
        assert_eq!(progress.count(Status::Failed), 1);
        // Measured 0.25 s, predicted 0.1 s: the same data uses the measurement; other data and
        // another estimator use 2.5 times the prediction.
        let seconds: Vec<f64> = progress.left.iter().map(|(_, seconds)| *seconds).collect();
        assert_eq!(seconds, [0.25, 0.5, 0.5, 1.0, 1.0]);
    }
}
