use super::*;
use crate::mechanism::small_table::{SmallTable, answers};
use crate::privacy::sensitivity::brute_force::{Records, worst_case};
use crate::privacy::{Epsilon, Neighbours};

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
fn there_is_nothing_to_set() {
    assert!((LAPLACE.build)(&"sigma = 1.0".parse().unwrap()).is_err());
}
