use super::*;
use crate::mechanism::support::small_table::SmallTable;
use dp::Epsilon;
use dp::sensitivity::brute_force::{Records, worst_case};

const CASES: [(Neighbours, Records); 2] =
    [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))];

fn coefficients(counts: &[u64]) -> Vec<f64> {
    let mut padded: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    padded.resize(padded.len().next_power_of_two(), 0.0);
    real_fourier(&padded)
}

#[test]
fn the_sensitivity_of_the_coefficients_is_at_most_as_claimed() {
    for (neighbours, records) in CASES {
        for kept in [1, 3, 5, 7, 8] {
            let worst =
                worst_case::<L1>(8, records, |counts| coefficients(counts)[..kept].to_vec());
            let claimed = sensitivity(kept, 8, 3.0, neighbours).unwrap().get();
            assert!(worst.distance <= claimed, "{kept}: {} and not {claimed}", worst.distance);
            // Replacing a record does not change the first coefficient, so the claim is not tight.
            let tight = neighbours == Neighbours::Replace || worst.distance > 0.8 * claimed;
            assert!(tight, "{kept}: {} is far below {claimed}", worst.distance);
        }
    }
}

#[test]
fn the_sensitivity_of_the_omitted_norm_is_at_most_as_claimed() {
    for (neighbours, records) in CASES {
        for kept in [1, 3, 5, 7] {
            let worst = worst_case::<LInfinity>(8, records, |counts| {
                vec![coefficients(counts)[kept..].iter().map(|c| c * c).sum::<f64>().sqrt()]
            });
            let claimed = score_sensitivity(3.0, 8, 0.0, neighbours).unwrap().get();
            assert!(worst.distance <= claimed, "{kept}: {} and not {claimed}", worst.distance);
        }
    }
}

#[test]
fn the_budget_is_spent_on_numbers_and_coefficients() {
    let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
    let epsilon = Epsilon::new(1.5).unwrap();
    let (release, budget) = table.release(&EFPA, epsilon, Neighbours::Replace, 1);
    assert_eq!(budget.ledger().verify(budget.total()).unwrap(), Some(epsilon.into()));
    assert_eq!(budget.ledger().lines().len(), 6);
    assert_eq!(release.total, 15.0);
}
