//! The records of a task, and what a mechanism may see of them before it pays.

use super::Task;
use crate::data::Dataset;
use dp::{Neighbours, Share};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// Private records. Their domain is public. Everything else is read with a share of the budget that
/// has not been used yet, or is a public fact of the [`Task`]: [`Task::public_records`] and
/// [`Task::public_marginals`].
///
/// A share is debited when the budget grants it, and a draw consumes it by value. What
/// [`Private::read`] returns borrows the share, so that a draw ends the access. A mechanism that
/// has no share yet, or has none left, cannot read records. The first of these functions compiles.
/// The second does not, because it reads again after the draw:
///
/// ```
/// # use dp::{Budget, Epsilon, L1, Neighbours, NoiseSource, NumberLine, Sensitivity};
/// # use pgmbench::mechanism::Task;
/// fn count(task: &Task<'_>, budget: &mut Budget, source: &mut NoiseSource) -> Vec<f64> {
///     let share = budget.rest().unwrap();
///     let records = task.data.read(&share);
///     let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::AddRemove).unwrap();
///     let count = [records.len() as f64];
///     share.laplace("records", &count, sensitivity, NumberLine::Integers, source).unwrap().values
/// }
/// ```
///
/// ```compile_fail,E0505
/// # use dp::{Budget, Epsilon, L1, Neighbours, NoiseSource, NumberLine, Sensitivity};
/// # use pgmbench::mechanism::Task;
/// fn peek(task: &Task<'_>, budget: &mut Budget, source: &mut NoiseSource) -> usize {
///     let share = budget.rest().unwrap();
///     let records = task.data.read(&share);
///     let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::AddRemove).unwrap();
///     let count = [records.len() as f64];
///     share.laplace("records", &count, sensitivity, NumberLine::Integers, source).unwrap();
///     records.len()
/// }
/// ```
///
/// What a mechanism computes from records while it holds a share, it may keep. That it hands this
/// to draws alone is what `tests/sabotage/taint.rs` checks, by replays on other tables.
#[derive(Clone, Copy)]
pub struct Private<'a> {
    records: &'a Dataset,
}

impl<'a> Private<'a> {
    pub fn new(records: &'a Dataset) -> Self {
        Self { records }
    }

    /// Public.
    pub fn domain(self) -> &'a Domain {
        self.records.domain()
    }

    /// The records, as long as the share has not been used.
    pub fn read<'s>(self, _unused: &'s Share) -> &'s Dataset
    where
        'a: 's,
    {
        self.records
    }

    /// Planted bugs read without a share.
    #[cfg(feature = "sabotage")]
    pub(super) fn unpaid(self) -> &'a Dataset {
        self.records
    }
}

impl Task<'_> {
    /// The number of records where it is public: neighbours agree in it, or public marginals
    /// determine it.
    pub fn public_records(&self, neighbours: Neighbours) -> Option<usize> {
        let is_public = neighbours == Neighbours::Replace || self.public.is_some();
        is_public.then(|| self.data.records.len())
    }

    /// The marginals within a clique that the task declares public, or the one on all of the clique
    /// if it is public. None if nothing is.
    pub fn public_marginals(&self, clique: &Clique) -> Result<Vec<Factor>, MarginalError> {
        match self.public {
            Some(order) => self.data.records.marginals(&clique.subsets(order.min(clique.len()))),
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::small_table::SmallTable;
    use super::*;

    #[test]
    fn the_number_of_records_is_public_where_neighbours_agree_in_it() {
        let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
        let task = table.task();
        assert_eq!(task.public_records(Neighbours::Replace), Some(15));
        assert_eq!(task.public_records(Neighbours::AddRemove), None);
        let declared = Task { public: Some(1), ..task };
        assert_eq!(declared.public_records(Neighbours::AddRemove), Some(15));
    }

    #[test]
    fn public_marginals_are_those_of_the_declared_order() {
        let table = SmallTable::new(&[3, 0, 2, 5, 1, 4]);
        let domain = table.data.domain();
        let pair = domain.everything();
        let sets = |public: Option<usize>| -> Vec<Clique> {
            let marginals = Task { public, ..table.task() }.public_marginals(&pair).unwrap();
            marginals.iter().map(|marginal| marginal.clique().clone()).collect()
        };
        assert_eq!(sets(None), []);
        assert_eq!(sets(Some(1)), pair.subsets(1));
        assert_eq!(sets(Some(7)), std::slice::from_ref(&pair));
        let single = Task { public: Some(1), ..table.task() }.public_marginals(&pair).unwrap();
        assert_eq!(single[0].values(), [5.0, 10.0]);
    }
}
