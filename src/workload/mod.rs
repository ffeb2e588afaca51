//! Workloads: the queries by which a release is evaluated.

use private_pgm::domain::{Clique, Domain};
use private_pgm::model::{MarginalError, Projectable};
use private_pgm::numeric::memory;
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};

/// Queries over several cliques, W.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    domain: Domain,
    parts: Vec<SubWorkload>,
}

/// The queries over one clique, W_C.
#[derive(Clone, Debug, PartialEq)]
pub struct SubWorkload {
    /// C.
    pub clique: Clique,
    /// W_C, over the cells of the marginal in axis order.
    pub query: QueryMatrix,
}

impl Workload {
    /// One sub-workload per clique: the Kronecker product of a prefix matrix for each attribute of
    /// `prefix` and an identity for each other attribute (ICML 2019, section 5.1).
    pub fn marginals(
        domain: &Domain,
        cliques: &[Clique],
        prefix: &Clique,
    ) -> Result<Self, QueryError> {
        let part = |clique: &Clique| {
            let factor = |id| match prefix.contains(id) {
                true => QueryFactor::Prefix,
                false => QueryFactor::Identity,
            };
            let factors = clique.iter().map(factor).collect();
            let (query, _) = QueryMatrix::kronecker(domain, clique.as_slice(), factors)?;
            Ok(SubWorkload { clique: clique.clone(), query })
        };
        let parts = cliques.iter().map(part).collect::<Result<_, _>>()?;
        Ok(Self { domain: domain.clone(), parts })
    }

    pub fn whole(domain: &Domain, part: SubWorkload) -> Self {
        Self { domain: domain.clone(), parts: vec![part] }
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    pub fn parts(&self) -> &[SubWorkload] {
        &self.parts
    }

    pub fn cliques(&self) -> Vec<Clique> {
        self.parts.iter().map(|part| part.clique.clone()).collect()
    }

    pub fn queries(&self) -> usize {
        self.parts.iter().map(|part| part.query.rows()).sum()
    }

    /// By sub-workload.
    pub fn answers(&self, data: &dyn Projectable) -> Result<Vec<Vec<f64>>, MarginalError> {
        let answer = |part: &SubWorkload| Ok(part.answers(data.project(&part.clique)?.values()));
        self.parts.iter().map(answer).collect()
    }
}

impl SubWorkload {
    /// W_C mu_C.
    pub fn answers(&self, marginal: &[f64]) -> Vec<f64> {
        let mut answers = memory::zeros(self.query.rows());
        let mut scratch = memory::zeros(self.query.scratch_len());
        self.query.apply(marginal, &mut answers, &mut scratch);
        answers
    }
}
