use std::time::Instant;

use dp::Neighbours;
use private_pgm::baselines::Estimator;
use private_pgm::domain::Domain;
use private_pgm::fit::{Evidence, Likelihood, Observed};
use private_pgm::loss::{Measurement, estimate_total};

use super::{MechanismError, Task};

/// What a mechanism has published.
pub struct Release {
    /// The number of records: public between replaced records, otherwise estimated.
    pub total: f64,
    /// What estimators work from.
    pub published: Published,
    /// The estimator that the mechanism came with. It may know more about the measurements than
    /// others do: their order, the network that they follow.
    pub own: Box<dyn Estimator>,
    /// The estimators that its kind offers beside that one, by name.
    pub offered: Vec<(&'static str, Box<dyn Estimator>)>,
    /// How long it took.
    pub times: Times,
    /// How it went, for mechanisms that have something to say about it.
    pub course: Course,
}

/// How a release came about: nothing that depends on the data but by what was paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// The rounds, of a mechanism that works in rounds.
    pub rounds: Option<Rounds>,
    /// What the mechanism's theory says that no query of the workload is off by more than, as a share
    /// of the records, except with the probability that it was told.
    pub error_bound: Option<f64>,
}

/// Rounds of choosing and measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Those that were needed.
    pub used: usize,
    /// Those that the budget was laid out for.
    pub limit: usize,
}

/// What estimators work from.
pub enum Published {
    /// Noisy answers to linear queries.
    Answers(Vec<Measurement>),
    /// Evidence of another kind.
    Likelihood(Box<dyn Likelihood>),
}

/// Wall time of the parts of a mechanism, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Selecting what to measure.
    pub select: f64,
    /// Measuring it.
    pub measure: f64,
}

impl Release {
    /// Noisy answers that were measured since `began`, with nothing chosen before and no estimators
    /// offered beside the mechanism's own.
    pub(super) fn of_answers(
        total: f64,
        answers: Vec<Measurement>,
        own: Box<dyn Estimator>,
        began: Instant,
    ) -> Self {
        let times = Times { select: 0.0, measure: began.elapsed().as_secs_f64() };
        Self {
            total,
            published: Published::Answers(answers),
            own,
            offered: Vec::new(),
            times,
            course: Course::default(),
        }
    }

    /// What was published, for an estimator.
    pub fn evidence<'a>(&'a self, domain: &'a Domain) -> Evidence<'a> {
        let observed = match &self.published {
            Published::Answers(answers) => Observed::Answers(answers),
            Published::Likelihood(likelihood) => Observed::Likelihood(&**likelihood),
        };
        Evidence { domain, total: self.total, observed, zeros: &[] }
    }
}

impl Task<'_> {
    /// The number of records that estimators are told: N itself where it is public, because a
    /// record is replaced and never added or removed or because public marginals tell it; otherwise
    /// what the noisy answers say of it, and 1 at least (supplement E.1).
    pub fn total(
        &self,
        neighbours: Neighbours,
        answers: &[Measurement],
    ) -> Result<f64, MechanismError> {
        if !self.has_private_total(neighbours) {
            return Ok(self.data.len() as f64);
        }
        estimate_total(answers).map(|total| total.max(1.0)).ok_or(MechanismError::Unsuitable(
            "no measurement determines the number of records, which is not public between \
             neighbours by adding and removing"
                .into(),
        ))
    }

    /// Whether the number of records is not to be known: neighbours differ in it, and no marginals
    /// are public that would tell it.
    pub(super) fn has_private_total(&self, neighbours: Neighbours) -> bool {
        neighbours == Neighbours::AddRemove && self.public.is_none()
    }
}
