//! Runs arms again and compares the new numbers with the stored ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha20Rng;
use thiserror::Error;

use super::observer::Observer;
use super::trial::{Finished, ResourceLimits, run_trial};
use super::{Filter, MEMORY, Plan, PlanError};
use crate::config::Source;
use crate::data::Registry;
use crate::results::manifest::Manifest;
use crate::results::store::Recorded;
use crate::results::{Status, TrialRecord};
use dp::{Line, SeedPath};

/// Why stored results cannot be reproduced.
#[derive(Debug, Error)]
pub enum ReplayError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data has changed since the run.
    #[error(
        "the data \"{name}\" is not the data of the results: its checksum was {was} and is {is}"
    )]
    Data { name: String, was: String, is: String },
    /// The keys differ although configuration and data are the same.
    #[error("the results are of a version of pgmbench whose numbers this one does not reproduce")]
    Edition,
}

impl Plan {
    /// The plan that a manifest describes. Paths of schemas are relative to `config_dir`, the
    /// folder of the experiment file.
    pub fn of_manifest(
        manifest: &Manifest,
        config_dir: &Path,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        // The manifest has no source lines that messages could show.
        let source = Source { path: config_dir.join("manifest.json"), text: String::new() };
        let experiment = manifest.experiment.clone();
        let plan = Self::of(source, experiment, registry, &Filter::default())?;
        for facts in &manifest.datasets {
            let now = plan.datasets.iter().find(|data| data.name == facts.name);
            if let Some(now) = now.filter(|now| now.fingerprint != facts.blake3) {
                return Err(ReplayError::Data {
                    name: facts.name.clone(),
                    was: facts.blake3.clone(),
                    is: now.fingerprint.clone(),
                });
            }
        }
        let keys: BTreeSet<&String> =
            plan.trials.iter().flat_map(|trial| trial.rows.iter().map(|row| &row.key)).collect();
        match manifest.keys().iter().all(|key| keys.contains(key)) {
            true => Ok(plan),
            false => Err(ReplayError::Edition),
        }
    }
}

/// The ledger lines of each release, by its key.
type Ledgers = BTreeMap<String, Vec<Line>>;

/// The result of running an arm again.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The stored row.
    pub row: TrialRecord,
    /// One sentence per difference; empty if there is none.
    pub differences: Vec<String>,
}

/// Runs `count` stored arms again (all if there are fewer) and compares rows, traces and ledgers
/// bit for bit, except times. The seed selects the arms among those that neither failed nor
/// exceeded a time limit, which is not reproducible. Calls `report` after each arm.
pub fn verify(
    plan: &Plan,
    (recorded, ledger): (&Recorded, &Ledgers),
    memory_limit: Option<u64>,
    (count, seed): (usize, u64),
    observer: &dyn Observer,
    mut report: impl FnMut(&Verified),
) -> Vec<Verified> {
    let repeatable = |row: &&TrialRecord| !matches!(row.status, Status::Timeout | Status::Failed);
    let rows: BTreeMap<&str, &TrialRecord> =
        recorded.rows.iter().filter(repeatable).map(|row| (row.key.as_str(), row)).collect();
    let mut stored = Vec::new();
    for trial in &plan.trials {
        for planned in &trial.rows {
            stored.extend(rows.get(planned.key.as_str()).map(|row| (trial, planned, *row)));
        }
    }
    let mut rng = ChaCha20Rng::from_seed(SeedPath::new("verify", seed).seed());
    let mut chosen = sample(&mut rng, stored.len(), count.min(stored.len())).into_vec();
    chosen.sort_unstable();
    let limit = plan.experiment.limits.memory.map(|limit| limit.0);
    let limits = ResourceLimits {
        memory_limit: limit.or(memory_limit).unwrap_or(MEMORY),
        // This machine may be slower than the one of the run.
        seconds: None,
        parallel: true,
    };
    let mut all = Vec::new();
    for (trial, planned, row) in chosen.into_iter().map(|place| stored[place]) {
        observer.begins(trial, &plan.describe(trial));
        run_trial(plan, trial, std::slice::from_ref(planned), limits, observer, |finished| {
            let differences = differences(row, (recorded, ledger), &finished);
            let verified = Verified { row: row.clone(), differences };
            report(&verified);
            all.push(verified);
        });
        observer.ends(trial);
    }
    all
}

fn differences(
    row: &TrialRecord,
    (recorded, ledger): (&Recorded, &Ledgers),
    finished: &Finished<'_>,
) -> Vec<String> {
    let sentence = |field: &str, was: &str, is: &str| format!("{field} was {was} and is {is}");
    let of_row = row.differences(&finished.record);
    let mut all: Vec<String> =
        of_row.iter().map(|d| sentence(d.field, &d.first, &d.second)).collect();
    let traces: Vec<_> = recorded.traces.iter().filter(|trace| trace.key == row.key).collect();
    let counts = (traces.len(), finished.traces.len());
    if counts.0 != counts.1 {
        all.push(sentence("the number of traces", &counts.0.to_string(), &counts.1.to_string()));
    }
    for (was, is) in traces.into_iter().zip(&finished.traces) {
        let place = |field| format!("{field} after {} iterations", was.iteration);
        let of_trace = was.differences(is);
        all.extend(of_trace.iter().map(|d| sentence(&place(d.field), &d.first, &d.second)));
    }
    let draws = ledger.get(&row.release).filter(|_| row.has_draws());
    if draws.map_or(&[][..], Vec::as_slice) != finished.ledger {
        all.push("the ledger is another".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn the_plan_of_a_manifest_asks_for_the_same_rows() {
        for name in ["smoke", "fig2a", "fig2b", "fig3", "kdd-fig532", "pmw-vs"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
            let source = Source::read(&path).unwrap();
            let quick = Overrides { quick: name != "smoke", ..Overrides::default() };
            let registry = Registry::default();
            let plan = Plan::new(source, &quick, &registry, &Filter::default()).unwrap();
            let planned = plan.trials.iter().flat_map(|trial| &trial.rows);
            let planned: Vec<String> = planned.map(|row| row.key.clone()).collect();
            let manifest = plan.manifest(Vec::new());
            assert_eq!(manifest.keys(), planned, "{name}");
            let stored = serde_json::to_string(&manifest).unwrap();
            assert_eq!(serde_json::from_str::<Manifest>(&stored).unwrap(), manifest, "{name}");
            let again = Plan::of_manifest(&manifest, &path, &registry).unwrap();
            assert_eq!(again.trials, plan.trials, "{name}");
            let mut other = manifest.clone();
            other.schedule[0].hash = "of another edition".into();
            let refused = Plan::of_manifest(&other, &path, &registry).err().unwrap();
            assert!(matches!(refused, ReplayError::Edition), "{refused}");
        }
    }
}
