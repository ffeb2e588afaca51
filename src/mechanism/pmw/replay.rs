//! p^ rebuilt from the published updates.
//!
//! The queries of the updates and their order are public. They determine the last p^ in any form,
//! so all arms describe the same distribution.

use std::sync::Arc;
use std::time::Instant;

use super::{potentials, table};
use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::baselines::Tables;
use private_pgm::factor::{CliqueLayout, Potentials};
use private_pgm::fit::{
    Diagnostics, EstimateError, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence,
};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::loss::maximal_cliques;
use private_pgm::model::{Calibrated, DEFAULT_CELL_LIMIT, Model};
use private_pgm::numeric::bytes::Bytes;

pub(super) struct Updates {
    /// Queries that p^ overestimated.
    pub(super) queries: Vec<CountingQuery>,
    /// The step size.
    pub(super) eta: f64,
    /// How the run ended.
    pub(super) ending: String,
}

/// The form of the lecture: a table over all attributes, multiplied and normalised update by
/// update.
pub(super) struct Dense(pub(super) Arc<Updates>);

/// The same updates as potentials of a graphical model on the cliques of the queries.
pub(super) struct LogDomain(pub(super) Arc<Updates>);

impl Updates {
    fn diagnostics(&self, bytes: f64, junction_tree_cells: Option<f64>) -> Diagnostics {
        Diagnostics {
            iterations: Some(self.queries.len()),
            junction_tree_cells,
            bytes: Some(bytes),
            message: self.ending.clone(),
            ..Diagnostics::default()
        }
    }
}

fn in_time(context: &EstimatorContext<'_>, iterations: usize) -> Result<(), EstimatorError> {
    match context.deadline {
        Some(deadline) if Instant::now() >= deadline => Err(EstimatorError::Timeout { iterations }),
        _ => Ok(()),
    }
}

impl Estimator for Dense {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let bytes = table::bytes(evidence.domain);
        if bytes > context.memory_limit as f64 {
            let message = format!(
                "the table of all possible records needs {}, more than the limit of {}",
                Bytes(bytes),
                Bytes(context.memory_limit as f64),
            );
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        let mut table = table::uniform(evidence.domain);
        for (iteration, query) in self.0.queries.iter().enumerate() {
            in_time(context, iteration)?;
            table::update(&mut table, query, self.0.eta);
        }
        let answers = Box::new(Tables::new(evidence.domain, vec![table.scaled(evidence.total)]));
        Ok(Estimated { answers, model: None, diagnostics: self.0.diagnostics(bytes, None) })
    }
}

impl Estimator for LogDomain {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        in_time(context, 0)?;
        let domain = evidence.domain;
        let cliques = maximal_cliques(self.0.queries.iter().map(|query| &query.clique));
        let tree = JunctionTree::new(domain, &cliques);
        tree.check_limit(context.memory_limit).map_err(EstimateError::from)?;
        let mut potentials = Potentials::zeros(&CliqueLayout::new(domain.clone(), cliques));
        for query in &self.0.queries {
            potentials::update(domain, &mut potentials, query, self.0.eta);
        }
        let size = tree.size();
        let model = Model::new(evidence.total, potentials);
        let answers = Box::new(Calibrated::new(&model, tree, DEFAULT_CELL_LIMIT)?);
        let diagnostics = self.0.diagnostics(size.bytes(), Some(size.cells));
        Ok(Estimated { answers, model: Some(model), diagnostics })
    }
}
