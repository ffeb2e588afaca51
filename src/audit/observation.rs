//! What an attacker who knows both data sets computes from a release.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::AuditError;
use crate::data::Dataset;
use crate::mechanism::{Published, Release};
use crate::workload::SubWorkload;
use private_pgm::factor::{CliqueLayout, Marginals};
use private_pgm::fit::Likelihood;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;

/// A release as numbers that may distinguish two data sets.
///
/// *Evidence* is ln P(measurements | one) - ln P(measurements | other), the privacy loss of the
/// noise given the selections. Let noisy answers y with standard deviation s have the true values a
/// on one data set and a' on the other. The evidence is the sum of (|y - a'| - |y - a|) / b with b
/// = s / sqrt(2) for Laplace noise, and of ((y - a')^2 - (y - a)^2) / (2 s^2) for Gaussian noise.
/// The attacker computes both and learns which one is better. A published likelihood is used
/// directly.
///
/// *Choices* are the measured queries in order, the results of selections and stopping rules. Their
/// probabilities are learned from releases, see [`Event`](super::event::Event).
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    /// A hash of the choices.
    pub(super) choices: u64,
    /// For Laplace noise, and for Gaussian noise.
    pub(super) evidence: [f64; 2],
    /// Positive if the number of records is nearer to that of one data set than to that of the
    /// other.
    pub(super) total: f64,
}

impl Observation {
    pub(super) fn new(
        release: &Release,
        one: &Dataset,
        other: &Dataset,
    ) -> Result<Self, AuditError> {
        let (choices, evidence) = match &release.published {
            Published::Answers(answers) => (choices(answers), of_answers(answers, one, other)?),
            Published::Likelihood(likelihood) => {
                (0, [of_likelihood(&**likelihood, one, other)?; 2])
            }
        };
        let distance = |data: &Dataset| (release.total - data.len() as f64).abs();
        Ok(Self { choices, evidence, total: distance(other) - distance(one) })
    }
}

/// A hash of the measured queries, the same in every process.
fn choices(answers: &[Measurement]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for answer in answers {
        answer.clique.hash(&mut hasher);
        // The factors include the entries of optimised strategies.
        format!("{:?}", answer.query.factors()).hash(&mut hasher);
    }
    hasher.finish()
}

fn of_answers(
    answers: &[Measurement],
    one: &Dataset,
    other: &Dataset,
) -> Result<[f64; 2], AuditError> {
    let (mut laplace, mut gaussian) = (0.0, 0.0);
    for Measurement { clique, query, y, stddev } in answers {
        let part = SubWorkload { clique: clique.clone(), query: query.clone() };
        let truth = part.answers(one.project(clique)?.values());
        let others = part.answers(other.project(clique)?.values());
        for ((y, a), b) in y.iter().zip(truth).zip(others) {
            let (from_one, from_other) = (y - a, y - b);
            laplace += (from_other.abs() - from_one.abs()) * std::f64::consts::SQRT_2 / stddev;
            gaussian += (from_other.powi(2) - from_one.powi(2)) / (2.0 * stddev * stddev);
        }
    }
    Ok([laplace, gaussian])
}

fn of_likelihood(
    likelihood: &dyn Likelihood,
    one: &Dataset,
    other: &Dataset,
) -> Result<f64, AuditError> {
    let [of_one, of_other] = values(likelihood, [one, other])?;
    Ok(of_other - of_one)
}

/// The loss of each table.
fn values(likelihood: &dyn Likelihood, tables: [&Dataset; 2]) -> Result<[f64; 2], AuditError> {
    let layout = CliqueLayout::new(tables[0].domain().clone(), likelihood.cliques());
    let mut loss = likelihood.loss(&layout);
    let mut of = |data: &Dataset| -> Result<f64, AuditError> {
        let mut marginals = Marginals::zeros(&layout);
        for (index, clique) in layout.cliques().iter().enumerate() {
            marginals.table_mut(index).copy_from_slice(data.project(clique)?.values());
        }
        Ok(loss.value(&marginals))
    };
    Ok([of(tables[0])?, of(tables[1])?])
}

/// Whether two releases publish the same. Likelihoods are compared at these tables.
pub(super) fn same_publication(
    one: &Release,
    other: &Release,
    tables: [&Dataset; 2],
) -> Result<bool, AuditError> {
    let same_facts =
        one.total.to_bits() == other.total.to_bits() && one.diagnostics == other.diagnostics;
    Ok(same_facts
        && match (&one.published, &other.published) {
            (Published::Answers(a), Published::Answers(b)) => a == b,
            (Published::Likelihood(a), Published::Likelihood(b)) => {
                values(&**a, tables)? == values(&**b, tables)?
            }
            _ => false,
        })
}
