use std::time::Instant;

use dp::Neighbours;
use private_pgm::domain::Domain;
use private_pgm::fit::{Estimator, Evidence, Likelihood, Observed};
use private_pgm::loss::{Measurement, estimate_total};
use private_pgm::model::Model;
use private_pgm::residual::TotalSource;

use super::task::MOST_RECORDS;
use super::{BoundsBasis, ErrorBounds, MechanismError, Task};

pub struct Release {
    /// The number of records. Exact where it is public (`Task::total`), otherwise an estimate.
    pub total: f64,
    pub published: Published,
    /// The estimator of the mechanism's paper. It may use facts about the measurements that other
    /// estimators do not know, for example their order or the network that they follow.
    pub own_estimator: Box<dyn Estimator>,
    /// In the order of [`MechanismSpec::extra_estimators`](super::MechanismSpec::extra_estimators),
    /// by name.
    pub extra_estimators: Vec<(&'static str, Box<dyn Estimator>)>,
    pub times: Times,
    pub diagnostics: ReleaseDiagnostics,
    /// What bounds the errors of marginals, for mechanisms that can bound them.
    pub bounds: Option<BoundsBasis>,
    /// The model of the last round, for estimators that can start from one. It follows from
    /// published answers.
    pub warm_start: Option<Model>,
}

/// Facts about a release. They depend on the data only through draws that were paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReleaseDiagnostics {
    /// `None` for mechanisms without rounds.
    pub rounds: Option<Rounds>,
    /// A bound of the mechanism's theory on the error of every query of the workload, as a fraction
    /// of the number of records. It fails with the probability that is a parameter of the
    /// mechanism.
    pub error_bound: Option<f64>,
}

/// Rounds of selection and measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    pub used: usize,
    /// The number of rounds that the budget was divided for.
    pub limit: usize,
}

/// The evidence for estimators. A release owns it; [`Observed`] borrows it.
pub enum Published {
    /// Noisy answers to linear queries.
    Answers(Vec<Measurement>),
    /// A likelihood of the marginals that is not of the form above.
    Likelihood(Box<dyn Likelihood>),
}

/// Wall time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    pub select: f64,
    pub measure: f64,
}

impl Release {
    /// Noisy answers that were measured since `began`, without a selection before and without extra
    /// estimators.
    pub(super) fn of_answers(
        total: f64,
        answers: Vec<Measurement>,
        own_estimator: Box<dyn Estimator>,
        began: Instant,
    ) -> Self {
        let times = Times { select: 0.0, measure: began.elapsed().as_secs_f64() };
        Self {
            total,
            published: Published::Answers(answers),
            own_estimator,
            extra_estimators: Vec::new(),
            times,
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        }
    }

    /// Bounds on the errors of marginals. `None` if the mechanism has none.
    pub fn error_bounds<'a>(&'a self, domain: &'a Domain) -> Option<ErrorBounds<'a>> {
        match (&self.published, &self.bounds) {
            (Published::Answers(answers), Some(basis)) => {
                Some(ErrorBounds { domain, answers, basis })
            }
            _ => None,
        }
    }

    pub fn evidence<'a>(&'a self, domain: &'a Domain) -> Evidence<'a> {
        let observed = match &self.published {
            Published::Answers(answers) => Observed::Answers(answers),
            Published::Likelihood(likelihood) => Observed::Likelihood(&**likelihood),
        };
        Evidence { domain, total: self.total, observed, zeros: &[] }
    }
}

impl Task<'_> {
    /// The number of records for estimators. It is N itself where N is public: neighbours replace a
    /// record, or public marginals determine N. Otherwise it is estimated from the noisy answers,
    /// at least 1 and at most 2^32 (ICML 2019, supplement E.1).
    pub(super) fn total(
        &self,
        neighbours: Neighbours,
        answers: &[Measurement],
    ) -> Result<f64, MechanismError> {
        if let Some(records) = self.public_records(neighbours) {
            return Ok(records as f64);
        }
        estimate_total(answers).map(at_least_one).ok_or(MechanismError::Unsuitable(
            "no measurement determines the number of records, which is not public between \
             neighbours by adding and removing"
                .into(),
        ))
    }

    /// Where GReM takes the number of records from.
    pub(super) fn total_source(&self, neighbours: Neighbours) -> TotalSource {
        match self.has_private_total(neighbours) {
            true => TotalSource::Measurements,
            false => TotalSource::Evidence,
        }
    }

    /// Whether the number of records is private: neighbours differ in it, and no public marginals
    /// determine it.
    pub(super) fn has_private_total(&self, neighbours: Neighbours) -> bool {
        self.public_records(neighbours).is_none()
    }
}

/// The number itself from 1 to 2^32, otherwise the nearer end. Without noise an estimate may be no
/// number, and counts as 1.
fn at_least_one(total: f64) -> f64 {
    if total > 1.0 { total.min(MOST_RECORDS) } else { 1.0 }
}
