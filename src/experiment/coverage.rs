//! How often error bars contain the truth.
//!
//! Counts the answers to the workload, each against an interval of z standard errors to either side
//! of the estimate. Estimates that know their variances have exact errors; those of a graphical
//! model are simulated ([`Bootstrap`]). Only marginals inside a measured one count: what a model
//! says about others follows from its independences, whose bias no measurement shows.

use std::time::Instant;

use rand::Rng;
use thiserror::Error;

use super::Case;
use crate::config::Evaluation;
use crate::data::Dataset;
use crate::mechanism::{Published, Release};
use crate::workload::SubWorkload;
use private_pgm::fit::Estimated;
use private_pgm::loss::Measurement;
use private_pgm::model::{Calibrated, InferenceError, MarginalError, Model, Projectable};
use private_pgm::problem::{Problem, ProblemError};
use private_pgm::uncertainty::{Bootstrap, BootstrapError, z_score};

/// Rounding of an answer that is known exactly, relative to it.
const ROUNDING: f64 = 1e-9;

/// A release and the truth that its estimates are compared with.
pub(super) struct ErrorBars<'a> {
    pub(super) data: &'a Dataset,
    pub(super) case: &'a Case,
    pub(super) release: &'a Release,
    /// Whether the number of records is public.
    pub(super) public_total: bool,
    pub(super) evaluation: Evaluation,
    /// In bytes.
    pub(super) memory_limit: u64,
    pub(super) deadline: Option<Instant>,
}

/// The parts of the true answers that are where they should be; `None` without error bars.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Coverage {
    /// Of the answers with error bars.
    pub(super) answers: Option<f64>,
    /// Of the marginals whose L1 error the release bounds.
    pub(super) bounds: Option<f64>,
}

/// Why there are no error bars although there should be some.
#[derive(Debug, Error)]
pub(super) enum CoverageError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    #[error(transparent)]
    Marginal(#[from] MarginalError),
}

/// The standard errors of the answers to a sub-workload, which has this index.
type Errors = (usize, Vec<f64>);

impl ErrorBars<'_> {
    /// Nothing if the experiment does not ask for it.
    pub(super) fn coverage(
        &self,
        estimated: &Estimated,
        rng: &mut dyn Rng,
    ) -> Result<Coverage, CoverageError> {
        let Some(probability) = self.evaluation.coverage else { return Ok(Coverage::default()) };
        let Some(z) = z_score(probability) else { return Ok(Coverage::default()) };
        let mut errors = self.exact_errors(&*estimated.answers);
        // A certified gap says that the model is a fit to the evidence.
        if let (true, Some(model), Some(_)) =
            (errors.is_empty(), &estimated.model, estimated.diagnostics.gap)
        {
            errors = self.simulated_errors(model, rng)?;
        }
        Ok(Coverage {
            answers: self.covered(&*estimated.answers, z, &errors)?,
            bounds: self.bounded(&*estimated.answers, 1.0 - probability)?,
        })
    }

    /// Of the sub-workloads for which the estimate is unbiased with known variances.
    fn exact_errors(&self, answers: &dyn Projectable) -> Vec<Errors> {
        let of_part = |part: &SubWorkload| -> Option<Vec<f64>> {
            if part.query.is_identity() {
                let error = answers.cell_variance(&part.clique)?.sqrt();
                return Some(vec![error; part.query.rows()]);
            }
            let variance = |row| answers.query_variance(&part.clique, &weights(part, row));
            (0..part.query.rows()).map(|row| Some(variance(row)?.sqrt())).collect()
        };
        let parts = self.case.workload.parts().iter().enumerate();
        parts.filter_map(|(at, part)| Some((at, of_part(part)?))).collect()
    }

    /// Of the sub-workloads inside a measured marginal, by a bootstrap.
    fn simulated_errors(
        &self,
        model: &Model,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Errors>, CoverageError> {
        let Published::Answers(measured) = &self.release.published else { return Ok(Vec::new()) };
        let parts = self.case.workload.parts();
        let is_inside = |part: &SubWorkload| {
            measured.iter().any(|answer: &Measurement| part.clique.is_subset(&answer.clique))
        };
        let inside: Vec<usize> = (0..parts.len()).filter(|&at| is_inside(&parts[at])).collect();
        if inside.is_empty() {
            return Ok(Vec::new());
        }
        let total = self.public_total.then_some(self.release.total);
        let mut problem = Problem::builder(self.data.domain().clone())
            .total(total)
            .measure_all(measured.iter().cloned())
            .build()?;
        // MST estimates the number of records before it merges values. The simulations cannot, and
        // take it as known.
        if (problem.total / self.release.total - 1.0).abs() > ROUNDING {
            (problem.total, problem.total_is_estimated) = (self.release.total, false);
        }
        let bootstrap = Bootstrap {
            replicates: self.evaluation.replicates,
            memory_limit: Some(self.memory_limit),
            deadline: self.deadline,
            stop_flag: None,
        };
        let cliques: Vec<_> = inside.iter().map(|&at| parts[at].clique.clone()).collect();
        let answers = |model: &Calibrated| -> Result<Vec<f64>, InferenceError> {
            let marginals = model.marginals(&cliques)?;
            let pairs = inside.iter().zip(&marginals);
            Ok(pairs.flat_map(|(&at, marginal)| parts[at].answers(marginal.values())).collect())
        };
        let mut errors = bootstrap.errors(&problem, model, answers, rng)?.into_iter();
        let own = |at: usize| (at, errors.by_ref().take(parts[at].query.rows()).collect());
        Ok(inside.into_iter().map(own).collect())
    }

    /// The part of the true answers within z errors of the estimate.
    fn covered(
        &self,
        answers: &dyn Projectable,
        z: f64,
        errors: &[Errors],
    ) -> Result<Option<f64>, MarginalError> {
        let (mut covered, mut all) = (0usize, 0usize);
        for (at, errors) in errors {
            let part = &self.case.workload.parts()[*at];
            let found = part.answers(answers.project(&part.clique)?.values());
            let pairs = self.case.truth[*at].iter().zip(found).zip(errors);
            let is_covered = |((truth, found), error): &((&f64, f64), &f64)| {
                (*truth - found).abs() <= z * **error + ROUNDING * truth.abs().max(1.0)
            };
            covered += pairs.filter(is_covered).count();
            all += errors.len();
        }
        Ok((all > 0).then(|| covered as f64 / all as f64))
    }

    /// The part of the workload's marginals within the bounds of the release.
    fn bounded(
        &self,
        answers: &dyn Projectable,
        failure_probability: f64,
    ) -> Result<Option<f64>, MarginalError> {
        let Some(bounds) = self.release.error_bounds(self.data.domain()) else { return Ok(None) };
        let (mut within, mut all) = (0usize, 0usize);
        for part in self.case.workload.parts() {
            let found = answers.project(&part.clique)?;
            let Some(bound) = bounds.bound(&found, failure_probability)? else { continue };
            let truth = self.data.project(&part.clique)?;
            let pairs = found.values().iter().zip(truth.values());
            let error: f64 = pairs.map(|(found, truth)| (found - truth).abs()).sum();
            within += usize::from(error <= bound.l1);
            all += 1;
        }
        Ok((all > 0).then(|| within as f64 / all as f64))
    }
}

/// A row of the query matrix.
fn weights(part: &SubWorkload, row: usize) -> Vec<f64> {
    let query = &part.query;
    let (mut unit, mut weights) = (vec![0.0; query.rows()], vec![0.0; query.cols()]);
    unit[row] = 1.0;
    query.apply_transpose(&unit, &mut weights, &mut vec![0.0; query.scratch_len()]);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Provenance;
    use crate::mechanism::{Noise, Private, Task, find};
    use crate::workload::Workload;
    use dp::{Budget, Delta, Epsilon, Neighbours, NoiseSource, Rho, SeedPath};
    use private_pgm::domain::{Clique, Domain};
    use private_pgm::fit::{Estimator, EstimatorContext, Pgm, Settings};
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    /// b copies a except in every fifth record.
    fn data() -> Dataset {
        let domain = Domain::new([("a", 5), ("b", 5), ("c", 3)]).unwrap();
        let column = |code: fn(u32) -> u32| (0..3000).map(code).collect::<Vec<u32>>();
        let codes = [
            column(|i| i % 5),
            column(|i| if i % 5 == 0 { i % 3 } else { i % 5 }),
            column(|i| (i / 7) % 3),
        ];
        Dataset::from_codes("copies", &domain, &codes, Provenance::default()).unwrap()
    }

    /// The coverage of an estimator's error bars over trials of a mechanism: of answers, and of
    /// bounds.
    fn coverages(
        mechanism: &str,
        prefix: &[&str],
        estimator: Option<&dyn Estimator>,
        trials: usize,
    ) -> Vec<Coverage> {
        let data = data();
        let domain = data.domain();
        let prefix = Clique::new(prefix.iter().map(|name| domain.id(name).unwrap()));
        let pairs = domain.everything().subsets(2);
        let marginals = Workload::marginals(domain, &pairs, &Clique::empty()).unwrap();
        let asked = Workload::marginals(domain, &pairs, &prefix).unwrap();
        let case = Case::only(&data, asked).unwrap();
        let pgm = Pgm::new(Settings { iterations: Some(200), ..Settings::default() });
        let mechanism = (find(mechanism).unwrap().build)(&toml::Table::new()).unwrap();
        let coverage = |trial: usize| {
            let task = Task {
                data: Private::new(&data),
                workload: &marginals,
                public: None,
                noise: Noise::Exact,
                estimator: &pgm,
                memory_limit: 1 << 30,
                deadline: None,
            };
            let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
            let rho = Rho::implying(epsilon, delta).unwrap();
            let mut budget = Budget::new(rho, Neighbours::AddRemove);
            let mut source = NoiseSource::seeded(&SeedPath::new("coverage", trial));
            let release = mechanism.release(&task, &mut budget, &mut source).unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(trial as u64);
            let mut run = EstimatorContext {
                memory_limit: 1 << 30,
                deadline: None,
                warm_start: None,
                rng: &mut rng,
                observer: &mut |_| {},
            };
            let estimator = estimator.unwrap_or(&*release.own_estimator);
            let estimated = estimator.estimate(&release.evidence(domain), &mut run).unwrap();
            let bars = ErrorBars {
                data: &data,
                case: &case,
                release: &release,
                public_total: false,
                evaluation: Evaluation { coverage: Some(0.95), replicates: 40 },
                memory_limit: 1 << 30,
                deadline: None,
            };
            bars.coverage(&estimated, &mut rng).unwrap()
        };
        (0..trials).map(coverage).collect()
    }

    fn mean(coverages: &[Coverage]) -> f64 {
        let sum: f64 = coverages.iter().map(|coverage| coverage.answers.unwrap()).sum();
        sum / coverages.len() as f64
    }

    #[test]
    fn exact_error_bars_cover_as_often_as_they_claim_for_counts_and_for_prefix_sums() {
        // 55 correlated answers in each of 400 trials: the standard deviation of the mean is at
        // most that of 400 answers, 1.1 %, and far smaller where they are not copies.
        for prefix in [&[][..], &["a", "b"]] {
            let found = mean(&coverages("residual-planner", prefix, None, 400));
            assert!((0.935..0.965).contains(&found), "{prefix:?}: {found}");
        }
    }

    #[test]
    fn simulated_error_bars_cover_about_as_often_as_they_claim() {
        // Counts are hundreds of standard deviations from 0 or about 0.
        let pgm = Pgm::new(Settings::default());
        let found = mean(&coverages("gaussian", &[], Some(&pgm), 40));
        assert!((0.90..0.98).contains(&found), "{found}");
    }

    #[test]
    fn an_estimate_without_variances_or_model_has_no_error_bars() {
        let lls = private_pgm::baselines::LocalLeastSquares::default();
        assert_eq!(coverages("gaussian", &[], Some(&lls), 1), [Coverage::default()]);
    }

    #[test]
    fn the_bounds_of_aim_hold_for_its_marginals() {
        for found in coverages("aim", &[], None, 5) {
            assert_eq!(found.bounds, Some(1.0));
            assert!(found.answers.is_some());
        }
    }
}
