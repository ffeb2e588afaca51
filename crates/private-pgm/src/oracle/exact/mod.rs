//! The exact oracle: contracts the potentials along a tree and differentiates ln Z.

mod backward;
mod conditioning;
mod executor;
mod join_spinning;
mod leaves;
mod max_reparametrization;
mod node_table;
mod program;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::Arc;

use backward::Underflow;
use conditioning::Conditioning;
use executor::{Executor, LogSpace};
use leaves::Leaves;
use max_reparametrization::MaxReparametrization;
use program::{Compiler, Program};
use workspace::Workspace;

use super::{MarginalOracle, Reparametrized, StepRequest, StepResult, log_unmentioned};
use crate::domain::{Clique, Domain};
use crate::elimination_plan::EliminationPlan;
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::junction_tree::JunctionTree;

/// Exact marginals by contraction of the measured tables (see [`crate::elimination_plan`]).
///
/// The forward pass computes ln Z, the backward pass its derivatives N d ln Z / d theta, which are
/// the marginals. A call costs three times the multiply-adds of the tree, plus an exponential and
/// a logarithm per stored cell. Potentials may have any magnitude; minus infinity gives exact
/// zeros.
pub struct Exact {
    program: Program,
    workspace: Workspace,
    log_unmentioned: f64,
    parallel: bool,
    reparametrization: Reparametrization,
    /// Underflow affected the last call. The next call sums in log space from the start.
    in_log_space: bool,
    /// Underflow affected a call since the last [`MarginalOracle::reparametrize`].
    underflowed: bool,
    /// Consecutive calls of [`MarginalOracle::reparametrize`] that found underflow.
    underflow_streak: usize,
}

/// While underflow persists, potentials are replaced once per this many calls of
/// [`MarginalOracle::reparametrize`], since each replacement costs a call of the oracle. Our
/// choice.
const REPARAMETRIZATION_INTERVAL: usize = 16;

/// How potentials are replaced by equivalent ones.
enum Reparametrization {
    Conditioning(Conditioning),
    /// For trees without conditioning. Built at the first underflow.
    Max(Option<MaxReparametrization>),
}

impl Exact {
    /// Compiles an oracle for potentials on these cliques, none of which contains another.
    ///
    /// The [`layout`](MarginalOracle::layout) holds the same cliques in the order of the tree.
    pub fn new(domain: &Domain, cliques: &[Clique], tree: &JunctionTree) -> Self {
        Self::from_plan(domain, cliques, &EliminationPlan::new(domain, cliques, tree))
    }

    /// Compiles an oracle along a given contraction tree over these cliques.
    pub fn from_plan(domain: &Domain, cliques: &[Clique], plan: &EliminationPlan) -> Self {
        let mut compiler = Compiler::new(domain);
        let program = Program::new(&mut compiler, cliques, plan);
        let mut workspace = Workspace::new(&program);
        let log_unmentioned = log_unmentioned(&program.layout);
        let conditioning = Conditioning::new(&mut compiler, plan);
        if let Some(conditioning) = &conditioning {
            conditioning.mark_messages(workspace.tables_mut());
        }
        Self {
            program,
            workspace,
            log_unmentioned,
            parallel: true,
            reparametrization: conditioning
                .map_or(Reparametrization::Max(None), Reparametrization::Conditioning),
            in_log_space: false,
            underflowed: false,
            underflow_streak: 0,
        }
    }

    /// Whether a call may use several threads (default: yes). The result is the same bit for bit.
    pub fn with_threads(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Writes marginals and returns ln Z, or `None` when underflow affected them and sums that
    /// matter were not recomputed in log space.
    fn attempt(&mut self, mut leaves: Leaves<'_>, total: f64, log_space: LogSpace) -> Option<f64> {
        let executor = Executor { program: &self.program, parallel: self.parallel, log_space };
        let log_z = self.log_unmentioned + self.workspace.forward(&executor, &mut leaves);
        let underflow = match log_z == f64::NEG_INFINITY {
            true => Underflow::default(),
            false => self.workspace.backward(&executor, total, &mut leaves),
        };
        self.in_log_space = underflow.noticeable;
        self.underflowed |= underflow.noticeable;
        let is_valid = match log_space {
            LogSpace::None => !underflow.noticeable,
            LogSpace::Noticed => !underflow.missed,
            LogSpace::All => true,
        };
        is_valid.then_some(log_z)
    }

    /// Which sums are recomputed while calls underflow. All where messages are moved into
    /// potentials, which needs every cell of a message.
    fn log_space(&self) -> LogSpace {
        match self.reparametrization {
            Reparametrization::Conditioning(_) => LogSpace::All,
            Reparametrization::Max(_) => LogSpace::Noticed,
        }
    }

    /// How the first attempt of a call computes its sums.
    fn first_log_space(&self) -> LogSpace {
        if self.in_log_space { self.log_space() } else { LogSpace::None }
    }

    /// The ln Z of the first attempt, or of further attempts in log space if it underflowed. The
    /// first two of these find the sums that matter; a third one recomputes all.
    fn or_in_log_space(
        &mut self,
        first: Option<f64>,
        potentials: &Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> f64 {
        let attempts = [self.log_space(), LogSpace::Noticed, LogSpace::All].into_iter();
        let mut retry = attempts
            .filter_map(|which| self.attempt(Leaves::new(potentials, marginals), total, which));
        let log_z = first.or_else(|| retry.next());
        let log_z = log_z.expect("an attempt with all sums in log space has a result");
        if log_z == f64::NEG_INFINITY {
            marginals.values_mut().fill(0.0);
        }
        log_z
    }
}

impl MarginalOracle for Exact {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.program.layout
    }

    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        let log_z = self.attempt(Leaves::new(potentials, marginals), total, self.first_log_space());
        self.or_in_log_space(log_z, potentials, total, marginals)
    }

    fn descend(
        &mut self,
        request: StepRequest<'_>,
        potentials: &mut Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> StepResult {
        let leaves = Leaves::with_step(request, potentials, marginals);
        let log_z = self.attempt(leaves, total, self.first_log_space());
        let square = self.workspace.stats().square;
        StepResult { log_z: self.or_in_log_space(log_z, potentials, total, marginals), square }
    }

    fn reparametrize(&mut self, potentials: &mut Potentials, exact: bool) -> Reparametrized {
        let underflowed = std::mem::take(&mut self.underflowed);
        self.underflow_streak = if underflowed { self.underflow_streak + 1 } else { 0 };
        let recompute = self.underflow_streak % REPARAMETRIZATION_INTERVAL == 1
            || exact && self.underflow_streak > 0;
        let decrease = match &mut self.reparametrization {
            Reparametrization::Conditioning(conditioning) => {
                if !conditioning.is_due(self.workspace.stats()) && !recompute {
                    return Reparametrized::Unchanged;
                }
                let tables = self.workspace.tables_mut();
                conditioning.apply(tables, self.in_log_space, potentials, self.parallel)
            }
            Reparametrization::Max(_) if !recompute => return Reparametrized::Unchanged,
            Reparametrization::Max(max) => max
                .get_or_insert_with(|| MaxReparametrization::new(&self.program.layout))
                .apply(potentials),
        };
        if recompute { Reparametrized::Recompute } else { Reparametrized::Shifted(decrease) }
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let executor =
            Executor { program: &self.program, parallel: self.parallel, log_space: LogSpace::None };
        Some(self.workspace.maximum(&executor, potentials))
    }

    fn is_parallel(&self) -> bool {
        self.parallel
    }

    fn is_exact(&self) -> bool {
        true
    }
}
