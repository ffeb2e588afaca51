//! Running arms again, to see that the numbers that are stored are the numbers that come out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha20Rng;
use thiserror::Error;

use super::observer::Observer;
use super::trial::{Finished, Means, run_trial};
use super::{Filter, MEMORY, Plan, PlanError};
use crate::config::Source;
use crate::data::Registry;
use crate::results::manifest::Manifest;
use crate::results::store::Recorded;
use crate::results::{Status, TrialRecord};
use dp::{Line, SeedPath};

/// Why results cannot be compared with what would come out now.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The experiment cannot be planned here.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data is not what it was.
    #[error(
        "the data \"{name}\" is not the data of the results: its checksum was {was} and is {is}"
    )]
    Data {
        /// The name of the data.
        name: String,
        /// The checksum in the manifest.
        was: String,
        /// The checksum now.
        is: String,
    },
    /// The keys differ although configuration and data do not.
    #[error("the results are of a version of pgmbench whose numbers this one does not reproduce")]
    Edition,
}

impl Plan {
    /// The plan of results, from their manifest alone. Schemas of a user's own data are looked for
    /// relative to `beside`, as if the experiment file were there.
    pub fn of_manifest(
        manifest: &Manifest,
        beside: &Path,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        // There is no file any more whose lines messages could show.
        let source = Source { path: beside.join("manifest.json"), text: String::new() };
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

/// The draws of releases, by their keys.
type Ledgers = BTreeMap<String, Vec<Line>>;

/// What came out when an arm was run again.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The row that is stored.
    pub row: TrialRecord,
    /// What is different now, a sentence each; empty if nothing is.
    pub differences: Vec<String>,
}

/// Runs `count` arms of the stored results again, or all if there are fewer, and compares row,
/// traces and ledger in every number but the times, bit for bit. Which arms is drawn with the seed,
/// from those that ended with an estimate or did not fit into memory: how long something takes is
/// not repeatable. Tells each as it is done.
pub fn verify(
    plan: &Plan,
    (recorded, ledger): (&Recorded, &Ledgers),
    memory_limit: Option<u64>,
    (count, seed): (usize, u64),
    observer: &dyn Observer,
    mut tell: impl FnMut(&Verified),
) -> Vec<Verified> {
    let repeatable = |row: &&TrialRecord| matches!(row.status, Status::Done | Status::Infeasible);
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
    let means = Means {
        memory_limit: limit.or(memory_limit).unwrap_or(MEMORY),
        // A slower machine may take its time.
        seconds: None,
        parallel: true,
    };
    let mut all = Vec::new();
    for (trial, planned, row) in chosen.into_iter().map(|place| stored[place]) {
        observer.begins(trial, &plan.describe(trial));
        run_trial(plan, trial, std::slice::from_ref(planned), means, observer, |finished| {
            let differences = differences(row, (recorded, ledger), &finished);
            let verified = Verified { row: row.clone(), differences };
            tell(&verified);
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
    let said = |field: &str, was: &str, is: &str| format!("{field} was {was} and is {is}");
    let of_row = row.differences(&finished.record);
    let mut all: Vec<String> = of_row.iter().map(|d| said(d.field, &d.first, &d.second)).collect();
    let traces: Vec<_> = recorded.traces.iter().filter(|trace| trace.key == row.key).collect();
    let counts = (traces.len(), finished.traces.len());
    if counts.0 != counts.1 {
        all.push(said("the number of traces", &counts.0.to_string(), &counts.1.to_string()));
    }
    for (was, is) in traces.into_iter().zip(&finished.traces) {
        let place = |field| format!("{field} after {} iterations", was.iteration);
        let of_trace = was.differences(is);
        all.extend(of_trace.iter().map(|d| said(&place(d.field), &d.first, &d.second)));
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
