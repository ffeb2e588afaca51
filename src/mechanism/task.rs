use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{MechanismError, Private};
use crate::workload::Workload;
use dp::sensitivity::Norm;
use dp::{Budget, Neighbours, NumberLine, Sensitivity, Share, Spacing};
use private_pgm::domain::Clique;
use private_pgm::fit::Estimator;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;

/// A bound on the number of records of any table where that number is private: 2^32. Our choice.
/// It enters allowances for rounding, and bounds estimates of the number.
pub(super) const MOST_RECORDS: f64 = (1u64 << 32) as f64;

/// The input of a mechanism.
pub struct Task<'a> {
    pub data: Private<'a>,
    /// The queries by which the release is evaluated.
    pub workload: &'a Workload,
    /// With `Some(k)`, the marginals on all sets of k attributes are public. Mechanisms may use
    /// them without noise. The guarantee then holds for what these marginals do not imply.
    pub public: Option<usize>,
    pub noise: Noise,
    /// For mechanisms that estimate between measurements.
    pub estimator: &'a dyn Estimator,
    /// A limit on the bytes of tables.
    pub memory_limit: u64,
    /// Checked between rounds, so the last round may end later.
    pub deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Sampled exactly, on a grid.
    #[default]
    Exact,
    /// Sampled in floating point, for comparison with papers. Not safe to release.
    Continuous,
}

impl Task<'_> {
    /// Fails once the deadline has passed.
    pub(super) fn in_time(&self) -> Result<(), MechanismError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(MechanismError::Timeout),
            _ => Ok(()),
        }
    }

    /// The number of records if neighbours agree in it, otherwise a bound for all tables.
    pub(super) fn records_bound(&self, neighbours: Neighbours) -> f64 {
        self.public_records(neighbours).map_or(MOST_RECORDS, |records| records as f64)
    }

    /// Measures the marginals of the workload one by one, each with an equal share of the budget.
    pub(super) fn measure_each(
        &self,
        budget: &mut Budget,
        mut measure: impl FnMut(Clique, &[f64], Share) -> Result<Measurement, MechanismError>,
    ) -> Result<Vec<Measurement>, MechanismError> {
        let cliques = self.workload.cliques();
        let shares = budget.rest()?.split(cliques.len())?;
        let shares = dp::sabotage!(
            shares,
            "marginals-with-all-of-the-budget-each",
            super::sabotaged::all_unpaid(&shares, budget.total())
        );
        let measured = cliques.into_iter().zip(shares).map(|(clique, share)| {
            self.in_time()?;
            let cells = self.data.read(&share).project(&clique)?;
            measure(clique, cells.values(), share)
        });
        measured.collect()
    }
}

impl Noise {
    /// The number line for answers that are integers on every table.
    pub(super) fn whole(self) -> NumberLine {
        match self {
            Noise::Exact => NumberLine::Integers,
            Noise::Continuous => NumberLine::Continuous,
        }
    }

    /// The number line for real answers: a grid that increases the sensitivity by less than 1e-6 of
    /// itself.
    pub(super) fn real<N: Norm>(self, sensitivity: Sensitivity<N>, answers: usize) -> NumberLine {
        match (self, Spacing::fine(sensitivity, answers)) {
            (Noise::Exact, Some(spacing)) => NumberLine::Grid(spacing),
            // The sensitivity is out of the range of grids. The draw refuses non-integers.
            (Noise::Exact, None) => NumberLine::Integers,
            (Noise::Continuous, _) => NumberLine::Continuous,
        }
    }
}
