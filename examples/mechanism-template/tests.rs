use super::*;
use crate::mechanism::support::small_table::SmallTable;
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Epsilon, Neighbours};

#[test]
fn the_sensitivity_is_as_claimed_over_all_neighbouring_tables() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
            let table = SmallTable::new(counts);
            let clique = table.workload.cliques().remove(0);
            table.data.project(&clique).unwrap().values().to_vec()
        });
        let claimed = Sensitivity::<L1>::linear(1.0, neighbours).unwrap().get();
        assert_eq!(worst.distance, claimed, "{worst:?}");
    }
}

#[test]
fn the_ledger_adds_up_to_the_budget() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let total = Epsilon::new(1.0).unwrap();
    let (_, budget) = table.release(&TEMPLATE, total, Neighbours::Replace, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(total.into()));
    assert_eq!(budget.ledger().lines().len(), 3);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for text in ["power = -0.5", "power = 1.5", "pover = 1.0"] {
        assert!((TEMPLATE.build)(&text.parse().unwrap()).is_err(), "{text}");
    }
}
