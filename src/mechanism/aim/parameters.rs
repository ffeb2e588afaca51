use serde::Deserialize;

use crate::mechanism::{Parameter, ParameterError, parse};

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "rounds_per_attribute",
        default: "16",
        meaning: "The budget is divided for this number of rounds per attribute; annealing makes \
                  the rounds fewer and larger.",
    },
    Parameter {
        name: "max_cells",
        default: "10485760",
        meaning: "The most cells of the junction tree at the end of the rounds (the default is \
                  80 MiB); before, the part of it that is spent of the budget. With \"grem\", \
                  which has no junction tree, the most cells of a measured marginal.",
    },
    Parameter {
        name: "estimator",
        default: "\"pgm\"",
        meaning: "The estimator between rounds, and `own`: \"pgm\", a graphical model, or \
                  \"grem\", residuals averaged by inverse variance.",
    },
    Parameter {
        name: "weighting",
        default: "\"variance\"",
        meaning: "How squared residuals are weighted between rounds and by `own`: by 1 / \
                  \"variance\", or by 1 / standard deviation as in the \"paper\"'s code.",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Parameters {
    pub(super) rounds_per_attribute: usize,
    pub(super) max_cells: u64,
    pub(super) estimator: LoopEstimator,
    pub(super) weighting: Weighting,
}

/// The estimator between rounds, and of the final estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LoopEstimator {
    /// [`Task::estimator`](crate::mechanism::Task::estimator).
    #[default]
    Pgm,
    /// [`Grem`](private_pgm::residual::Grem). Cells may be negative.
    Grem,
}

/// The weights of squared residuals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Weighting {
    /// 1 / sigma^2, the likelihood of Gaussian noise.
    #[default]
    Variance,
    /// 1 / sigma, as in the code that made the paper's figures.
    Paper,
}

impl Default for Parameters {
    /// McKenna, Mullins, Sheldon, Miklau 2022, section 4: T = 16 d and 80 MB.
    fn default() -> Self {
        Self {
            rounds_per_attribute: 16,
            max_cells: (80 << 20) / size_of::<f64>() as u64,
            estimator: LoopEstimator::default(),
            weighting: Weighting::default(),
        }
    }
}

impl Parameters {
    pub(super) fn parse(table: &toml::Table) -> Result<Self, ParameterError> {
        let parameters: Self = parse(table)?;
        let rounds = parameters.rounds_per_attribute as u64;
        ParameterError::check_count("rounds_per_attribute", rounds)?;
        ParameterError::check_count("max_cells", parameters.max_cells)?;
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::support::checked_parameters::check_parameters;

    #[test]
    fn listed_defaults_are_the_defaults_and_bad_values_are_refused_by_name() {
        let refused = [
            ("rounds_per_attribute = 0", "rounds_per_attribute: expected"),
            ("max_cells = 0", "max_cells: expected"),
            ("estimator = \"guess\"", "`pgm` or `grem`"),
            ("weighting = \"none\"", "`variance` or `paper`"),
            ("round = 3", "unknown field `round`"),
        ];
        check_parameters(Parameters::parse, PARAMETERS, &refused);
    }
}
