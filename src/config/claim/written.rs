use serde::{Deserialize, Serialize};

use super::super::metric::Metric;
use super::super::status::Status;
use super::{
    Bounds, Claim, ClaimError, Expectation, Fact, Over, Paper, Property, Quantity, Role, Side,
    Statement, Trend,
};

/// Default of `min_trials`: the trials of Private-PGM, section 5.1.
const TRIALS: usize = 5;

/// A claim as TOML has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenClaim {
    says: String,
    #[serde(default)]
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    pub(super) paper: Paper,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_different: Option<String>,
    pub(super) kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fact: Option<Fact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ways: Option<OneOrMany<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dataset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) case: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) mechanism: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) arm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) epsilon: Option<OneOrMany<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) against: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) against_mechanism: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metric: Option<Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) over: Option<Over>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<OneOrMany<Status>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_least: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) as_epsilon_falls: Option<Trend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_trials: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Ratio,
    #[default]
    Median,
    Largest,
    Coverage,
    Rebound,
    Minimum,
    Argmin,
    Exponent,
    Reach,
    Ends,
    Data,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Ratio => "ratio",
            Kind::Median => "median",
            Kind::Largest => "largest",
            Kind::Coverage => "coverage",
            Kind::Rebound => "rebound",
            Kind::Minimum => "minimum",
            Kind::Argmin => "argmin",
            Kind::Exponent => "exponent",
            Kind::Reach => "reach",
            Kind::Ends => "ends",
            Kind::Data => "data",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(super) fn into_vec(self) -> Vec<T> {
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
        let statement = raw.statement(epsilon.as_deref())?;
        let needs_no_dataset = matches!(kind, Kind::Reach | Kind::Largest | Kind::Exponent);
        if raw.dataset.is_none() && !needs_no_dataset {
            return Err(ClaimError::Missing { kind: kind.name(), key: "dataset" });
        }
        let trials = if matches!(kind, Kind::Reach | Kind::Ends) { 1 } else { TRIALS };
        Ok(Claim {
            says: raw.says,
            role: raw.role,
            place: raw.place,
            paper: raw.paper,
            why_different: raw.why_different,
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
            place: claim.place,
            paper: claim.paper,
            why_different: claim.why_different,
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
            Statement::Describes(Property { fact, ways }, bounds) => {
                let ways = fact.is_predicted().then_some(OneOrMany::Many(ways));
                let (fact, min_trials) = (Some(fact), None);
                return Self { kind: Kind::Data, fact, ways, min_trials, ..written }.within(bounds);
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
            Quantity::Coverage { metric } => {
                Self { kind: Kind::Coverage, metric: Some(metric), ..written }
            }
            Quantity::Rebound => Self { kind: Kind::Rebound, ..written },
            Quantity::Minimum => Self { kind: Kind::Minimum, ..written },
            Quantity::Argmin => Self { kind: Kind::Argmin, ..written },
            Quantity::Exponent { metric, over, from } => Self {
                kind: Kind::Exponent,
                metric: Some(metric),
                over: Some(over),
                from: Some(from),
                ..written
            },
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
    /// What is claimed, by the kind.
    fn statement(&mut self, epsilon: Option<&[f64]>) -> Result<Statement, ClaimError> {
        let missing = |key| ClaimError::Missing { kind: self.kind.name(), key };
        let metric = self.metric.unwrap_or(Metric::WorkloadError);
        let quantity = match self.kind {
            Kind::Ends => {
                let statuses = self.status.take().map_or_else(Vec::new, OneOrMany::into_vec);
                return match statuses.is_empty() {
                    true => Err(missing("status")),
                    false => Ok(Statement::Ends(statuses)),
                };
            }
            Kind::Reach => return Ok(Statement::Reaches(self.bounds()?)),
            Kind::Data => {
                let fact = self.fact.ok_or(missing("fact"))?;
                let ways = self.ways.take().map_or_else(Vec::new, OneOrMany::into_vec);
                if ways.is_empty() && fact.is_predicted() {
                    return Err(missing("ways"));
                }
                return Ok(Statement::Describes(Property { fact, ways }, self.bounds()?));
            }
            Kind::Ratio => {
                let arm = self.against.take().ok_or(missing("against"))?;
                let mechanism = self.against_mechanism.take();
                let mechanism = mechanism.unwrap_or_else(|| self.mechanism.clone());
                Quantity::Ratio { against: Side { mechanism, arm }, metric }
            }
            Kind::Median => Quantity::Median { metric },
            Kind::Largest => Quantity::Largest { metric },
            Kind::Coverage => {
                let metric = self.metric.unwrap_or(Metric::Coverage);
                if !metric.is_about_error_bars() {
                    return Err(ClaimError::NoCoverage { metric: metric.name() });
                }
                Quantity::Coverage { metric }
            }
            Kind::Rebound => Quantity::Rebound,
            Kind::Minimum => Quantity::Minimum,
            Kind::Argmin => Quantity::Argmin,
            Kind::Exponent => {
                let over = self.over.ok_or(missing("over"))?;
                if over == Over::Iterations && !matches!(metric, Metric::L1Loss | Metric::L2Loss) {
                    return Err(missing("metric = \"l2_loss\" or \"l1_loss\""));
                }
                Quantity::Exponent { metric, over, from: self.from()? }
            }
        };
        Ok(Statement::Measures(quantity, self.expectation(epsilon)?))
    }

    fn within(self, Bounds { low, high }: Bounds) -> Self {
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        Self { at_least: finite(low), at_most: finite(high), ..self }
    }
}
