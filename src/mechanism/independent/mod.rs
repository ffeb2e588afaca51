//! Independent: the one-way marginals of all attributes, with Gaussian noise. The estimate of
//! largest entropy is a product distribution: a baseline that knows no dependence between
//! attributes.
//!
//! Each of the d marginals has an equal part of the budget. A record is in one cell of each, so
//! together they are one draw of L2 sensitivity sqrt(d) under add or remove and sqrt(2 d) under
//! replacement, of the same cost.

use std::time::Instant;

use serde::Deserialize;

use super::support::final_estimate::{FINAL_ITERATIONS, final_pgm};
use super::support::gaussian_marginal::measure_marginal;
use super::{
    CostModel, GuaranteeKind, Measured, Mechanism, MechanismError, MechanismSpec, Release, Task,
    WorkloadDependence, parse,
};
use dp::{Budget, NoiseSource};
use private_pgm::domain::Clique;

pub(super) static INDEPENDENT: MechanismSpec = MechanismSpec {
    name: "independent",
    title: "Independent",
    summary: "Measures all one-way marginals, as if the attributes were independent.",
    reference: "a baseline",
    guarantee: GuaranteeKind::Concentrated,
    own_estimator: "a product distribution",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel {
        measured: Measured::Attributes,
        own_iterations: FINAL_ITERATIONS as f64,
        ..CostModel::NEGLIGIBLE
    },
    extra_estimators: &[],
    parameters: &[],
    build: |table| Ok(Box::new(parse::<Independent>(table)?)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Independent {}

impl Mechanism for Independent {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        task.in_time()?;
        let began = Instant::now();
        let (domain, neighbours) = (task.data.domain(), budget.neighbours());
        if domain.is_empty() || task.public_records(neighbours) == Some(0) {
            return Err(MechanismError::Unsuitable(
                "expected data with at least one record and one attribute".into(),
            ));
        }
        let shares = budget.rest()?.split(domain.len())?;
        let answers = domain
            .ids()
            .zip(shares)
            .map(|(id, share)| {
                let share = dp::sabotage!(
                    share,
                    "independent-all-of-the-budget-each",
                    super::sabotaged::unpaid(budget.total(), neighbours)
                );
                measure_marginal(task, &Clique::new([id]), "marginal of ", share, source)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let total = task.total(neighbours, &answers)?;
        Ok(Release::of_answers(total, answers, Box::new(final_pgm()), began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::support::small_table::{SmallTable, answers};
    use dp::{Epsilon, Guarantee, Neighbours, Rho};

    #[test]
    fn every_attribute_has_an_equal_part_of_the_budget() {
        let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
        for (neighbours, squared) in [(Neighbours::Replace, 2.0), (Neighbours::AddRemove, 1.0)] {
            let (release, budget) =
                table.release(&INDEPENDENT, Rho::new(0.1).unwrap(), neighbours, 1);
            let spent = budget.ledger().verify(budget.total()).unwrap();
            let Some(Guarantee::Concentrated { rho }) = spent else { panic!("{spent:?}") };
            assert!((rho.get() - 0.1).abs() < 1e-12);
            assert_eq!(answers(&release).len(), 2);
            for answer in answers(&release) {
                let sigma = (squared * 2.0 / (2.0 * 0.1f64)).sqrt();
                assert!((answer.stddev / sigma - 1.0).abs() < 1e-3, "{} {sigma}", answer.stddev);
            }
        }
    }

    #[test]
    fn a_pure_budget_is_refused() {
        let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
        let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
        let mut source = NoiseSource::seeded(&dp::SeedPath::new("seed", 1));
        let refused = Independent {}.release(&table.task(), &mut budget, &mut source);
        assert!(refused.err().unwrap().to_string().contains("Gaussian noise needs"));
    }
}
