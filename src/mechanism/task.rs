use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::MechanismError;
use crate::data::Dataset;
use crate::domain::Clique;
use crate::estimation::estimator::Estimator;
use crate::estimation::loss::Measurement;
use crate::factor::Projectable;
use crate::privacy::sensitivity::Norm;
use crate::privacy::{Budget, NumberLine, Sensitivity, Share, Spacing};
use crate::workload::Workload;

/// What a mechanism is asked to do.
pub struct Task<'a> {
    /// The private records.
    pub data: &'a Dataset,
    /// What the release will be judged by.
    pub workload: &'a Workload,
    /// The order of the marginals that are public anyway, if any are: those on all sets of so many
    /// attributes. Mechanisms may use them without noise; the guarantee is then about what is not
    /// implied by them.
    pub public: Option<usize>,
    /// How noise is drawn.
    pub noise: Noise,
    /// For mechanisms that estimate between measurements.
    pub estimator: &'a dyn Estimator,
    /// Bytes that its tables may take.
    pub memory_limit: u64,
    /// When it has to end. Looked at between rounds, so that the last one may take longer.
    pub deadline: Option<Instant>,
}

/// How noise is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Exactly, on a grid.
    #[default]
    Exact,
    /// In floating point, for comparison with papers: not safe to release.
    Continuous,
}

impl Task<'_> {
    /// An error once the time is over.
    pub(super) fn in_time(&self) -> Result<(), MechanismError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(MechanismError::Timeout),
            _ => Ok(()),
        }
    }

    /// Measures the workload's marginals one by one, each with an equal share of the budget.
    pub(super) fn measure_each(
        &self,
        budget: &mut Budget,
        mut measure: impl FnMut(Clique, &[f64], Share) -> Result<Measurement, MechanismError>,
    ) -> Result<Vec<Measurement>, MechanismError> {
        let cliques = self.workload.cliques();
        let shares = budget.rest()?.split(cliques.len())?;
        let measured = cliques.into_iter().zip(shares).map(|(clique, share)| {
            self.in_time()?;
            let cells = self.data.project(&clique)?;
            measure(clique, cells.values(), share)
        });
        measured.collect()
    }
}

impl Noise {
    /// The line for answers that are whole numbers on every table.
    pub fn whole(self) -> NumberLine {
        match self {
            Noise::Exact => NumberLine::Integers,
            Noise::Continuous => NumberLine::Continuous,
        }
    }

    /// The line for real answers: a grid so fine that it enlarges the sensitivity by less than a
    /// millionth.
    pub fn real<N: Norm>(self, sensitivity: Sensitivity<N>, answers: usize) -> NumberLine {
        match (self, Spacing::fine(sensitivity, answers)) {
            (Noise::Exact, Some(spacing)) => NumberLine::Grid(spacing),
            // Beyond all sensible sensitivities; the draw itself will refuse what is not whole.
            (Noise::Exact, None) => NumberLine::Integers,
            (Noise::Continuous, _) => NumberLine::Continuous,
        }
    }
}
