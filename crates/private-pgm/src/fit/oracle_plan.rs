use super::{EstimateError, OracleKind, Settings, default_memory_limit};
use crate::domain::{Clique, Domain};
use crate::elimination_plan::EliminationPlan;
use crate::factor::CliqueLayout;
use crate::junction_tree::JunctionTree;
use crate::loss::Norm;
use crate::numeric::memory;
use crate::optimiser::Stopping;
use crate::oracle::{Exact, Loopy, LoopyOptions, MarginalOracle};

/// An oracle and its costs.
pub(super) struct OraclePlan {
    pub(super) oracle: Box<dyn MarginalOracle>,
    /// Multiply-adds per call.
    work: f64,
    /// Of its tables and of the vectors of the optimiser.
    pub(super) bytes: f64,
}

/// The vectors of the optimiser that are as long as all measured tables together: potentials,
/// marginals, gradients, answers and copies of them.
const VECTORS: f64 = 12.0;

/// Multiply-adds of a run without limits of its own: some ten seconds.
const WORK: f64 = 2e10;

impl OraclePlan {
    /// Refuses what needs more memory than the limit, before anything is allocated.
    pub(super) fn new(
        domain: &Domain,
        cliques: &[Clique],
        tree: &JunctionTree,
        kind: OracleKind,
        memory_limit: Option<u64>,
        parallel: bool,
    ) -> Result<Self, EstimateError> {
        let limit = memory_limit.unwrap_or_else(default_memory_limit);
        let measured: f64 = cliques.iter().map(|clique| domain.cells_f64(clique)).sum();
        let vectors = VECTORS * 8.0 * measured;
        if kind == OracleKind::Exact {
            let plan = EliminationPlan::new(domain, cliques, tree);
            let bytes = vectors + plan.bytes(domain);
            tree.check_bytes(bytes, limit)?;
            memory::require(bytes)?;
            let work = plan.work(domain);
            let oracle = Exact::from_plan(domain, cliques, &plan).with_threads(parallel);
            return Ok(Self { oracle: Box::new(oracle), work, bytes });
        }
        tree.check_bytes(vectors, limit)?;
        memory::require(vectors)?;
        let layout = CliqueLayout::new(domain.clone(), cliques.to_vec());
        // Potentials move little between iterations, so that a few sweeps from where the last call
        // ended are enough.
        let options = LoopyOptions { warm_start: true, max_sweeps: 20, ..LoopyOptions::default() };
        let oracle = match kind {
            OracleKind::Convex => Loopy::convex(&layout, options)?,
            _ => Loopy::bethe(&layout, options)?,
        };
        Ok(Self { oracle: Box::new(oracle), work: 40.0 * measured, bytes: vectors })
    }

    /// When a run with this oracle stops.
    pub(super) fn stopping(
        &self,
        settings: &Settings,
        deadline: Option<std::time::Instant>,
    ) -> Stopping {
        let affordable = (WORK / self.work.max(1.0)).clamp(2_000.0, 2_000_000.0) as usize;
        match settings.gap {
            Some(gap) => Stopping {
                iterations: settings.iterations.unwrap_or(usize::MAX),
                gap,
                relative_gap: 0.0,
                deadline,
            },
            // To the last digit that marginals are printed with. The L1 loss has no curvature that
            // makes the error of a marginal the square root of the gap.
            None => Stopping {
                iterations: settings.iterations.unwrap_or(affordable),
                gap: 1e-12,
                relative_gap: if settings.loss == Norm::L1 { 1e-8 } else { 1e-11 },
                deadline,
            },
        }
    }
}
