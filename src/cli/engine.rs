//! PLACEHOLDER for the estimation interface of the library: everything in this file goes when
//! `pgmbench::estimation::estimate` and the questions to a `Model` are there.
//!
//! The estimate is the uniform model, and records are drawn attribute by attribute.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use pgmbench::domain::{AttributeId, Clique};
use pgmbench::estimation::junction_tree::{JunctionTree, TreeSize};
use pgmbench::estimation::loss::{LinearLoss, Loss, Norm, maximal_cliques};
use pgmbench::estimation::model::{Model, Origin};
use pgmbench::estimation::oracle::{BruteForce, MarginalOracle};
use pgmbench::factor::{CliqueLayout, Factor, Marginals, Potentials};
use pgmbench::problem::Problem;
use pgmbench::workload::QueryFactor;
use rand::{Rng, RngExt};

use super::estimate::{Algorithm, Constant, Oracle, Step};

pub(crate) struct Settings {
    pub(crate) algorithm: Algorithm,
    pub(crate) norm: Norm,
    pub(crate) iterations: Option<u64>,
    pub(crate) gap: Option<f64>,
    pub(crate) oracle: Oracle,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) constant: Option<Constant>,
    pub(crate) step: Option<Step>,
    pub(crate) both_losses: bool,
}

pub(crate) struct Progress {
    pub(crate) iteration: u64,
    pub(crate) seconds: f64,
    pub(crate) loss: f64,
    pub(crate) l1_loss: Option<f64>,
    pub(crate) l2_loss: Option<f64>,
    pub(crate) gap: Option<f64>,
}

pub(crate) struct Estimate {
    pub(crate) model: Model,
    pub(crate) loss: f64,
    pub(crate) l1_loss: f64,
    pub(crate) l2_loss: f64,
    pub(crate) gap: Option<f64>,
    pub(crate) iterations: u64,
    pub(crate) reason: String,
    pub(crate) seconds: f64,
    pub(crate) seconds_per_iteration: f64,
    pub(crate) tree: TreeSize,
}

pub(crate) fn estimate(
    problem: &Problem,
    settings: &Settings,
    warm_start: Option<&Model>,
    mut watch: impl FnMut(&Progress),
) -> Result<Estimate> {
    let Settings { iterations, gap, constant, step, both_losses, .. } = settings;
    let _ = (iterations, gap, constant, step, both_losses, warm_start);
    let start = Instant::now();
    let measured = problem.measurements.iter().map(|measurement| &measurement.clique);
    let zeros = problem.zeros.iter().map(|zeros| &zeros.clique);
    let cliques = maximal_cliques(measured.chain(zeros));
    let tree = JunctionTree::new(&problem.domain, &cliques);
    if let Some(limit) = settings.memory_limit {
        tree.check_limit(limit)?;
    }
    let cliques = problem.zeros.iter().map(|zeros| zeros.clique.clone()).chain(cliques).collect();
    let layout = CliqueLayout::new(problem.domain.clone(), cliques);
    let mut potentials = Potentials::zeros(&layout);
    for (index, zeros) in problem.zeros.iter().enumerate() {
        zeros.cells.iter().for_each(|&cell| potentials.table_mut(index)[cell] = -f64::INFINITY);
    }
    let mut marginals = Marginals::zeros(&layout);
    let mut oracle = BruteForce::new(&layout, 1 << 24)?;
    if oracle.marginals(&potentials, problem.total, &mut marginals) == f64::NEG_INFINITY {
        bail!("zeros: expected some record left possible, found all excluded");
    }
    let loss = |norm| -> Result<f64> {
        let measurements = problem.measurements.clone();
        Ok(LinearLoss::new(Arc::clone(&layout), measurements, norm)?.value(&marginals))
    };
    let (l1_loss, l2_loss) = (loss(Norm::L1)?, loss(Norm::L2)?);
    let loss = if settings.norm == Norm::L1 { l1_loss } else { l2_loss };
    let seconds = start.elapsed().as_secs_f64();
    let (l1, l2) = (Some(l1_loss), Some(l2_loss));
    watch(&Progress { iteration: 0, seconds, loss, l1_loss: l1, l2_loss: l2, gap: None });
    let origin = Origin {
        release: env!("CARGO_PKG_VERSION").into(),
        algorithm: format!("{:?}", settings.algorithm).to_lowercase(),
        oracle: format!("{:?}", settings.oracle).to_lowercase(),
        oracle_is_exact: true,
        norm: format!("{:?}", settings.norm).to_lowercase(),
        loss: Some(loss),
        total_is_estimated: problem.total_is_estimated,
        ..Origin::default()
    };
    Ok(Estimate {
        model: Model::new(problem.total, potentials).with_origin(origin),
        loss,
        l1_loss,
        l2_loss,
        gap: None,
        iterations: 0,
        reason: "placeholder".into(),
        seconds,
        seconds_per_iteration: 0.0,
        tree: tree.size(),
    })
}

/// How records are drawn.
pub(crate) enum Sampling {
    Independent,
    Rounded,
}

pub(crate) struct Calibrated<'a>(&'a Model);

pub(crate) fn calibrate(model: &Model) -> Result<Calibrated<'_>> {
    Ok(Calibrated(model))
}

impl Calibrated<'_> {
    pub(crate) fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>> {
        let Self(model) = self;
        let known = model.layout().cliques();
        let all = known.iter().chain(cliques).cloned().collect();
        let layout = CliqueLayout::new(model.domain().clone(), all);
        let mut potentials = Potentials::zeros(&layout);
        let given = model.potentials().values();
        potentials.values_mut()[..given.len()].copy_from_slice(given);
        let mut marginals = Marginals::zeros(&layout);
        BruteForce::new(&layout, 1 << 24)?.marginals(&potentials, model.total(), &mut marginals);
        Ok((known.len()..known.len() + cliques.len()).map(|at| marginals.factor(at)).collect())
    }

    pub(crate) fn answer(&self, factors: &[(AttributeId, QueryFactor)]) -> Result<Vec<f64>> {
        let listed: Vec<AttributeId> = factors.iter().map(|&(id, _)| id).collect();
        let marginal = &self.marginals(&[Clique::new(listed.iter().copied())])?[0];
        let mut values = marginal.values_as_listed(&listed);
        let mut inner = 1;
        for (id, factor) in factors.iter().rev() {
            let n = self.0.domain().size(*id);
            let mut answers = vec![0.0; values.len() / n * factor.rows(n)];
            factor.apply(n, inner, &values, &mut answers);
            inner *= factor.rows(n);
            values = answers;
        }
        Ok(values)
    }

    /// One column of codes for each attribute, in declared order.
    pub(crate) fn synthesize(
        &self,
        records: usize,
        _: Sampling,
        rng: &mut impl Rng,
    ) -> Result<Vec<Vec<u32>>> {
        let columns = self.0.domain().declared().iter().map(|&id| {
            let marginal = &self.marginals(&[Clique::new([id])])?[0];
            let column = (0..records).map(|_| {
                let mut rest = rng.random_range(0.0..self.0.total());
                let passed = marginal.values().iter().take_while(|&&count| {
                    rest -= count;
                    rest > 0.0
                });
                (passed.count() as u32).min(self.0.domain().size(id) as u32 - 1)
            });
            Ok(column.collect())
        });
        columns.collect()
    }
}
