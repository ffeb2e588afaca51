use crate::data::Dataset;
use crate::mechanism::MechanismError;
use crate::workload::{SubWorkload, Workload};
use private_pgm::domain::{AttributeId, Domain};
use private_pgm::model::Projectable;

/// The queries of a workload with consecutive numbers. Each is a conjunction of one predicate per
/// attribute of its clique. Query `i + len` is the negation of `i`.
#[derive(Clone)]
pub(super) struct Queries {
    domain: Domain,
    parts: Vec<SubWorkload>,
    /// The first query of each part, and the end of the last part.
    offsets: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Below the number of queries.
    pub(super) query: usize,
    /// Whether the negation was drawn.
    pub(super) negated: bool,
}

/// The predicate of a query on one attribute.
pub(super) struct Conjunct {
    pub(super) attribute: AttributeId,
    /// By value.
    pub(super) satisfies: Vec<bool>,
}

impl Sample {
    /// 1, or -1 for a negation. The answer to a sample is this times the answer to its query, plus
    /// a constant.
    pub(super) fn sign(self) -> f64 {
        if self.negated { -1.0 } else { 1.0 }
    }
}

impl Queries {
    /// Refuses queries that are no such conjunctions.
    pub(super) fn new(workload: &Workload) -> Result<Self, MechanismError> {
        let parts = workload.parts().to_vec();
        if let Some(part) = parts.iter().find(|part| !is_conjunctive(part)) {
            let names = workload.domain().names(&part.clique).join(", ");
            return Err(MechanismError::Unsuitable(format!(
                "DualQuery needs products of queries with entries 0 and 1, one for each attribute; \
                 those on {names} are not"
            )));
        }
        let mut offsets = vec![0];
        for part in &parts {
            offsets.push(offsets[offsets.len() - 1] + part.query.rows());
        }
        if offsets[offsets.len() - 1] == 0 {
            return Err(MechanismError::Unsuitable("DualQuery needs at least one query".into()));
        }
        Ok(Self { domain: workload.domain().clone(), parts, offsets })
    }

    pub(super) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(super) fn parts(&self) -> &[SubWorkload] {
        &self.parts
    }

    /// The number of queries, without negations.
    pub(super) fn len(&self) -> usize {
        self.offsets[self.parts.len()]
    }

    pub(super) fn sample(&self, index: usize) -> Sample {
        Sample { query: index % self.len(), negated: index >= self.len() }
    }

    /// The predicates of a query, in axis order.
    pub(super) fn conjuncts(&self, query: usize) -> Vec<Conjunct> {
        let index = self.offsets.partition_point(|&offset| offset <= query) - 1;
        let part = &self.parts[index];
        let mut row = query - self.offsets[index];
        let factors = part.query.factors().iter().zip(part.query.shape());
        let mut conjuncts: Vec<Conjunct> = factors
            .zip(part.clique.iter())
            .rev()
            .map(|((factor, &n), attribute)| {
                let rows = factor.rows(n);
                let mut asked = vec![0.0; rows];
                asked[row % rows] = 1.0;
                row /= rows;
                let mut values = vec![0.0; n];
                factor.apply_transpose(n, 1, &asked, &mut values);
                let satisfies = values.iter().map(|&value| value != 0.0).collect();
                Conjunct { attribute, satisfies }
            })
            .collect();
        conjuncts.reverse();
        conjuncts
    }

    /// The number of records that satisfy each query.
    pub(super) fn counts(&self, data: &Dataset) -> Result<Vec<f64>, MechanismError> {
        let mut counts = Vec::with_capacity(self.len());
        for part in &self.parts {
            counts.extend(part.answers(data.project(&part.clique)?.values()));
        }
        Ok(counts)
    }

    /// 1 for each query that the record satisfies, otherwise 0. A record has a code per attribute,
    /// in axis order.
    pub(super) fn answers(&self, record: &[u32]) -> Vec<f64> {
        let mut answers = Vec::with_capacity(self.len());
        for part in &self.parts {
            let cell = part
                .clique
                .iter()
                .fold(0, |cell, id| cell * self.domain.size(id) + record[id.index()] as usize);
            let mut marginal = vec![0.0; part.query.cols()];
            marginal[cell] = 1.0;
            answers.extend(part.answers(&marginal));
        }
        answers
    }
}

fn is_conjunctive(part: &SubWorkload) -> bool {
    let query = &part.query;
    query.factors().len() == part.clique.len()
        && query.factors().iter().zip(query.shape()).all(|(factor, &n)| factor.counts(n))
}
