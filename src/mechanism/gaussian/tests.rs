use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Delta, Epsilon, Rho};

#[test]
fn the_sensitivity_of_all_marginals_together_is_as_claimed() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let worst = worst_case::<L2>(SmallTable::CELLS, records, |counts| {
            let table = SmallTable::new(counts);
            cells(&table.data, &table.workload.cliques()).unwrap()
        });
        let claimed = sensitivity(3, neighbours).unwrap().get();
        assert!(worst.distance <= claimed && worst.distance > claimed * (1.0 - 1e-15), "{worst:?}");
    }
}

#[test]
fn all_marginals_are_paid_for_by_one_draw() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let total = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let (release, budget) = table.release(&GAUSSIAN, total, Neighbours::Replace, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(total.into()));
    let ledger = budget.ledger();
    let [line] = ledger.lines() else { panic!("one draw") };
    let rho = Rho::implying(total.0, total.1).unwrap().get();
    let sigma = (6.0 / (2.0 * rho)).sqrt();
    assert!((line.entry.draw.scale / sigma - 1.0).abs() < 1e-9);
    let sizes: Vec<usize> = answers(&release).iter().map(|m| m.y.len()).collect();
    assert_eq!(sizes, [6, 3, 2]);
    let (again, _) = table.release(&GAUSSIAN, total, Neighbours::Replace, 1);
    assert_eq!(answers(&release), answers(&again));
}

#[test]
fn a_pure_budget_is_refused() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let mut budget = Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace);
    let mut source = NoiseSource::seeded(&dp::SeedPath::new("seed", 1));
    let refused = Gaussian {}.release(&table.task(), &mut budget, &mut source);
    assert!(refused.err().unwrap().to_string().contains("Gaussian noise needs"));
    assert!(budget.ledger().lines().is_empty());
}
