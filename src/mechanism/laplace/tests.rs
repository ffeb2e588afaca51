use rand::SeedableRng;

use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Epsilon, Neighbours};
use private_pgm::fit::EstimatorContext;
use private_pgm::model::Projectable;

#[test]
fn a_record_is_in_one_cell_of_each_marginal() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        for clique in SmallTable::new(&[0; 6]).workload.cliques() {
            let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
                SmallTable::new(counts).data.project(&clique).unwrap().into_values()
            });
            let claimed = Sensitivity::<L1>::linear(1.0, neighbours).unwrap();
            assert_eq!(worst.distance, claimed.get());
        }
    }
}

#[test]
fn marginals_share_the_budget_evenly() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let epsilon = Epsilon::new(1.5).unwrap();
    let (release, budget) = table.release(&LAPLACE, epsilon, Neighbours::Replace, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
    assert!(budget.ledger().lines().iter().all(|line| line.entry.draw.scale == 4.0));
    assert_eq!(release.total, 15.0);
    let (again, _) = table.release(&LAPLACE, epsilon, Neighbours::Replace, 1);
    assert_eq!(answers(&release), answers(&again));
    assert_eq!(answers(&release).len(), 3);
    assert!(answers(&release).iter().all(|m| m.y.iter().all(|y| y.fract() == 0.0)));
}

#[test]
fn public_marginals_are_kept_and_cost_nothing() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let epsilon = Epsilon::new(1.0).unwrap();
    let release = |public| {
        let task = Task { public, ..table.task() };
        let mechanism = (LAPLACE.build)(&toml::Table::new()).unwrap();
        let mut budget = Budget::new(epsilon, Neighbours::AddRemove);
        let mut source = NoiseSource::seeded(&dp::SeedPath::new("seed", 4));
        let release = mechanism.release(&task, &mut budget, &mut source).unwrap();
        assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
        release
    };
    let (nothing, first_order) = (release(None), release(Some(1)));
    assert_eq!(answers(&nothing)[..3], answers(&first_order)[..3]);
    assert_eq!(answers(&nothing).len(), 3);
    let public = &answers(&first_order)[3..];
    assert_eq!(public.len(), 2);
    for known in public {
        assert_eq!(known.y, table.data.project(&known.clique).unwrap().values());
    }
    let domain = table.data.domain();
    for (name, estimator) in &first_order.extra_estimators {
        let mut rng = rand_chacha::ChaCha20Rng::from_seed([0; 32]);
        let mut context = EstimatorContext {
            memory_limit: 1 << 30,
            deadline: None,
            warm_start: None,
            rng: &mut rng,
            observer: &mut |_| {},
        };
        let found = estimator.estimate(&first_order.evidence(domain), &mut context).unwrap();
        let whole = &found.answers.marginals(&[domain.everything()]).unwrap()[0];
        for known in public {
            let ours = whole.sum_onto(&known.clique);
            let close = ours.values().iter().zip(&known.y).all(|(a, b)| (a - b).abs() < 0.05);
            assert!(close, "{name}: {ours:?} and not {:?}", known.y);
        }
    }
}

#[test]
fn unknown_parameters_are_refused() {
    assert!((LAPLACE.build)(&"sigma = 1.0".parse().unwrap()).is_err());
}
