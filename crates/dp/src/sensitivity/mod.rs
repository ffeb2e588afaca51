//! Sensitivities: how much one record can change an answer.
//!
//! A guarantee refers to a neighbouring relation. Every sensitivity carries its relation, and a
//! draw rejects a sensitivity for another one.
//!
//! # Linear queries
//!
//! A table x holds a count per cell, and the answers are Q x. A record in cell i contributes the
//! column q_i of Q. Let s bound the norms of the columns.
//!
//! | relation | the answers change by | L1 | L2 | L2, entries of Q nonnegative |
//! | --- | --- | --- | --- | --- |
//! | add or remove | one column, q_i | s | s | s |
//! | replace | a difference, q_i - q_j | 2s | 2s | sqrt(2) s |
//!
//! *Proof.* Adding a record to cell i changes Qx by q_i, removing it by -q_i. A replacement changes
//! it by q_j - q_i, whose norm is at most |q_i| + |q_j| <= 2s by the triangle inequality. In L2,
//! |q_i - q_j|^2 = |q_i|^2 + |q_j|^2 - 2 <q_i, q_j>, which is at most 2 s^2 when the inner product
//! is not negative, as for nonnegative entries. In general sqrt(2) s is no bound: the columns (1)
//! and (-1) have s = 1 and distance 2. (Dwork, McSherry, Nissim, Smith 2006 define the sensitivity;
//! the matrix form is that of Li, Hay, Rastogi, Miklau, McGregor, PODS 2010.)
//!
//! These bounds need s alone. [`Sensitivity::of_columns`] compares all columns instead and can be
//! smaller: a single 0/1 query has s = 1, yet changes by 1, not 2, when a record is replaced.

pub mod brute_force;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The neighbouring relation: which tables differ in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One record is replaced by any other ("bounded"). The number of records is public.
    Replace,
    /// One record is added or removed ("unbounded"). The number of records is private.
    AddRemove,
}

/// A norm on vectors of answers.
pub trait Norm: Copy {
    /// The name in error messages.
    const NAME: &'static str;
    /// The norm of a - b.
    fn distance(a: &[f64], b: &[f64]) -> f64;
}

/// The sum of absolute values, which determines the scale of Laplace noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum L1 {}

/// The Euclidean norm, which determines the scale of Gaussian noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum L2 {}

/// The largest absolute value, which determines the scale of the exponential mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LInfinity {}

fn differences<'a>(a: &'a [f64], b: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    a.iter().zip(b).map(|(a, b)| (a - b).abs())
}

impl Norm for L1 {
    const NAME: &'static str = "L1";
    fn distance(a: &[f64], b: &[f64]) -> f64 {
        differences(a, b).sum()
    }
}

impl Norm for L2 {
    const NAME: &'static str = "L2";
    fn distance(a: &[f64], b: &[f64]) -> f64 {
        differences(a, b).map(|d| d * d).sum::<f64>().sqrt()
    }
}

impl Norm for LInfinity {
    const NAME: &'static str = "L-infinity";
    fn distance(a: &[f64], b: &[f64]) -> f64 {
        differences(a, b).fold(0.0, larger)
    }
}

/// The larger of two numbers, or NaN if one is NaN, which `f64::max` would drop.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// The largest distance, in the norm `N`, between the answers on two neighbouring tables: positive
/// and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity<N> {
    value: f64,
    neighbours: Neighbours,
    norm: PhantomData<N>,
}

/// Why a sensitivity was rejected.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SensitivityError {
    /// Not positive and finite. Zero is rejected too: an answer that no record can change needs no
    /// noise, and a draw for it would hide a mistake.
    #[error("a sensitivity in {norm} must be positive and finite, not {value}")]
    Value {
        /// [`Norm::NAME`].
        norm: &'static str,
        /// The rejected number.
        value: f64,
    },
    /// The columns of the matrix have different lengths.
    #[error("column {column} of the queries has another length than the first")]
    UnequalColumns {
        /// The position of the first column with another length.
        column: usize,
    },
}

impl<N: Norm> Sensitivity<N> {
    /// A sensitivity that the caller has proved. [`brute_force`] tests such claims.
    pub fn new(value: f64, neighbours: Neighbours) -> Result<Self, SensitivityError> {
        if value > 0.0 && value.is_finite() {
            Ok(Self { value, neighbours, norm: PhantomData })
        } else {
            Err(SensitivityError::Value { norm: N::NAME, value })
        }
    }

    /// The exact sensitivity of linear queries with these columns, one per cell of the table: the
    /// largest norm of a column, or the largest distance of two columns. The result is rounded up
    /// where sums may have been rounded. Cost under [`Neighbours::Replace`]: one distance per pair
    /// of columns.
    pub fn of_columns(
        columns: &[Vec<f64>],
        neighbours: Neighbours,
    ) -> Result<Self, SensitivityError> {
        let length = columns.first().map_or(0, Vec::len);
        if let Some(column) = columns.iter().position(|column| column.len() != length) {
            return Err(SensitivityError::UnequalColumns { column });
        }
        let value = match neighbours {
            Neighbours::AddRemove => columns
                .iter()
                .map(|column| N::distance(column, &vec![0.0; length]))
                .fold(0.0, larger),
            Neighbours::Replace => columns
                .iter()
                .enumerate()
                .flat_map(|(i, a)| columns[..i].iter().map(move |b| N::distance(a, b)))
                .fold(0.0, larger),
        };
        // Integers of this size are added, squared and compared without rounding. Otherwise each
        // operation may lose half a unit in the last place.
        let whole = |x: f64| x.fract() == 0.0 && x.abs() < (1 << 20) as f64;
        let exact = whole(value) && columns.iter().flatten().all(|&entry| whole(entry));
        let operations = 4.0 + length as f64;
        Self::new(if exact { value } else { value * (1.0 + operations * f64::EPSILON) }, neighbours)
    }

    /// The value as a float.
    pub fn get(self) -> f64 {
        self.value
    }

    /// The neighbouring relation that it was proved for.
    pub fn neighbours(self) -> Neighbours {
        self.neighbours
    }

    /// Adds an allowance, in the norm `N`, for rounding errors in the difference of two answers.
    pub fn enlarged(self, allowance: f64) -> Result<Self, SensitivityError> {
        if allowance >= 0.0 {
            Self::new((self.value + allowance).next_up(), self.neighbours)
        } else {
            Err(SensitivityError::Value { norm: N::NAME, value: allowance })
        }
    }
}

impl Sensitivity<L1> {
    /// The bound for linear queries whose columns have an L1 norm of at most s: s if records are
    /// added or removed, 2s if they are replaced. Proof: [module documentation](self).
    pub fn linear(column_norm: f64, neighbours: Neighbours) -> Result<Self, SensitivityError> {
        Self::new(neighbours.columns_moved() * column_norm, neighbours)
    }
}

impl Sensitivity<L2> {
    /// The bound for linear queries whose columns have an L2 norm of at most s, with any signs: s
    /// if records are added or removed, 2s if they are replaced. Proof: [module
    /// documentation](self).
    pub fn linear(column_norm: f64, neighbours: Neighbours) -> Result<Self, SensitivityError> {
        Self::new(neighbours.columns_moved() * column_norm, neighbours)
    }

    /// The bound for linear queries *without negative entries* whose columns have an L2 norm of at
    /// most s: s if records are added or removed, sqrt(2) s if they are replaced. The caller must
    /// ensure that no entry is negative. Proof: [module documentation](self).
    pub fn nonnegative_linear(
        column_norm: f64,
        neighbours: Neighbours,
    ) -> Result<Self, SensitivityError> {
        match neighbours {
            Neighbours::AddRemove => Self::new(column_norm, neighbours),
            // Rounded up, since neither sqrt(2) nor the product need be a float.
            Neighbours::Replace => {
                let root = std::f64::consts::SQRT_2.next_up();
                let root = sabotage!(root, "replacement-as-addition-in-l2", 1.0);
                Self::new((root * column_norm).next_up(), neighbours)
            }
        }
    }
}

impl Neighbours {
    /// The number of columns that one record contributes to a change of the answers.
    fn columns_moved(self) -> f64 {
        match self {
            Neighbours::AddRemove => 1.0,
            Neighbours::Replace => sabotage!(2.0, "replacement-as-addition-in-l1", 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::brute_force::{Records, worst_case};
    use super::*;
    use proptest::prelude::*;

    fn answers(columns: &[Vec<f64>], table: &[u64]) -> Vec<f64> {
        let mut answers = vec![0.0; columns[0].len()];
        for (column, &count) in columns.iter().zip(table) {
            answers.iter_mut().zip(column).for_each(|(a, q)| *a += q * count as f64);
        }
        answers
    }

    fn columns(entries: std::ops::RangeInclusive<i32>) -> impl Strategy<Value = Vec<Vec<f64>>> {
        (2usize..5, 1usize..4).prop_flat_map(move |(cells, queries)| {
            let entry = entries.clone().prop_map(f64::from);
            prop::collection::vec(prop::collection::vec(entry, queries), cells)
        })
    }

    fn norm<N: Norm>(columns: &[Vec<f64>]) -> f64 {
        columns.iter().map(|c| N::distance(c, &vec![0.0; c.len()])).fold(0.0, f64::max)
    }

    /// Entries are whole numbers, so L1 distances are exact and L2 ones off by a rounding at most.
    fn check<N: Norm>(columns: &[Vec<f64>], bound: impl Fn(f64, Neighbours) -> f64) {
        for (neighbours, records) in
            [(Neighbours::Replace, Records::Exactly(2)), (Neighbours::AddRemove, Records::UpTo(2))]
        {
            let worst =
                worst_case::<N>(columns.len(), records, |table| answers(columns, table)).distance;
            assert!(worst <= bound(norm::<N>(columns), neighbours));
            match Sensitivity::<N>::of_columns(columns, neighbours) {
                Ok(exact) => assert!((worst - exact.get()).abs() <= 1e-12 * worst),
                Err(_) => assert_eq!(worst, 0.0),
            }
        }
    }

    fn or_zero<N: Norm>(sensitivity: Result<Sensitivity<N>, SensitivityError>) -> f64 {
        sensitivity.map_or(0.0, Sensitivity::get)
    }

    proptest! {
        #[test]
        fn the_bounds_for_linear_queries_hold_on_all_pairs_of_small_tables(
            columns in columns(-3..=3)
        ) {
            check::<L1>(&columns, |s, n| or_zero(Sensitivity::<L1>::linear(s, n)));
            check::<L2>(&columns, |s, n| or_zero(Sensitivity::<L2>::linear(s, n)));
        }

        #[test]
        fn nonnegative_queries_change_by_at_most_the_root_of_two(columns in columns(0..=3)) {
            check::<L2>(&columns, |s, n| or_zero(Sensitivity::<L2>::nonnegative_linear(s, n)));
        }
    }

    #[test]
    fn the_root_of_two_does_not_hold_for_queries_with_signs() {
        let columns = [vec![1.0], vec![-1.0]];
        let exact = Sensitivity::<L2>::of_columns(&columns, Neighbours::Replace).unwrap().get();
        let claimed = Sensitivity::<L2>::nonnegative_linear(1.0, Neighbours::Replace).unwrap();
        assert_eq!(exact, 2.0);
        assert!(claimed.get() < exact);
    }

    #[test]
    fn a_marginal_attains_the_bounds_for_replaced_records() {
        let identity: Vec<Vec<f64>> =
            (0..3).map(|i| (0..3).map(|j| f64::from(i == j)).collect()).collect();
        let worst = worst_case::<L1>(3, Records::Exactly(2), |t| answers(&identity, t));
        assert_eq!(worst.distance, 2.0);
        let worst = worst_case::<L2>(3, Records::Exactly(2), |t| answers(&identity, t));
        assert_eq!(worst.distance, 2f64.sqrt());
    }

    #[test]
    fn invalid_sensitivities_are_rejected() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Sensitivity::<L1>::linear(bad, Neighbours::Replace).is_err());
        }
        let one = Sensitivity::<L1>::new(1.0, Neighbours::Replace).unwrap();
        assert!(one.enlarged(-0.5).is_err() && one.enlarged(f64::NAN).is_err());
        assert!(one.enlarged(0.25).unwrap().get() >= 1.25);
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            let of =
                |columns: &[Vec<f64>]| Sensitivity::<LInfinity>::of_columns(columns, neighbours);
            assert!(of(&[vec![1.0, f64::NAN], vec![5.0, 0.0]]).is_err());
            assert_eq!(
                of(&[vec![1.0, 2.0], vec![1.0]]),
                Err(SensitivityError::UnequalColumns { column: 1 })
            );
        }
    }
}
