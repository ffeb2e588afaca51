//! The exact oracle: contracts the tables of potentials along a tree and differentiates ln Z.

mod conditioning;
mod join_spinning;
mod leaves;
mod max_reparametrization;
mod program;
mod run;
mod table;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::Arc;

use conditioning::Conditioning;
use leaves::Leaves;
use max_reparametrization::MaxReparametrization;
use program::{Compiler, Program};
use run::Run;
use workspace::Workspace;

use super::{MarginalOracle, Reparametrized, StepRequest, StepResult, log_unmentioned};
use crate::domain::{Clique, Domain};
use crate::elimination_plan::EliminationPlan;
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::junction_tree::JunctionTree;

/// Exact marginals by contraction of the measured tables (see [`crate::elimination_plan`]).
///
/// The cost of a call is three times the multiply-adds of the tree, and an exponential and a
/// logarithm for each cell that is stored. Potentials may have any size; minus infinity gives exact
/// zeros.
pub struct Exact {
    program: Program,
    workspace: Workspace,
    log_unmentioned: f64,
    parallel: bool,
    relief: Relief,
    /// Tiny sums mattered in the last call, and are mended at once in the next one.
    in_log_space: bool,
    /// Tiny sums have mattered since relief was last offered.
    underflowed: bool,
    /// Offers in a row at which they had.
    offers: usize,
}

/// Where potentials go on being underflowed although they are relieved, they are relieved once in so many
/// offers, and where exact marginals are wanted: each costs a call.
const RELIEVED_EVERY: usize = 16;

/// How potentials are replaced by others that mean the same model.
enum Relief {
    Conditioning(Conditioning),
    /// For other trees, made when sums are tiny first.
    MaxReparametrization(Option<MaxReparametrization>),
}

impl Exact {
    /// Compiles an oracle for potentials on these cliques, of which none contains another.
    ///
    /// Its [`layout`](MarginalOracle::layout) has the same cliques in an order of its own.
    pub fn new(domain: &Domain, cliques: &[Clique], tree: &JunctionTree) -> Self {
        Self::from_plan(domain, cliques, &EliminationPlan::new(domain, cliques, tree))
    }

    /// Compiles an oracle along a contraction tree over these cliques.
    pub fn from_plan(domain: &Domain, cliques: &[Clique], plan: &EliminationPlan) -> Self {
        let mut compiler = Compiler::new(domain);
        let program = Program::new(&mut compiler, cliques, plan);
        let mut workspace = Workspace::new(&program);
        let log_unmentioned = log_unmentioned(&program.layout);
        let conditioning = Conditioning::new(&mut compiler, plan);
        if let Some(conditioning) = &conditioning {
            conditioning.mark(workspace.tables_mut());
        }
        let relief = conditioning.map_or(Relief::MaxReparametrization(None), Relief::Conditioning);
        Self {
            program,
            workspace,
            log_unmentioned,
            parallel: true,
            relief,
            in_log_space: false,
            underflowed: false,
            offers: 0,
        }
    }

    /// Whether a call may use several threads (it may, by default). The result is the same.
    pub fn with_threads(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Writes marginals and returns ln Z; `None` when tiny sums mattered that were not mended.
    fn attempt(
        &mut self,
        mut leaves: Leaves<'_>,
        total: f64,
        recompute_in_log_space: bool,
    ) -> Option<f64> {
        let run = Run { program: &self.program, parallel: self.parallel, recompute_in_log_space };
        let log_z = self.log_unmentioned + self.workspace.forward(&run, &mut leaves);
        let possible = log_z != f64::NEG_INFINITY;
        self.in_log_space = possible && self.workspace.backward(&run, total, &mut leaves);
        self.underflowed |= self.in_log_space;
        (recompute_in_log_space || !self.in_log_space).then_some(log_z)
    }

    /// What the first attempt said, or else a second one with tiny sums mended.
    fn mended(
        &mut self,
        first: Option<f64>,
        potentials: &Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> f64 {
        let log_z = first.or_else(|| self.attempt(Leaves::new(potentials, marginals), total, true));
        let log_z = log_z.expect("what was mended is trusted");
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
        let log_z = self.attempt(Leaves::new(potentials, marginals), total, self.in_log_space);
        self.mended(log_z, potentials, total, marginals)
    }

    fn descend(
        &mut self,
        descent: StepRequest<'_>,
        potentials: &mut Potentials,
        total: f64,
        marginals: &mut Marginals,
    ) -> StepResult {
        let leaves = Leaves::stepping(descent, potentials, marginals);
        let log_z = self.attempt(leaves, total, self.in_log_space);
        let square = self.workspace.seen().square;
        StepResult { log_z: self.mended(log_z, potentials, total, marginals), square }
    }

    fn reparametrize(&mut self, potentials: &mut Potentials, exactly: bool) -> Reparametrized {
        self.offers = if std::mem::take(&mut self.underflowed) { self.offers + 1 } else { 0 };
        let underflowed = self.offers % RELIEVED_EVERY == 1 || exactly && self.offers > 0;
        let less = match &mut self.relief {
            Relief::Conditioning(conditioning) => {
                if !conditioning.is_due(self.workspace.seen()) && !underflowed {
                    return Reparametrized::Unchanged;
                }
                let tables = self.workspace.tables_mut();
                conditioning.apply(tables, self.in_log_space, potentials, self.parallel)
            }
            Relief::MaxReparametrization(_) if !underflowed => return Reparametrized::Unchanged,
            Relief::MaxReparametrization(gauge) => gauge
                .get_or_insert_with(|| MaxReparametrization::new(&self.program.layout))
                .apply(potentials),
        };
        if underflowed { Reparametrized::Recompute } else { Reparametrized::Shifted(less) }
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let run =
            Run { program: &self.program, parallel: self.parallel, recompute_in_log_space: false };
        Some(self.workspace.maximum(&run, potentials))
    }

    fn is_parallel(&self) -> bool {
        self.parallel
    }

    fn is_exact(&self) -> bool {
        true
    }
}
