//! The sensitivity of a function on small tables, by enumeration of all neighbouring pairs.
//!
//! A wrong sensitivity breaks privacy without any visible effect on outputs. A test should
//! therefore compare every sensitivity that a mechanism claims with the result of this module. The
//! search can show that a claim is too small, but not that it is large enough, since it covers
//! small tables only.
//!
//! ```
//! use dp::sensitivity::brute_force::{Records, worst_case};
//! use dp::L1;
//!
//! // The largest count of a table with three cells changes by one when a record is replaced.
//! let worst = worst_case::<L1>(3, Records::Exactly(4), |table| {
//!     vec![*table.iter().max().unwrap() as f64]
//! });
//! assert_eq!(worst.distance, 1.0);
//! ```

use super::Norm;

/// Which tables to enumerate, and the neighbouring relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Tables with this many records; neighbours differ in one replaced record.
    Exactly(u64),
    /// Tables with up to this many records; neighbours differ in one added or removed record.
    UpTo(u64),
}

/// The pair of neighbouring tables on which a function differs most.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstCase {
    /// The distance of the function's values; 0 if there are no neighbours.
    pub distance: f64,
    /// One table, as the count of each cell.
    pub table: Vec<u64>,
    /// The neighbouring table.
    pub neighbour: Vec<u64>,
}

/// The largest distance, in the norm `N`, of `answers` between neighbouring tables with `cells`
/// cells. A distance of NaN counts as infinite.
///
/// Cost: one call of `answers` per neighbour of each table. There are
/// (records + cells - 1 choose records) tables with at most cells^2 neighbours each.
///
/// # Panics
/// If `answers` returns vectors of different lengths.
pub fn worst_case<N: Norm>(
    cells: usize,
    records: Records,
    mut answers: impl FnMut(&[u64]) -> Vec<f64>,
) -> WorstCase {
    let mut worst = WorstCase { distance: 0.0, table: vec![0; cells], neighbour: vec![0; cells] };
    for_each_table(cells, records, |table| {
        let here = answers(table);
        let mut neighbour = table.to_vec();
        for_each_neighbour(&mut neighbour, records, |neighbour| {
            let there = answers(neighbour);
            assert_eq!(here.len(), there.len(), "the number of answers depends on the table");
            let distance = N::distance(&here, &there);
            let distance = if distance.is_nan() { f64::INFINITY } else { distance };
            if distance > worst.distance {
                worst =
                    WorstCase { distance, table: table.to_vec(), neighbour: neighbour.to_vec() };
            }
        });
    });
    worst
}

/// Calls `visit` with every table of `cells` cells and this number of records.
pub fn for_each_table(cells: usize, records: Records, mut visit: impl FnMut(&[u64])) {
    let mut table = vec![0; cells];
    match records {
        Records::Exactly(count) => fill(&mut table, 0, count, &mut visit),
        Records::UpTo(most) => (0..=most).for_each(|n| fill(&mut table, 0, n, &mut visit)),
    }
}

/// Visits every distribution of `left` records over the cells from `cell` on.
fn fill(table: &mut [u64], cell: usize, left: u64, visit: &mut impl FnMut(&[u64])) {
    if cell == table.len() {
        if left == 0 {
            visit(table);
        }
        return;
    }
    for count in 0..=left {
        table[cell] = count;
        fill(table, cell + 1, left - count, visit);
    }
    table[cell] = 0;
}

/// Calls `visit` with each neighbour of the table, and restores the table. A pair is visited once
/// under add or remove, twice under replace.
fn for_each_neighbour(table: &mut [u64], records: Records, mut visit: impl FnMut(&[u64])) {
    for to in 0..table.len() {
        match records {
            Records::UpTo(most) => {
                if table.iter().sum::<u64>() < most {
                    table[to] += 1;
                    visit(table);
                    table[to] -= 1;
                }
            }
            Records::Exactly(_) => {
                for from in 0..table.len() {
                    if from != to && table[from] > 0 {
                        table[from] -= 1;
                        table[to] += 1;
                        visit(table);
                        table[to] -= 1;
                        table[from] += 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{L1, L2, LInfinity};
    use super::*;

    fn count_tables(cells: usize, records: Records) -> usize {
        let mut count = 0;
        for_each_table(cells, records, |_| count += 1);
        count
    }

    #[test]
    fn every_table_is_visited_once() {
        // (n + k - 1 choose n) tables of k cells; summed over 0..=n, that of k + 1 cells.
        assert_eq!(count_tables(3, Records::Exactly(4)), 15);
        assert_eq!(count_tables(3, Records::UpTo(4)), 35);
        let mut seen = std::collections::HashSet::new();
        for_each_table(4, Records::UpTo(3), |table| assert!(seen.insert(table.to_vec())));
        assert_eq!(seen.len(), 35);
    }

    #[test]
    fn sums_of_squares_grow_with_the_table() {
        // Moving one of n records into the cell of the others: n^2 - ((n-1)^2 + 1) = 2n - 2.
        let squares = |table: &[u64]| vec![table.iter().map(|c| (c * c) as f64).sum()];
        let worst = worst_case::<L1>(3, Records::Exactly(5), squares);
        assert_eq!(worst.distance, 8.0);
        assert_eq!(worst.table.iter().sum::<u64>(), 5);
        // Adding the n-th record: n^2 - (n-1)^2 = 2n - 1.
        assert_eq!(worst_case::<LInfinity>(3, Records::UpTo(5), squares).distance, 9.0);
    }

    #[test]
    fn the_distance_depends_on_the_norm() {
        let counts = |table: &[u64]| table.iter().map(|&c| c as f64).collect();
        let records = Records::Exactly(2);
        assert_eq!(worst_case::<L1>(3, records, counts).distance, 2.0);
        assert_eq!(worst_case::<L2>(3, records, counts).distance, 2f64.sqrt());
        assert_eq!(worst_case::<LInfinity>(3, records, counts).distance, 1.0);
    }

    #[test]
    fn a_function_with_nan_values_has_infinite_sensitivity() {
        let mean = |table: &[u64]| vec![table[0] as f64 / table.iter().sum::<u64>() as f64];
        assert_eq!(worst_case::<L1>(2, Records::UpTo(2), mean).distance, f64::INFINITY);
        assert_eq!(worst_case::<LInfinity>(2, Records::UpTo(2), mean).distance, f64::INFINITY);
    }
}
