use crate::mechanism::MechanismError;
use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::domain::{Clique, Domain};
use private_pgm::elimination_plan::EliminationPlan;
use private_pgm::factor::{Factor, Marginals, Potentials};
use private_pgm::fit::{EstimateError, EstimatorError};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::loss::maximal_cliques;
use private_pgm::numeric::strided::Projection;
use private_pgm::oracle::{Exact, MarginalOracle};

use super::{potentials, table};

/// p^ during the rounds. It supports updates and marginals.
///
/// Both forms are the same distribution. The lecture uses a table over all attributes. Potentials
/// on the cliques of the workload need the memory of their junction tree, which is small for chains
/// of attributes and any number of possible records. The smaller form is used. If the workload
/// connects all attributes, as all l-way marginals do, that is the table.
pub(super) struct State {
    domain: Domain,
    cliques: Vec<Clique>,
    form: Form,
}

enum Form {
    Table { table: Factor, projections: Vec<Projection> },
    Model(Box<ModelState>),
}

struct ModelState {
    oracle: Exact,
    potentials: Potentials,
    marginals: Marginals,
    /// For each clique, the table that contains it and the projection.
    projections: Vec<(usize, Projection)>,
}

impl State {
    /// The uniform distribution, with marginals on these cliques and updates within them. Fails if
    /// neither form fits into memory.
    pub(super) fn uniform(
        domain: &Domain,
        cliques: Vec<Clique>,
        memory_limit: u64,
    ) -> Result<Self, MechanismError> {
        let maximal = maximal_cliques(&cliques);
        let tree = JunctionTree::new(domain, &maximal);
        let form = match tree.size().bytes() < table::bytes(domain) {
            true => Form::Model(Box::new(model(domain, &cliques, &maximal, &tree, memory_limit)?)),
            false => {
                tree.check_bytes(table::bytes(domain), memory_limit)
                    .map_err(|error| EstimatorError::from(EstimateError::from(error)))?;
                let table = table::uniform(domain);
                let projections = cliques.iter().map(|clique| table.projection(clique)).collect();
                Form::Table { table, projections }
            }
        };
        Ok(Self { domain: domain.clone(), cliques, form })
    }

    /// The update U(q, p^).
    pub(super) fn update(&mut self, query: &CountingQuery, eta: f64) {
        match &mut self.form {
            Form::Table { table, .. } => table::update(table, query, eta),
            Form::Model(state) => {
                potentials::update(&self.domain, &mut state.potentials, query, eta);
                state.recompute();
            }
        }
    }

    /// The marginals on the cliques, normalised to 1.
    pub(super) fn marginals(&self) -> Vec<Factor> {
        let values: Vec<Vec<f64>> = match &self.form {
            Form::Table { table, projections } => {
                projections.iter().map(|projection| projection.sums(table.values())).collect()
            }
            Form::Model(state) => state.marginals(),
        };
        let named = self.cliques.iter().cloned().zip(values);
        named.map(|(clique, values)| Factor::new(&self.domain, clique, values)).collect()
    }
}

fn model(
    domain: &Domain,
    cliques: &[Clique],
    maximal: &[Clique],
    tree: &JunctionTree,
    memory_limit: u64,
) -> Result<ModelState, MechanismError> {
    let plan = EliminationPlan::new(domain, maximal, tree);
    let cells: f64 = maximal.iter().map(|clique| domain.cells_f64(clique)).sum();
    // Potentials and marginals are in addition to the tables of the oracle.
    let bytes = plan.bytes(domain) + 2.0 * size_of::<f64>() as f64 * cells;
    tree.check_bytes(bytes, memory_limit)
        .map_err(|error| EstimatorError::from(EstimateError::from(error)))?;
    let oracle = Exact::from_plan(domain, maximal, &plan).with_threads(false);
    let layout = oracle.layout();
    let projection = |clique: &Clique| {
        let index = layout.covering(clique).expect("the cliques are covered");
        let big = &layout.cliques()[index];
        let kept: Vec<bool> = big.iter().map(|id| clique.contains(id)).collect();
        (index, Projection::new(&domain.shape(big), &kept))
    };
    let projections = cliques.iter().map(projection).collect();
    let (potentials, marginals) = (Potentials::zeros(layout), Marginals::zeros(layout));
    let mut state = ModelState { oracle, potentials, marginals, projections };
    state.recompute();
    Ok(state)
}

impl ModelState {
    fn recompute(&mut self) {
        self.oracle.marginals(&self.potentials, 1.0, &mut self.marginals);
    }

    fn marginals(&self) -> Vec<Vec<f64>> {
        let marginal = |(index, projection): &(usize, Projection)| {
            projection.sums(self.marginals.table(*index))
        };
        self.projections.iter().map(marginal).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// On a chain the junction tree is the smaller form.
        #[test]
        fn table_and_model_remain_the_same_distribution(
            updates in prop::collection::vec(
                (0usize..6, prop::collection::vec(0usize..6, 1..4)),
                0..30,
            ),
            eta in 0.01f64..0.9,
        ) {
            let domain = Domain::new((0..7).map(|i| (format!("x{i}"), 2 + i % 2))).unwrap();
            let chain: Vec<Clique> = domain
                .declared()
                .windows(2)
                .map(|pair| Clique::new(pair.iter().copied()))
                .collect();
            let asked: Vec<Clique> =
                chain.iter().cloned().chain([Clique::new([domain.declared()[3]])]).collect();
            let mut state = State::uniform(&domain, asked.clone(), u64::MAX).unwrap();
            prop_assert!(matches!(state.form, Form::Model(_)));
            let mut table = table::uniform(&domain);
            for (place, mut cells) in updates {
                cells.sort_unstable();
                cells.dedup();
                let query = CountingQuery { clique: chain[place].clone(), cells };
                state.update(&query, eta);
                table::update(&mut table, &query, eta);
            }
            for (clique, found) in asked.iter().zip(state.marginals()) {
                let expected = table.sum_onto(clique);
                for (a, b) in found.values().iter().zip(expected.values()) {
                    prop_assert!((a - b).abs() < 1e-12, "{} and {}", a, b);
                }
            }
        }
    }

    #[test]
    fn a_table_is_used_if_all_attributes_are_connected_and_refused_if_it_does_not_fit() {
        let domain = Domain::new((0..10).map(|i| (format!("x{i}"), 2))).unwrap();
        let ids = domain.declared();
        let pairs = || ids.iter().flat_map(|&a| ids.iter().map(move |&b| Clique::new([a, b])));
        let state = State::uniform(&domain, pairs().collect(), 8 << 10).unwrap();
        assert!(matches!(state.form, Form::Table { .. }));
        let refused = State::uniform(&domain, pairs().collect(), (8 << 10) - 1).err().unwrap();
        assert!(matches!(
            refused,
            MechanismError::Estimator(EstimatorError::Infeasible { bytes: 8192.0, .. })
        ));
    }
}
