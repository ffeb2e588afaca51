use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Case, Plan, PlannedData};
use crate::results::manifest::{ArmFacts, DatasetFacts, Manifest, NOTICE, Run, configuration_hash};
use crate::workload::SubWorkload;
use private_pgm::domain::Domain;
use private_pgm::factor::Projectable;

impl Plan {
    /// Where its results come from.
    pub fn manifest(&self, runs: Vec<Run>) -> Manifest {
        let configuration = serde_json::to_value(&self.experiment).unwrap_or_default();
        let facts = |data: &PlannedData| DatasetFacts {
            name: data.name.clone(),
            blake3: data.fingerprint.clone(),
            records: data.data.len(),
            attributes: Some(data.data.domain().len()),
            domain: Some(data.domain_size()),
            queries: Some(data.queries()),
            standin: data.standin,
        };
        let costs = self.costs();
        let (mut keys, mut arms) = (Vec::new(), BTreeMap::new());
        for trial in &self.all_trials {
            let shared = costs.release(trial) / trial.rows.len().max(1) as f64;
            for row in &trial.rows {
                let facts = ArmFacts {
                    dataset: self.data(trial).name.clone(),
                    case: self.data(trial).cases[row.case].name.clone(),
                    mechanism: self.mechanism(trial).label.clone(),
                    arm: self.mechanism(trial).arms[row.arm].name.clone(),
                    epsilon: trial.epsilon,
                    trial: trial.repetition,
                    predicted_seconds: shared + costs.row(trial, row),
                };
                keys.push(row.key.clone());
                arms.insert(row.key.clone(), facts);
            }
        }
        Manifest {
            name: self.experiment.name.as_ref().clone(),
            notice: NOTICE.into(),
            configuration_text: self.source.text.clone(),
            configuration_blake3: configuration_hash(&configuration),
            configuration,
            datasets: self.datasets.iter().map(facts).collect(),
            workloads: self.workloads(),
            keys,
            arms,
            runs,
        }
    }

    /// Each workload written out: the attributes of every sub-workload with their queries. Chains
    /// are not, because their name says it all.
    fn workloads(&self) -> BTreeMap<String, Value> {
        let of_files = self.datasets.iter().filter(|_| self.experiment.scaling.is_none());
        of_files
            .map(|data| {
                let written = |case: &Case| {
                    let domain = case.workload.domain();
                    let parts = case.workload.parts().iter();
                    Value::from_iter(parts.map(|part| written_out(domain, part)))
                };
                let value = match &data.cases[..] {
                    [only] => written(only),
                    several => {
                        let named = several.iter().map(|case| (case.name.clone(), written(case)));
                        Value::Object(named.collect())
                    }
                };
                (data.name.clone(), value)
            })
            .collect()
    }
}

fn written_out(domain: &Domain, part: &SubWorkload) -> Value {
    if part.query.factors().len() != part.clique.len() {
        let (names, queries) = (domain.names(&part.clique), part.query.rows());
        return json!({ "attributes": names, "queries": queries });
    }
    let factors = part.clique.iter().zip(part.query.factors());
    let pairs = factors.map(|(id, factor)| (domain.name(id).to_string(), json!(factor.name())));
    Value::Object(pairs.collect())
}
