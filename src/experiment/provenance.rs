use super::{Case, Plan, PlannedData};
use crate::results::manifest::{
    CaseFacts, DatasetFacts, Manifest, NOTICE, OriginFacts, PartFacts, Run, configuration_hash,
};
use crate::workload::SubWorkload;
use private_pgm::domain::Domain;
use private_pgm::model::Projectable;

impl Plan {
    /// The manifest of its results, with the given history of runs.
    pub fn manifest(&self, runs: Vec<Run>) -> Manifest {
        Manifest {
            notice: NOTICE.into(),
            configuration_text: self.source.text.clone(),
            experiment: self.experiment.clone(),
            configuration_blake3: configuration_hash(&self.experiment),
            full_iterations: self.full_iterations,
            datasets: self.datasets.iter().map(|data| self.facts(data)).collect(),
            schedule: self.blocks(),
            runs,
        }
    }

    fn facts(&self, data: &PlannedData) -> DatasetFacts {
        DatasetFacts {
            name: data.name.clone(),
            blake3: data.fingerprint.clone(),
            records: data.data.len(),
            attributes: data.data.domain().len(),
            domain: data.domain_size(),
            queries: data.queries(),
            standin: data.standin,
            workload_origin: data.origin.as_ref().map(|origin| OriginFacts {
                published: origin.published,
                note: origin.note.clone(),
            }),
            table: data.table_facts(),
            predictions: data.predictions.clone(),
            cases: match self.experiment.scaling {
                Some(_) => Vec::new(),
                None => data.cases.iter().map(case_facts).collect(),
            },
        }
    }
}

fn case_facts(case: &Case) -> CaseFacts {
    let domain = case.workload.domain();
    let workload = case.workload.parts().iter().map(|part| part_facts(domain, part)).collect();
    CaseFacts { name: case.name.clone(), workload }
}

fn part_facts(domain: &Domain, part: &SubWorkload) -> PartFacts {
    let factors = part.query.factors();
    if factors.len() != part.clique.len() {
        let attributes = domain.names(&part.clique).iter().map(ToString::to_string).collect();
        return PartFacts::Whole { attributes, queries: part.query.rows() };
    }
    let factors = part.clique.iter().zip(factors);
    let pairs = factors.map(|(id, factor)| (domain.name(id).into(), factor.name().into()));
    PartFacts::Product(pairs.collect())
}
