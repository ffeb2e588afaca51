use super::*;
use crate::factor::Projectable;
use crate::mechanism::small_table::{SmallTable, answers};
use crate::privacy::Epsilon;
use crate::privacy::sensitivity::brute_force::{Records, worst_case};

#[test]
fn a_record_moves_as_many_nodes_as_claimed() {
    for (neighbours, records) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        for branching in [2, 3, 6] {
            for clique in SmallTable::new(&[0; 6]).workload.cliques() {
                let table = SmallTable::new(&[1; 6]);
                let cells = table.data.project(&clique).unwrap().values().len();
                let tree = Tree::new(branching, cells).unwrap();
                let worst = worst_case::<L1>(SmallTable::CELLS, records, |counts| {
                    let table = SmallTable::new(counts);
                    tree.sums(table.data.project(&clique).unwrap().values())
                });
                assert_eq!(worst.distance, sensitivity(&tree, neighbours).unwrap().get());
            }
        }
    }
}

#[test]
fn every_node_is_measured_with_the_noise_of_its_tree() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let epsilon = Epsilon::new(1.5).unwrap();
    let (release, budget) = table.release(&TREE, epsilon, Neighbours::AddRemove, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
    let scales: Vec<f64> =
        budget.ledger().lines().iter().map(|line| line.entry.draw.scale).collect();
    // Trees over 6, 3 and 2 cells have 4, 3 and 2 levels; each has a third of the budget.
    assert_eq!(scales, [8.0, 6.0, 4.0]);
    let measured = &answers(&release)[0];
    assert_eq!((measured.y.len(), measured.query.rows()), (12, 12));
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for (text, name) in [
        ("branching = 1", "branching"),
        ("alpha = 1.5", "alpha"),
        ("alpha = -0.1", "alpha"),
        ("rho = 0.0", "rho"),
    ] {
        let message = (TREE.build)(&text.parse().unwrap()).err().unwrap().message;
        assert!(message.starts_with(name), "{text}: {message}");
    }
}
