use crate::data::Dataset;
use crate::mechanism::MechanismError;
use crate::workload::{SubWorkload, Workload};
use private_pgm::domain::{AttributeId, Domain};
use private_pgm::factor::Projectable;

/// The queries of a workload, numbered through: yes-or-no questions about a record, each a
/// conjunction of one about every attribute of its clique. Query `i + len` is the negation of `i`.
#[derive(Clone)]
pub(super) struct Queries {
    domain: Domain,
    parts: Vec<SubWorkload>,
    /// Where the queries of each part begin, and where the last ends.
    offsets: Vec<usize>,
}

/// A query that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Which one, without its negation.
    pub(super) query: usize,
    /// Whether it was the negation.
    pub(super) negated: bool,
}

/// What a query asks about one attribute.
pub(super) struct Conjunct {
    /// The attribute.
    pub(super) attribute: AttributeId,
    /// Which of its values the query says yes to.
    pub(super) says_yes: Vec<bool>,
}

impl Sample {
    /// 1, or -1 for a negation: up to a constant, what the query says is this times what its
    /// affirmative says.
    pub(super) fn sign(self) -> f64 {
        if self.negated { -1.0 } else { 1.0 }
    }
}

impl Queries {
    /// The queries of the workload. Refused when one of them is no such question.
    pub(super) fn new(workload: &Workload) -> Result<Self, MechanismError> {
        let parts = workload.parts().to_vec();
        if let Some(part) = parts.iter().find(|part| !asks_yes_or_no(part)) {
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

    /// The attributes.
    pub(super) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The sub-workloads.
    pub(super) fn parts(&self) -> &[SubWorkload] {
        &self.parts
    }

    /// The number of queries, without negations.
    pub(super) fn len(&self) -> usize {
        self.offsets[self.parts.len()]
    }

    /// The sample with this number, negations included.
    pub(super) fn sample(&self, index: usize) -> Sample {
        Sample { query: index % self.len(), negated: index >= self.len() }
    }

    /// What a query asks about each attribute of its clique, in axis order.
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
                let says_yes = values.iter().map(|&value| value != 0.0).collect();
                Conjunct { attribute, says_yes }
            })
            .collect();
        conjuncts.reverse();
        conjuncts
    }

    /// How many records say yes to each query.
    pub(super) fn counts(&self, data: &Dataset) -> Result<Vec<f64>, MechanismError> {
        let mut counts = Vec::with_capacity(self.len());
        for part in &self.parts {
            counts.extend(part.answers(data.project(&part.clique)?.values()));
        }
        Ok(counts)
    }

    /// What one record, a code for each attribute in axis order, says to each query: 1 or 0.
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

fn asks_yes_or_no(part: &SubWorkload) -> bool {
    let query = &part.query;
    query.factors().len() == part.clique.len()
        && query.factors().iter().zip(query.shape()).all(|(factor, &n)| factor.counts(n))
}
