use std::collections::BTreeMap;

use super::manifest::{ArmFacts, Manifest};
use super::record::{Status, TrialRecord};
use super::store::Recorded;

/// How far an experiment is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The rows of the configuration, in its order.
    pub rows: Vec<TrialRecord>,
    /// The arms without an end, in the order of the configuration: those without a row, and those
    /// that have failed, which are tried again. With the seconds that each will probably take.
    pub left: Vec<(ArmFacts, f64)>,
    /// Arms without a row of which nothing is known but the key: in manifests of earlier versions.
    pub unknown: usize,
    /// Rows of other configurations.
    pub stale: usize,
}

impl Progress {
    /// Of the results with this manifest.
    pub fn of(manifest: &Manifest, recorded: &Recorded) -> Self {
        let rows = recorded.rows_of(&manifest.keys);
        let ended: BTreeMap<&str, &TrialRecord> = rows
            .iter()
            .filter(|row| row.status != Status::Failed)
            .map(|row| (row.key.as_str(), row))
            .collect();
        let without_end = manifest.keys.iter().filter(|key| !ended.contains_key(key.as_str()));
        let times = Times::seen(manifest, &ended);
        let (mut left, mut unknown) = (Vec::new(), 0);
        for key in without_end {
            match manifest.arms.get(key) {
                Some(arm) => left.push((arm.clone(), times.expected(arm))),
                None => unknown += 1,
            }
        }
        let stale = recorded.rows.len() - rows.len();
        Self { rows, left, unknown, stale }
    }

    /// How many rows ended like this.
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// The seconds of work that are left, on one processor after the other.
    pub fn seconds_left(&self) -> f64 {
        self.left.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// The seconds that arms took so far.
struct Times {
    /// By data, mechanism and arm.
    by_arm: BTreeMap<[String; 3], Mean>,
    /// By mechanism and arm, as multiples of what was predicted.
    by_kind: BTreeMap<[String; 2], Mean>,
    /// Multiples of what was predicted, over everything.
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
    fn seen(manifest: &Manifest, ended: &BTreeMap<&str, &TrialRecord>) -> Self {
        let mut times =
            Self { by_arm: BTreeMap::new(), by_kind: BTreeMap::new(), overall: Mean::default() };
        for (key, arm) in &manifest.arms {
            let Some(row) = ended.get(key.as_str()) else { continue };
            let seconds = seconds(row);
            times.by_arm.entry(names(arm)).or_default().add(seconds, 1.0);
            let [_, mechanism, name] = names(arm);
            let kind = times.by_kind.entry([mechanism, name]).or_default();
            kind.add(seconds, arm.predicted_seconds);
            times.overall.add(seconds, arm.predicted_seconds);
        }
        times
    }

    /// What an arm took on the same data; else the prediction, corrected by what the same arm took
    /// on other data; else by what everything took.
    fn expected(&self, arm: &ArmFacts) -> f64 {
        let [_, mechanism, name] = names(arm);
        let mean = |mean: &Mean| mean.get();
        self.by_arm.get(&names(arm)).and_then(mean).unwrap_or_else(|| {
            let kind = self.by_kind.get(&[mechanism, name]).and_then(mean);
            arm.predicted_seconds * kind.or(self.overall.get()).unwrap_or(1.0)
        })
    }
}

fn names(arm: &ArmFacts) -> [String; 3] {
    [&arm.dataset, &arm.mechanism, &arm.arm].map(String::clone)
}

/// What a row took. The mechanism's own part, which all arms of a trial share, is counted for
/// each: an estimate that is too long rather than too short.
fn seconds(row: &TrialRecord) -> f64 {
    let parts =
        [row.select_seconds, row.measure_seconds, row.estimate_seconds, row.evaluate_seconds];
    parts.into_iter().flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::super::manifest::configuration_hash;
    use super::*;

    fn facts(row: &TrialRecord, predicted_seconds: f64) -> ArmFacts {
        let (dataset, mechanism) = (row.dataset.clone(), row.mechanism.clone());
        let (arm, epsilon, trial) = (row.arm.clone(), row.epsilon, row.trial);
        let case = row.case.clone();
        ArmFacts { dataset, case, mechanism, arm, epsilon, trial, predicted_seconds }
    }

    #[test]
    fn what_is_left_takes_as_long_as_its_like_took() {
        let rows = [
            examples::row("adult", "hdmm", "pgm", 0),
            examples::row("adult", "hdmm", "pgm", 1),
            examples::row("loans", "hdmm", "pgm", 0),
            examples::row("adult", "mwem", "pgm", 0),
        ];
        let predicted = [0.1, 0.1, 0.2, 0.4];
        let configuration = serde_json::Value::Null;
        let manifest = Manifest {
            name: "test".into(),
            notice: String::new(),
            configuration_text: String::new(),
            configuration_blake3: configuration_hash(&configuration),
            configuration,
            datasets: Vec::new(),
            workloads: BTreeMap::new(),
            keys: rows.iter().map(|row| row.key.clone()).collect(),
            arms: rows.iter().zip(predicted).map(|(r, s)| (r.key.clone(), facts(r, s))).collect(),
            runs: Vec::new(),
        };
        let mut failed = rows[3].clone();
        failed.status = Status::Failed;
        let stale = examples::row("adult", "old", "pgm", 0);
        let recorded = Recorded { rows: vec![rows[0].clone(), failed, stale], traces: Vec::new() };
        let progress = Progress::of(&manifest, &recorded);
        assert_eq!((progress.rows.len(), progress.stale, progress.unknown), (2, 1, 0));
        assert_eq!(progress.count(Status::Failed), 1);
        // A quarter of a second was seen for a tenth: on the same data it is taken as it is, on
        // other data and for another mechanism it is 2.5 times the prediction.
        let seconds: Vec<f64> = progress.left.iter().map(|(_, seconds)| *seconds).collect();
        assert_eq!(seconds, [0.25, 0.2 * 2.5, 0.4 * 2.5]);
    }
}
