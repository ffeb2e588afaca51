use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::super::metric::Metric;
use super::super::status::Status;
use super::{Bounds, Claim, Expectation, Paper, Quantity, Role, Side, Statement, Trend};

/// Default factor between our number and the paper's.
const TOLERANCE: f64 = 1.5;

/// Default of `min_trials`: the trials of Private-PGM, section 5.1.
const TRIALS: usize = 5;

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
    #[error("'as_epsilon_falls' needs at least two different values of 'epsilon'")]
    TooFewEpsilons,
}

fn combination(with: &Option<&str>) -> String {
    with.map_or_else(String::new, |key| format!(" with '{key}'"))
}

/// A claim as TOML has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenClaim {
    says: String,
    #[serde(default)]
    role: Role,
    paper: Paper,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<String>,
    mechanism: String,
    arm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<OneOrMany<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_mechanism: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<OneOrMany<Status>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_epsilon_falls: Option<Trend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_trials: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ratio,
    #[default]
    Median,
    Largest,
    Rebound,
    Reach,
    Ends,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Ratio => "ratio",
            Kind::Median => "median",
            Kind::Largest => "largest",
            Kind::Rebound => "rebound",
            Kind::Reach => "reach",
            Kind::Ends => "ends",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

impl TryFrom<WrittenClaim> for Claim {
    type Error = ClaimError;

    fn try_from(mut raw: WrittenClaim) -> Result<Self, ClaimError> {
        raw.check_keys()?;
        let epsilon = raw.take_epsilon()?;
        let kind = raw.kind;
        let missing = |key| ClaimError::Missing { kind: kind.name(), key };
        let metric = raw.metric.unwrap_or(Metric::WorkloadError);
        let statement = match kind {
            Kind::Ends => {
                let statuses = raw.status.take().map_or_else(Vec::new, OneOrMany::into_vec);
                if statuses.is_empty() {
                    return Err(missing("status"));
                }
                Statement::Ends(statuses)
            }
            Kind::Reach => Statement::Reaches(raw.bounds()?),
            Kind::Ratio => {
                let arm = raw.against.take().ok_or(missing("against"))?;
                let mechanism = raw.against_mechanism.take().unwrap_or(raw.mechanism.clone());
                let against = Side { mechanism, arm };
                let quantity = Quantity::Ratio { against, metric };
                Statement::Measures(quantity, raw.expectation(epsilon.as_deref())?)
            }
            Kind::Median => Statement::Measures(
                Quantity::Median { metric },
                raw.expectation(epsilon.as_deref())?,
            ),
            Kind::Largest => Statement::Measures(
                Quantity::Largest { metric },
                raw.expectation(epsilon.as_deref())?,
            ),
            Kind::Rebound => {
                Statement::Measures(Quantity::Rebound, raw.expectation(epsilon.as_deref())?)
            }
        };
        if raw.dataset.is_none() && !matches!(kind, Kind::Reach | Kind::Largest) {
            return Err(missing("dataset"));
        }
        let trials = if matches!(kind, Kind::Reach | Kind::Ends) { 1 } else { TRIALS };
        Ok(Claim {
            says: raw.says,
            role: raw.role,
            paper: raw.paper,
            dataset: raw.dataset,
            case: raw.case,
            mechanism: raw.mechanism,
            arm: raw.arm,
            epsilon,
            statement,
            min_trials: raw.min_trials.unwrap_or(trials).max(1),
        })
    }
}

/// Spells out every default, so that later versions with other defaults read the same claim.
impl From<Claim> for WrittenClaim {
    fn from(claim: Claim) -> Self {
        let written = Self {
            says: claim.says,
            role: claim.role,
            paper: claim.paper,
            dataset: claim.dataset,
            case: claim.case,
            mechanism: claim.mechanism,
            arm: claim.arm,
            epsilon: claim.epsilon.map(OneOrMany::Many),
            min_trials: Some(claim.min_trials),
            ..Self::default()
        };
        let (quantity, expectation) = match claim.statement {
            Statement::Ends(list) => {
                let status = Some(OneOrMany::Many(list));
                return Self { kind: Kind::Ends, status, ..written };
            }
            Statement::Reaches(bounds) => {
                return Self { kind: Kind::Reach, ..written }.within(bounds);
            }
            Statement::Measures(quantity, expectation) => (quantity, expectation),
        };
        let written = match quantity {
            Quantity::Ratio { against: Side { mechanism, arm }, metric } => Self {
                kind: Kind::Ratio,
                against: Some(arm),
                against_mechanism: Some(mechanism),
                metric: Some(metric),
                ..written
            },
            Quantity::Median { metric } => {
                Self { kind: Kind::Median, metric: Some(metric), ..written }
            }
            Quantity::Largest { metric } => {
                Self { kind: Kind::Largest, metric: Some(metric), ..written }
            }
            Quantity::Rebound => Self { kind: Kind::Rebound, ..written },
        };
        match expectation {
            Expectation::Within(bounds) => written.within(bounds),
            Expectation::AsEpsilonFalls { trend, slack } => {
                Self { as_epsilon_falls: Some(trend), tolerance: Some(slack), ..written }
            }
        }
    }
}

impl WrittenClaim {
    fn within(self, Bounds { low, high }: Bounds) -> Self {
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        Self { at_least: finite(low), at_most: finite(high), ..self }
    }

    /// Rejects keys without a meaning for this kind, and combinations that exclude each other.
    fn check_keys(&self) -> Result<(), ClaimError> {
        use Kind::{Ends, Largest, Median, Ratio, Reach, Rebound};
        let keys: [(&str, bool, &[Kind]); 8] = [
            ("against", self.against.is_some(), &[Ratio]),
            ("against_mechanism", self.against_mechanism.is_some(), &[Ratio]),
            ("metric", self.metric.is_some(), &[Ratio, Median, Largest]),
            ("status", self.status.is_some(), &[Ends]),
            ("at_least", self.at_least.is_some(), &[Ratio, Median, Largest, Rebound, Reach]),
            ("at_most", self.at_most.is_some(), &[Ratio, Median, Largest, Rebound, Reach]),
            ("tolerance", self.tolerance.is_some(), &[Ratio, Median, Largest, Rebound, Reach]),
            ("as_epsilon_falls", self.as_epsilon_falls.is_some(), &[Ratio, Median, Rebound]),
        ];
        let kind = self.kind.name();
        for (key, is_there, kinds) in keys {
            if is_there && !kinds.contains(&self.kind) {
                return Err(ClaimError::Meaningless { kind, key, with: None });
            }
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

    fn take_epsilon(&mut self) -> Result<Option<Vec<f64>>, ClaimError> {
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

    fn expectation(&self, epsilon: Option<&[f64]>) -> Result<Expectation, ClaimError> {
        let Some(trend) = self.as_epsilon_falls else {
            return Ok(Expectation::Within(self.bounds()?));
        };
        if epsilon.is_some_and(|epsilon| epsilon.len() < 2) {
            return Err(ClaimError::TooFewEpsilons);
        }
        Ok(Expectation::AsEpsilonFalls { trend, slack: self.tolerance(1.0)? })
    }

    fn bounds(&self) -> Result<Bounds, ClaimError> {
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

    fn tolerance(&self, default: f64) -> Result<f64, ClaimError> {
        let value = self.tolerance.unwrap_or(default);
        if value >= 1.0 && value.is_finite() {
            return Ok(value);
        }
        Err(ClaimError::OutOfRange { key: "tolerance", value, expected: "a factor of 1 or more" })
    }
}
