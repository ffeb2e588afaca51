//! Message passing between cliques and inner regions.
//!
//! # The update
//!
//! With counting numbers 1 on every clique C and c_S on every inner region S, the free energy is
//! maximised over beliefs that agree:
//!
//! ```text
//! sum over C of [<theta_C, b_C> + H(b_C)] + sum over S of c_S H(b_S),   b_C = b_S on S
//! ```
//!
//! With multipliers lambda_CS, b_C is proportional to exp(t_C), t_C = theta_C + sum over S of
//! lambda_CS, and b_S to exp(u_S), c_S u_S = - sum over C of lambda_CS. An update of S solves the
//! conditions of S exactly for all of its n parents. From the parents' current marginals
//! s_C = ln (sum of exp(t_C) onto S),
//!
//! ```text
//! u_S <- (sum over C of s_C + c_S u_S) / (n + c_S),   t_C <- t_C + u_S - s_C
//! ```
//!
//! (Heskes, JAIR 2006, with clique-to-region messages eliminated). With c_S = 1 - n this is belief
//! propagation; with c_S = 0 every parent's marginal becomes the geometric mean of all of them, and
//! an update is a step of block coordinate descent on the convex dual. The dual is the sum over C
//! of ln sum exp(t_C) plus the sum over S of c_S ln sum exp(u_S); it does not change when a table
//! is shifted and the shift is added to `log_scale`, which keeps all tables near zero.
//!
//! A cell of S that one parent excludes is excluded from all of them permanently. Sums vanish only
//! where every term is a structural zero, so that no infinities are subtracted.

use std::ops::Range;
use std::sync::Arc;

use super::regions::Region;
use super::tables::{CliqueTables, Semiring, finite_or_zero};
use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::numeric::memory;
use crate::numeric::strided::Projection;

/// The counting numbers c_S of the inner regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// c_S = 1 - n for n parents.
    Bethe,
    /// c_S = 0.
    Convex,
}

/// The variant of message passing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) semiring: Semiring,
    pub(super) counting: Counting,
    /// The share of the old messages that an update keeps, in [0, 1).
    pub(super) damping: f64,
}

/// Structural zeros exclude every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NothingPossible;

/// The state of message passing, allocated once.
#[derive(Debug)]
pub(super) struct Propagation {
    regions: Vec<RegionState>,
    tables: CliqueTables,
    /// u_S.
    beliefs: Vec<f64>,
    /// lambda_CS, if they are kept between calls.
    messages: Option<Vec<f64>>,
    /// What the shifts of tables and beliefs subtracted from the dual.
    log_scale: f64,
    /// Scratch of an update: s_C for each parent, later what is added to its table.
    marginals: Vec<f64>,
    /// Scratch of an update: ln of each parent's mass.
    scales: Vec<f64>,
    /// Scratch of an update: the next u_S.
    proposal: Vec<f64>,
}

/// An inner region and its cells in the state.
#[derive(Debug)]
struct RegionState {
    edges: Vec<Edge>,
    /// Its cells of `beliefs`.
    belief: Range<usize>,
}

/// The connection of an inner region to one of its parents.
#[derive(Debug)]
struct Edge {
    parent: usize,
    projection: Projection,
    /// Its cells of `messages`.
    message: Range<usize>,
}

impl Counting {
    fn number(self, parents: usize) -> f64 {
        match self {
            Counting::Bethe => 1.0 - parents as f64,
            Counting::Convex => 0.0,
        }
    }
}

impl Propagation {
    /// Allocates messages between the cliques of `layout` and these regions.
    pub(super) fn new(layout: &Arc<CliqueLayout>, regions: &[Region], keep_messages: bool) -> Self {
        let domain = layout.domain();
        let (mut belief_cells, mut message_cells) = (0, 0);
        let mut states: Vec<RegionState> = Vec::with_capacity(regions.len());
        for region in regions {
            let mut cells = 0;
            let mut edges = Vec::with_capacity(region.parents.len());
            for &parent in &region.parents {
                let clique = &layout.cliques()[parent];
                let kept: Vec<bool> =
                    clique.iter().map(|id| region.attributes.contains(id)).collect();
                let projection = Projection::new(&domain.shape(clique), &kept);
                cells = projection.small_len();
                let message = message_cells..message_cells + cells;
                message_cells = message.end;
                edges.push(Edge { parent, projection, message });
            }
            states.push(RegionState { edges, belief: belief_cells..belief_cells + cells });
            belief_cells += cells;
        }
        let most = |size: fn(&RegionState) -> usize| {
            memory::zeros(states.iter().map(size).max().unwrap_or(0))
        };
        Self {
            marginals: most(|state| state.belief.len() * state.edges.len()),
            scales: most(|state| state.edges.len()),
            proposal: most(|state| state.belief.len()),
            regions: states,
            tables: CliqueTables::new(layout),
            beliefs: memory::zeros(belief_cells),
            messages: keep_messages.then(|| memory::zeros(message_cells)),
            log_scale: 0.0,
        }
    }

    /// Starts sum-product, from the messages of earlier calls if they are kept.
    pub(super) fn start_sum(&mut self, potentials: &Potentials, counting: Counting) {
        self.tables.load(potentials);
        self.beliefs.fill(0.0);
        if let Some(messages) = &mut self.messages {
            for RegionState { edges, belief } in &self.regions {
                recentre(messages, edges, counting, &mut self.beliefs[belief.clone()]);
                for Edge { parent, projection, message } in edges {
                    self.tables.add_log(*parent, projection, &messages[message.clone()]);
                }
            }
        }
        self.log_scale = self.tables.normalise();
    }

    /// Starts max-sum, without messages.
    pub(super) fn start_max(&mut self, potentials: &Potentials) {
        self.tables.load(potentials);
        self.beliefs.fill(0.0);
        self.log_scale = 0.0;
    }

    /// Updates all regions in reverse order and then in order. Returns the largest difference, each
    /// before its update, between a parent's probability of a region's cell and the region's.
    pub(super) fn sweep(&mut self, rule: Rule) -> Result<f64, NothingPossible> {
        let mut residual = 0.0f64;
        // The region at the turning point has received nothing new.
        for index in (0..self.regions.len()).rev().chain(1..self.regions.len()) {
            residual = residual.max(self.update(index, rule)?);
        }
        Ok(residual)
    }

    /// Updates one region and returns its residual, see [`sweep`](Self::sweep).
    fn update(&mut self, index: usize, rule: Rule) -> Result<f64, NothingPossible> {
        let Rule { semiring, counting, damping } = rule;
        let RegionState { edges, belief } = &self.regions[index];
        let belief = &mut self.beliefs[belief.clone()];
        let (parents, cells) = (edges.len(), belief.len());
        let c = counting.number(parents);
        let marginals = &mut self.marginals[..parents * cells];
        let scales = &mut self.scales[..parents];
        let proposal = &mut self.proposal[..cells];

        let found = marginals.chunks_exact_mut(cells).zip(&mut *scales);
        for (edge, (marginal, scale)) in edges.iter().zip(found) {
            self.tables.project(semiring, edge.parent, &edge.projection, belief, marginal);
            *scale = semiring.total(marginal);
            if *scale == f64::NEG_INFINITY {
                return Err(NothingPossible);
            }
            marginal.iter_mut().for_each(|s| *s -= *scale);
        }
        let shift = propose(marginals, belief, c, semiring, proposal)?;
        self.log_scale +=
            scales.iter().sum::<f64>() + (1.0 - damping) * (parents as f64 + c) * shift;

        let mut residual = 0.0f64;
        let found = marginals.chunks_exact_mut(cells).zip(scales);
        for (edge, (marginal, scale)) in edges.iter().zip(found) {
            for (s, &u) in marginal.iter_mut().zip(&*proposal) {
                residual = residual.max((s.exp() - u.exp()).abs());
                let excluded = u == f64::NEG_INFINITY;
                *s = if excluded { u } else { (1.0 - damping) * (u - *s) - *scale };
            }
            let (parent, gain) = (edge.parent, &*marginal);
            match semiring {
                Semiring::MaxSum => self.tables.add_log(parent, &edge.projection, gain),
                Semiring::SumProduct => {
                    self.tables.add(parent, &edge.projection, gain);
                    if let Some(messages) = &mut self.messages {
                        let message = messages[edge.message.clone()].iter_mut();
                        message.zip(gain).for_each(|(m, &gain)| *m += finite_or_zero(gain));
                    }
                }
            }
        }
        for (old, &u) in belief.iter_mut().zip(&*proposal) {
            let excluded = u == f64::NEG_INFINITY;
            *old = if excluded { u } else { (1.0 - damping) * u + damping * *old };
        }
        Ok(residual)
    }

    /// The dual: an estimate of ln Z or of the maximum.
    pub(super) fn dual(&self, semiring: Semiring, counting: Counting) -> f64 {
        let cliques = self.tables.total(semiring);
        // A clique without mass decides the result; its regions would add infinities.
        if cliques == f64::NEG_INFINITY || counting == Counting::Convex {
            return self.log_scale + cliques;
        }
        let regions = self.regions.iter().map(|RegionState { edges, belief }| {
            counting.number(edges.len()) * semiring.total(&self.beliefs[belief.clone()])
        });
        self.log_scale + cliques + regions.sum::<f64>()
    }

    /// Writes the beliefs of the cliques, each scaled to sum to `total`.
    pub(super) fn write_marginals(&self, total: f64, marginals: &mut Marginals) {
        self.tables.write_marginals(total, marginals);
    }
}

/// Prepares kept messages for a new start: subtracts constants, which have no effect and would
/// accumulate over calls, and restores c_S u_S = - sum over C of lambda_CS.
fn recentre(messages: &mut [f64], edges: &[Edge], counting: Counting, belief: &mut [f64]) {
    for edge in edges {
        let message = &mut messages[edge.message.clone()];
        let top = Semiring::MaxSum.total(message);
        message.iter_mut().for_each(|m| *m -= top);
    }
    let c = counting.number(edges.len());
    for (cell, u) in belief.iter_mut().enumerate() {
        let at = |edge: &Edge| edge.message.start + cell;
        let sum: f64 = edges.iter().map(|edge| messages[at(edge)]).sum();
        if c == 0.0 {
            edges.iter().for_each(|edge| messages[at(edge)] -= sum / edges.len() as f64);
        } else {
            *u = -sum / c;
        }
    }
}

/// Sets `proposal` to the next u_S, undamped and shifted to have total zero. Returns the shift.
fn propose(
    marginals: &[f64],
    belief: &[f64],
    c: f64,
    semiring: Semiring,
    proposal: &mut [f64],
) -> Result<f64, NothingPossible> {
    let parents = (marginals.len() / belief.len()) as f64;
    proposal.fill(0.0);
    for marginal in marginals.chunks_exact(belief.len()) {
        proposal.iter_mut().zip(marginal).for_each(|(sum, s)| *sum += s);
    }
    for (u, &old) in proposal.iter_mut().zip(belief) {
        let excluded = *u == f64::NEG_INFINITY || old == f64::NEG_INFINITY;
        *u = if excluded { f64::NEG_INFINITY } else { (*u + c * old) / (parents + c) };
    }
    let shift = semiring.total(proposal);
    if shift == f64::NEG_INFINITY {
        return Err(NothingPossible);
    }
    proposal.iter_mut().for_each(|u| *u -= shift);
    Ok(shift)
}
