//! The loop of mechanisms that select marginals by the error of an estimate and measure them.

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::candidate_marginals::CandidateMarginals;
use super::gaussian_marginal::measure_marginal;
use crate::mechanism::{MechanismError, Task, Times};
use dp::{LInfinity, Neighbours, NoiseSource, Scores, Sensitivity, Share};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::fit::{Estimated, Estimator, EstimatorContext, Evidence, Observed};
use private_pgm::junction_tree::SizePredictor;
use private_pgm::loss::Measurement;
use private_pgm::model::{Model, Projectable};

/// The part of the memory limit for exact marginals of candidates. Our choice.
const CACHED_FRACTION: u64 = 4;

/// The measurements so far, and the estimate from them.
pub(crate) struct AdaptiveMarginals<'a> {
    task: &'a Task<'a>,
    neighbours: Neighbours,
    estimator: &'a dyn Estimator,
    candidates: CandidateMarginals<'a>,
    sizes: ModelSizes,
    answers: Vec<Measurement>,
    estimate: Option<Box<dyn Projectable>>,
    model: Option<Model>,
    pub(crate) times: Times,
}

/// See [`AdaptiveMarginals::into_parts`].
pub(crate) type MarginalsParts = (Vec<Measurement>, Option<Box<dyn Projectable>>, Option<Model>);

impl<'a> AdaptiveMarginals<'a> {
    pub(crate) fn new(
        task: &'a Task<'a>,
        neighbours: Neighbours,
        candidates: Vec<Clique>,
        estimator: &'a dyn Estimator,
    ) -> Self {
        let cache = task.memory_limit / CACHED_FRACTION;
        Self {
            task,
            neighbours,
            estimator,
            sizes: ModelSizes::default(),
            candidates: CandidateMarginals::new(task.data, candidates, cache),
            answers: Vec::new(),
            estimate: None,
            model: None,
            times: Times::default(),
        }
    }

    pub(crate) fn domain(&self) -> &'a Domain {
        self.task.data.domain()
    }

    pub(crate) fn candidates(&self) -> &[Clique] {
        self.candidates.cliques()
    }

    /// Of the last measurement.
    pub(crate) fn last_answers(&self) -> &[f64] {
        self.answers.last().map_or(&[], |answer| &answer.y)
    }

    /// The measurements, the last estimate, and its model if it has one.
    pub(crate) fn into_parts(self) -> MarginalsParts {
        (self.answers, self.estimate, self.model)
    }

    /// Measures a marginal with Gaussian noise.
    pub(crate) fn measure(
        &mut self,
        clique: &Clique,
        label: &str,
        share: Share,
        source: &mut NoiseSource,
    ) -> Result<(), MechanismError> {
        let began = Instant::now();
        self.answers.push(measure_marginal(self.task, clique, label, share, source)?);
        self.times.measure += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Estimates from all measurements, starting from the last estimate.
    pub(crate) fn estimate(&mut self) -> Result<(), MechanismError> {
        self.task.in_time()?;
        let began = Instant::now();
        let evidence = Evidence {
            domain: self.task.data.domain(),
            total: self.task.total(self.neighbours, &self.answers)?,
            observed: Observed::Answers(&self.answers),
            zeros: &[],
        };
        // Estimation from published answers needs reproducible randomness, not secret randomness.
        let mut rng = ChaCha20Rng::seed_from_u64(self.answers.len() as u64);
        let mut run = EstimatorContext {
            memory_limit: self.task.memory_limit,
            deadline: self.task.deadline,
            warm_start: self.model.as_ref(),
            rng: &mut rng,
            observer: &mut |_| {},
        };
        let Estimated { answers, model, .. } = self.estimator.estimate(&evidence, &mut run)?;
        (self.estimate, self.model) = (Some(answers), model);
        self.times.select += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// The exact marginal, for a planted bug.
    #[cfg(feature = "sabotage")]
    pub(crate) fn exact(&self, clique: &Clique) -> Result<Factor, MechanismError> {
        Ok(self.task.data.unpaid().project(clique)?)
    }

    /// The marginal of the last estimate.
    pub(crate) fn estimated(&self, clique: &Clique) -> Result<Factor, MechanismError> {
        Ok(self.last_estimate()?.marginals(std::slice::from_ref(clique))?.remove(0))
    }

    fn last_estimate(&self) -> Result<&dyn Projectable, MechanismError> {
        let missing = || MechanismError::Unsuitable("there is no estimate yet".into());
        self.estimate.as_deref().ok_or_else(missing)
    }

    /// The candidates that keep the junction tree of all measurements within a number of cells, or
    /// that are inside a clique of it already. Depends on measured cliques only.
    pub(crate) fn within(&mut self, limit: f64) -> Vec<usize> {
        self.sizes.update(self.task.data.domain(), &self.answers, self.candidates.cliques());
        let allowed = |&place: &usize| self.sizes.inside[place] || self.sizes.cells[place] <= limit;
        let places: Vec<usize> = (0..self.candidates.cliques().len()).filter(allowed).collect();
        dp::sabotage!(places, "candidates-by-the-data", {
            let is_occupied = |&place: &usize| {
                let marginal = self.task.data.unpaid().project(&self.candidates.cliques()[place]);
                marginal.is_ok_and(|marginal| marginal.values().iter().all(|&count| count > 0.0))
            };
            let (occupied, others): (Vec<usize>, Vec<usize>) =
                places.into_iter().partition(is_occupied);
            if occupied.is_empty() { others } else { occupied }
        })
    }

    /// The candidates of at most `limit` cells whose residuals fit into the memory limit together
    /// with those of all measurements. Depends on measured cliques only.
    ///
    /// A marginal and the residuals within it have at most the product of n_i, plus that of n_i +
    /// 1, cells.
    pub(crate) fn no_larger_than(&self, limit: f64) -> Vec<usize> {
        let domain = self.domain();
        let cells = |clique: &Clique| {
            let residuals = clique.iter().map(|id| domain.size(id) as f64 + 1.0);
            domain.cells_f64(clique) + residuals.product::<f64>()
        };
        let measured: f64 = self.answers.iter().map(|answer| cells(&answer.clique)).sum();
        let left = self.task.memory_limit as f64 / size_of::<f64>() as f64 - measured;
        let allowed = |clique: &Clique| domain.cells_f64(clique) <= limit && cells(clique) <= left;
        let candidates = self.candidates.cliques().iter().enumerate();
        candidates.filter(|(_, clique)| allowed(clique)).map(|(place, _)| place).collect()
    }

    /// |M_r(D) - M_r(p)|_1 for the candidates at `places`, with p the last estimate, for a
    /// selection with this share. See [`CandidateMarginals::distances`] for the sensitivity.
    pub(crate) fn distances(
        &mut self,
        places: &[usize],
        share: &Share,
    ) -> Result<Vec<f64>, MechanismError> {
        let began = Instant::now();
        let distances = self.candidates.distances(places, self.last_estimate()?, share)?;
        self.times.select += began.elapsed().as_secs_f64();
        Ok(distances)
    }

    /// Selects one of the candidates at `places` by their scores.
    pub(crate) fn select(
        &mut self,
        label: String,
        (places, scores): (&[usize], &[f64]),
        sensitivity: Sensitivity<LInfinity>,
        share: Share,
        source: &mut NoiseSource,
    ) -> Result<Clique, MechanismError> {
        let began = Instant::now();
        let chosen = dp::sabotage!(
            share.select(label, scores, sensitivity, Scores::General, source)?,
            "marginal-chosen-without-paying",
            crate::mechanism::sabotaged::largest(scores)
        );
        self.times.select += began.elapsed().as_secs_f64();
        Ok(self.candidates.cliques()[places[chosen]].clone())
    }
}

/// A share with this part of a share, and one with the rest.
pub(crate) fn two_shares(share: Share, part: f64) -> Result<[Share; 2], MechanismError> {
    let shares = share.split_weights(&[part, 1.0 - part])?;
    Ok(<[Share; 2]>::try_from(shares).expect("two weights give two shares"))
}

/// The predicted size of the model with each candidate. Computed again only when a measurement has
/// changed the structure of the model.
#[derive(Default)]
struct ModelSizes {
    /// The number of measurements that were taken into account.
    measured: usize,
    predictor: Option<SizePredictor>,
    inside: Vec<bool>,
    cells: Vec<f64>,
}

impl ModelSizes {
    fn update(&mut self, domain: &Domain, answers: &[Measurement], candidates: &[Clique]) {
        let known = |clique: &Clique| {
            self.predictor.as_ref().is_some_and(|predictor| predictor.contains(clique))
        };
        let unchanged = self.predictor.is_some()
            && answers[self.measured..].iter().all(|answer| known(&answer.clique));
        if unchanged {
            return;
        }
        self.measured = answers.len();
        let cliques: Vec<Clique> = answers.iter().map(|answer| answer.clique.clone()).collect();
        let predictor = SizePredictor::new(domain, &cliques);
        let predict = |clique| (predictor.contains(clique), predictor.cells_with(clique));
        (self.inside, self.cells) = candidates.par_iter().map(predict).unzip();
        self.predictor = Some(predictor);
    }
}
