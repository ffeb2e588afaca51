use thiserror::Error;

use super::written::{Kind, WrittenClaim};
use super::{Bounds, Expectation, Paper};

/// Default factor between our number and the paper's.
const TOLERANCE: f64 = 1.5;

/// Why a claim cannot be checked.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClaimError {
    #[error("a claim of the kind '{kind}' needs '{key}'")]
    Missing { kind: &'static str, key: &'static str },
    /// The key has no meaning for this kind, or in combination with the key `with`.
    #[error("'{key}' has no meaning in a claim of the kind '{kind}'{}", combination(.with))]
    Meaningless { kind: &'static str, key: &'static str, with: Option<&'static str> },
    #[error(
        "nothing to compare with: 'paper' must be a positive number, or 'at_least' or 'at_most' \
         be there"
    )]
    NothingExpected,
    #[error("'{key}' is {value}, which is not {expected}")]
    OutOfRange { key: &'static str, value: f64, expected: &'static str },
    #[error(
        "'metric' is '{metric}'; a claim of the kind 'coverage' is about 'coverage' or \
         'bound_coverage'"
    )]
    NoCoverage { metric: &'static str },
    #[error("'as_epsilon_falls' needs at least two different values of 'epsilon'")]
    TooFewEpsilons,
}

fn combination(with: &Option<&str>) -> String {
    with.map_or_else(String::new, |key| format!(" with '{key}'"))
}

impl WrittenClaim {
    /// Rejects keys without a meaning for this kind, and combinations that exclude each other.
    pub(super) fn check_keys(&self) -> Result<(), ClaimError> {
        use Kind::{
            Argmin, Coverage, Data, Ends, Exponent, Largest, Median, Minimum, Ratio, Reach, Rebound,
        };
        let of_traces = [Rebound, Minimum, Argmin, Exponent];
        let of_metrics = [Ratio, Median, Largest, Coverage];
        let trials: Vec<Kind> = [&of_metrics[..], &[Reach, Ends], &of_traces].concat();
        let bounded: Vec<Kind> = [&of_metrics[..], &[Reach, Data], &of_traces].concat();
        let trend: Vec<Kind> = [&[Ratio, Median][..], &of_traces].concat();
        let keys: [(&str, bool, &[Kind]); 17] = [
            ("fact", self.fact.is_some(), &[Data]),
            ("ways", self.ways.is_some(), &[Data]),
            ("mechanism", !self.mechanism.is_empty(), &trials),
            ("arm", !self.arm.is_empty(), &trials),
            ("epsilon", self.epsilon.is_some(), &trials),
            ("case", self.case.is_some(), &trials),
            ("min_trials", self.min_trials.is_some(), &trials),
            ("against", self.against.is_some(), &[Ratio]),
            ("against_mechanism", self.against_mechanism.is_some(), &[Ratio]),
            ("metric", self.metric.is_some(), &[&of_metrics[..], &[Exponent]].concat()),
            ("over", self.over.is_some(), &[Exponent]),
            ("from", self.from.is_some(), &[Exponent]),
            ("status", self.status.is_some(), &[Ends]),
            ("at_least", self.at_least.is_some(), &bounded),
            ("at_most", self.at_most.is_some(), &bounded),
            ("tolerance", self.tolerance.is_some(), &bounded),
            ("as_epsilon_falls", self.as_epsilon_falls.is_some(), &trend),
        ];
        let kind = self.kind.name();
        for (key, is_there, kinds) in keys {
            if is_there && !kinds.contains(&self.kind) {
                return Err(ClaimError::Meaningless { kind, key, with: None });
            }
        }
        if self.ways.is_some() && self.fact.is_some_and(|fact| !fact.is_predicted()) {
            return Err(ClaimError::Meaningless { kind, key: "ways", with: Some("fact") });
        }
        let required = [("mechanism", &self.mechanism), ("arm", &self.arm)];
        if let Some((key, _)) = required.iter().find(|(_, name)| name.is_empty())
            && self.kind != Data
        {
            return Err(ClaimError::Missing { kind, key });
        }
        let bound = match (self.at_least, self.at_most) {
            (Some(_), _) => "at_least",
            (_, Some(_)) => "at_most",
            _ => return Ok(()),
        };
        let excludes = |with, key| ClaimError::Meaningless { kind, key, with: Some(with) };
        if self.as_epsilon_falls.is_some() {
            return Err(excludes("as_epsilon_falls", bound));
        }
        match self.tolerance {
            Some(_) => Err(excludes(bound, "tolerance")),
            None => Ok(()),
        }
    }

    pub(super) fn take_epsilon(&mut self) -> Result<Option<Vec<f64>>, ClaimError> {
        let Some(epsilon) = self.epsilon.take() else { return Ok(None) };
        let mut epsilon = epsilon.into_vec();
        if epsilon.is_empty() {
            return Err(ClaimError::Missing { kind: self.kind.name(), key: "epsilon" });
        }
        if let Some(&value) = epsilon.iter().find(|value| !(**value > 0.0 && value.is_finite())) {
            let expected = "a positive number";
            return Err(ClaimError::OutOfRange { key: "epsilon", value, expected });
        }
        epsilon.sort_by(f64::total_cmp);
        epsilon.dedup();
        Ok(Some(epsilon))
    }

    pub(super) fn expectation(&self, epsilon: Option<&[f64]>) -> Result<Expectation, ClaimError> {
        let Some(trend) = self.as_epsilon_falls else {
            return Ok(Expectation::Within(self.bounds()?));
        };
        if epsilon.is_some_and(|epsilon| epsilon.len() < 2) {
            return Err(ClaimError::TooFewEpsilons);
        }
        Ok(Expectation::AsEpsilonFalls { trend, slack: self.tolerance(1.0)? })
    }

    pub(super) fn bounds(&self) -> Result<Bounds, ClaimError> {
        if self.at_least.is_some() || self.at_most.is_some() {
            let low = self.at_least.unwrap_or(f64::NEG_INFINITY);
            let high = self.at_most.unwrap_or(f64::INFINITY);
            let is_range = low <= high;
            let expected = "at least 'at_least'";
            let backwards = ClaimError::OutOfRange { key: "at_most", value: high, expected };
            return is_range.then_some(Bounds { low, high }).ok_or(backwards);
        }
        let tolerance = self.tolerance(TOLERANCE)?;
        match self.paper {
            Paper::Number(paper) if paper > 0.0 && paper.is_finite() => {
                let (low, high) = (paper / tolerance, paper * tolerance);
                // A tolerance must not turn "1.2 times better" into its opposite.
                Ok(match self.kind {
                    Kind::Ratio if paper > 1.0 => Bounds { low: low.max(1.0), high },
                    Kind::Ratio if paper < 1.0 => Bounds { low, high: high.min(1.0) },
                    _ => Bounds { low, high },
                })
            }
            _ => Err(ClaimError::NothingExpected),
        }
    }

    /// The smallest value that counts; 0 for all.
    pub(super) fn from(&self) -> Result<f64, ClaimError> {
        let value = self.from.unwrap_or(0.0);
        if value >= 0.0 && value.is_finite() {
            return Ok(value);
        }
        Err(ClaimError::OutOfRange { key: "from", value, expected: "a number of 0 or more" })
    }

    fn tolerance(&self, default: f64) -> Result<f64, ClaimError> {
        let value = self.tolerance.unwrap_or(default);
        if value >= 1.0 && value.is_finite() {
            return Ok(value);
        }
        Err(ClaimError::OutOfRange { key: "tolerance", value, expected: "a factor of 1 or more" })
    }
}
