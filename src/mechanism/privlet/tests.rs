use super::*;
use crate::mechanism::support::small_table::{SmallTable, answers};
use dp::Epsilon;
use dp::sensitivity::brute_force::{Records, worst_case};
use private_pgm::model::Projectable;

#[test]
fn the_sensitivity_of_the_coefficients_is_as_claimed() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        for clique in SmallTable::new(&[0; 6]).workload.cliques() {
            let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
                haar::transform(SmallTable::new(counts).data.project(&clique).unwrap().values())
            });
            let cells = SmallTable::new(&[1; 6]).data.project(&clique).unwrap().values().len();
            assert_eq!(worst.distance, sensitivity(cells, neighbours).unwrap().get(), "{cells}");
        }
    }
}

#[test]
fn the_coefficients_of_the_marginals_are_published() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    // With so large a budget, noise on integers is 0.
    let epsilon = Epsilon::new(1e4).unwrap();
    let (release, budget) = table.release(&PRIVLET, epsilon, Neighbours::AddRemove, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
    for measured in answers(&release) {
        let cells = table.data.project(&measured.clique).unwrap();
        let mut rows = vec![0.0; measured.query.rows()];
        let mut scratch = vec![0.0; measured.query.scratch_len()];
        measured.query.apply(cells.values(), &mut rows, &mut scratch);
        assert_eq!(measured.y, rows);
    }
}
