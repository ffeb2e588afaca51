//! The arms that an experiment runs, in compressed form: the keys of rows are computed from a few
//! hashes, so the size of a manifest does not depend on the number of trials.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The releases of a mechanism on a dataset that differ only in epsilon and trial, and the arms
/// that estimate from each of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub dataset: String,
    pub mechanism: String,
    /// Hash of all inputs of these releases except epsilon and trial.
    pub hash: String,
    /// Every arm is evaluated on each of them.
    pub cases: Vec<BlockCase>,
    pub arms: Vec<BlockArm>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCase {
    /// Empty if there is only one case.
    pub name: String,
    /// Hash of its workload.
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockArm {
    /// Its name in the results.
    pub name: String,
    /// Hash of the estimator and its settings.
    pub hash: String,
    /// Per row: predicted from the size of its model, with its share of the mechanism's time.
    pub predicted_seconds: f64,
}

/// An arm of one trial, evaluated on one case: the subject of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduledArm {
    pub key: String,
    /// The key of its release.
    pub release: String,
    pub dataset: String,
    /// Empty if the data has only one case.
    pub case: String,
    pub mechanism: String,
    pub arm: String,
    pub epsilon: f64,
    /// Counted from 0.
    pub trial: usize,
    /// [`BlockArm::predicted_seconds`].
    pub predicted_seconds: f64,
}

impl fmt::Display for ScheduledArm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dataset, case, mechanism, arm, epsilon, trial, .. } = self;
        write!(f, "{dataset} ")?;
        if !case.is_empty() {
            write!(f, "({case}) ")?;
        }
        write!(f, "{mechanism} {arm}, epsilon {epsilon}, trial {}", trial + 1)
    }
}

impl Block {
    /// The key of the release for this epsilon and trial.
    pub fn release_key(&self, epsilon: f64, trial: usize) -> String {
        hash(&[&self.hash, &epsilon.to_string(), &trial.to_string()])
    }

    /// The arms of all trials for this epsilon, in the order of the results.
    fn arms_at(&self, epsilon: f64, trials: usize) -> impl Iterator<Item = ScheduledArm> {
        (0..trials).flat_map(move |trial| {
            let release = self.release_key(epsilon, trial);
            let pairs = self.arms.iter().flat_map(|arm| self.cases.iter().map(move |c| (arm, c)));
            pairs.map(move |(arm, case)| ScheduledArm {
                key: row_key(&release, &case.hash, &arm.hash),
                release: release.clone(),
                dataset: self.dataset.clone(),
                case: case.name.clone(),
                mechanism: self.mechanism.clone(),
                arm: arm.name.clone(),
                epsilon,
                trial,
                predicted_seconds: arm.predicted_seconds,
            })
        })
    }
}

/// The arms of an experiment in the order of its results: by data, mechanism, epsilon, release,
/// trial, estimator, case.
pub(super) fn arms(blocks: &[Block], epsilons: &[f64], trials: usize) -> Vec<ScheduledArm> {
    let together = |a: &Block, b: &Block| (&a.dataset, &a.mechanism) == (&b.dataset, &b.mechanism);
    let mut arms = Vec::new();
    for blocks in blocks.chunk_by(together) {
        for &epsilon in epsilons {
            arms.extend(blocks.iter().flat_map(|block| block.arms_at(epsilon, trials)));
        }
    }
    arms
}

/// The key of a row, from its release, its case and its estimator.
pub fn row_key(release: &str, case_hash: &str, arm_hash: &str) -> String {
    hash(&[release, case_hash, arm_hash])
}

/// 64 bits of a hash, in hexadecimal digits. Requires parts without line breaks.
pub fn hash(parts: &[&str]) -> String {
    blake3::hash(parts.join("\n").as_bytes()).to_hex()[..16].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(dataset: &str, hash: &str, cases: &[&str]) -> Block {
        let case = |name: &&str| BlockCase { name: name.to_string(), hash: name.to_string() };
        let arm = |name: &str| {
            let (name, hash) = (name.to_string(), name.to_string());
            BlockArm { name, hash, predicted_seconds: 1.0 }
        };
        Block {
            dataset: dataset.into(),
            mechanism: "hdmm".into(),
            hash: hash.into(),
            cases: cases.iter().map(case).collect(),
            arms: vec![arm("lls"), arm("pgm")],
        }
    }

    #[test]
    fn arms_are_listed_by_data_epsilon_release_trial_estimator_and_case() {
        let blocks = [
            block("adult", "1", &["a", "b"]),
            block("adult", "2", &["c"]),
            block("loans", "3", &[""]),
        ];
        let all = arms(&blocks, &[0.5, 2.0], 2);
        assert_eq!(all.len(), 2 * 2 * 2 * (2 + 1 + 1));
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            names[..9],
            [
                "adult (a) hdmm lls, epsilon 0.5, trial 1",
                "adult (b) hdmm lls, epsilon 0.5, trial 1",
                "adult (a) hdmm pgm, epsilon 0.5, trial 1",
                "adult (b) hdmm pgm, epsilon 0.5, trial 1",
                "adult (a) hdmm lls, epsilon 0.5, trial 2",
                "adult (b) hdmm lls, epsilon 0.5, trial 2",
                "adult (a) hdmm pgm, epsilon 0.5, trial 2",
                "adult (b) hdmm pgm, epsilon 0.5, trial 2",
                "adult (c) hdmm lls, epsilon 0.5, trial 1",
            ]
        );
        let mut keys: Vec<&str> = all.iter().map(|arm| arm.key.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all.len(), "every row has a key of its own");
    }
}
