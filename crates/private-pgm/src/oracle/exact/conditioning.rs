//! Potentials that are conditional distributions.
//!
//! The contraction trees of chains and trees only hand messages from table to table: each product has
//! one child, the *carrier*, that is made of a table with all attributes of the other. Such a message
//! m(x_S) can be moved for good. Its logarithm is subtracted from the table that it comes from and added
//! to the table that takes it in, both of which have the attributes S; no probability changes. When all
//! messages have been moved they are constant, and each table is, up to a constant, the logarithm of a
//! conditional distribution given the S of its own message.
//!
//! That is the gauge in which sums are furthest from underflow: for every x_S the largest terms of a
//! message are near 1, however far below them others lie. Where an estimate is near a corner of the
//! marginal polytope, as with few records and much noise, potentials grow without end, and any other
//! gauge sooner or later has sums of which all terms are tiny.

use std::sync::Arc;

use rayon::prelude::*;

use super::max_reparametrization::lower_table;
use super::program::Compiler;
use super::run::ForwardStats;
use super::table::Table;
use crate::elimination_plan::{EliminationPlan, NodeOperation};
use crate::factor::Potentials;
use crate::numeric::exp::maximum;
use crate::numeric::shift::add_rows;
use crate::numeric::strided::Projection;

/// So many tables at least are worth a thread.
const TOGETHER: usize = 64;

/// The messages of a contraction tree, and the tables between which they are moved.
pub(super) struct Conditioning {
    /// The nodes whose tables are messages.
    messages: Vec<usize>,
    /// For each table of the layout, what is to be added to it.
    shares: Vec<Vec<Share>>,
    /// For all messages, one after another: what is added to the table that takes one in, and to the
    /// table that it comes from.
    moves: [Vec<f64>; 2],
    /// Where each begins, and where the last one ends.
    starts: Vec<usize>,
    /// How many messages were uneven when relief was first offered after the last conditioning, once it was;
    /// none before the first one.
    left: Option<usize>,
}

/// What a table gets of a message.
struct Share {
    message: usize,
    /// Which of the two moves.
    side: usize,
    /// From the table onto the message.
    onto: Arc<Projection>,
}

impl Conditioning {
    /// `None` when the tree does more than hand messages from table to table.
    pub(super) fn new(compiler: &mut Compiler<'_>, tree: &EliminationPlan) -> Option<Self> {
        let nodes = tree.nodes();
        let mut found = Self {
            messages: Vec::new(),
            shares: Vec::new(),
            moves: [Vec::new(), Vec::new()],
            starts: vec![0],
            left: Some(0),
        };
        // For each node, the table at which its own message begins: its position in the layout, and the
        // node that brings it in.
        let mut carriers: Vec<(usize, usize)> = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let carrier = match (node.operation, tree.children(position)) {
                (NodeOperation::Leaf(_), _) => {
                    found.shares.push(Vec::new());
                    (found.shares.len() - 1, position)
                }
                (NodeOperation::Product, (Some(left), Some(right))) => {
                    let carries = |&(child, message): &(usize, usize)| {
                        let has = &nodes[message].clique;
                        let is_leaf = matches!(nodes[message].operation, NodeOperation::Leaf(_));
                        !is_leaf && has.is_subset(&nodes[carriers[child].1].clique)
                    };
                    let (child, message) =
                        [(left, right), (right, left)].into_iter().find(carries)?;
                    let (to, from) = (carriers[child], carriers[message]);
                    for (side, (table, leaf)) in [to, from].into_iter().enumerate() {
                        let onto = compiler.projection(&nodes[leaf].clique, &nodes[message].clique);
                        let share = Share { message: found.messages.len(), side, onto };
                        found.shares[table].push(share);
                    }
                    found.messages.push(message);
                    let cells = found.shares[to.0].last().map_or(0, |share| share.onto.small_len());
                    let end = found.moves[0].len() + cells;
                    found.starts.push(end);
                    found.moves.iter_mut().for_each(|moves| moves.resize(end, 0.0));
                    to
                }
                (NodeOperation::Sum, (_, Some(child))) => carriers[child],
                (NodeOperation::Product | NodeOperation::Sum, _) => {
                    unreachable!("inner nodes have children")
                }
            };
            carriers.push(carrier);
        }
        Some(found)
    }

    /// Marks the tables that are messages.
    pub(super) fn mark(&self, tables: &mut [Table]) {
        self.messages.iter().for_each(|&node| tables[node].message = true);
    }

    /// Whether messages have become uneven since they were moved last, by more than the steps of a
    /// single iteration make them, or whole tables have drifted away.
    pub(super) fn is_due(&mut self, seen: ForwardStats) -> bool {
        let left = *self.left.get_or_insert(seen.uneven);
        seen.uneven > left || seen.drifted
    }

    /// Moves all messages of the last call, less their largest values, and
    /// [lowers](super::max_reparametrization::lower_table) every table. What is known of tiny sums is moved if they were
    /// `mended`. Returns by how much ln Z is less.
    pub(super) fn apply(
        &mut self,
        tables: &mut [Table],
        mended: bool,
        potentials: &mut Potentials,
        parallel: bool,
    ) -> f64 {
        self.left = None;
        let at_once = if parallel { TOGETHER } else { usize::MAX };
        let messages = tables.par_iter_mut().with_min_len(at_once).filter(|table| table.message);
        messages.for_each(|table| table.form_log(false));
        let tables = &*tables;
        let [to, from] = &mut self.moves;
        let (to, from) = (parts(to, &self.starts), parts(from, &self.starts));
        let moves = self.messages.par_iter().zip(to).zip(from).with_min_len(at_once);
        moves.for_each(|((&node, to), from)| take_out(&tables[node], mended, to, from));
        let layout = Arc::clone(potentials.layout());
        let mut starts: Vec<usize> =
            (0..self.shares.len()).map(|i| layout.range(i).start).collect();
        starts.push(potentials.values().len());
        let work = parts(potentials.values_mut(), &starts).into_par_iter().zip(&self.shares);
        let less = work.with_min_len(at_once).map(|(table, shares)| {
            for Share { message, side, onto } in shares {
                let cells = self.starts[*message]..self.starts[message + 1];
                add_rows(onto, &self.moves[*side][cells], table);
            }
            lower_table(table)
        });
        // One after another, so that rounding is the same whatever the threads.
        less.collect::<Vec<f64>>().iter().sum()
    }
}

/// What is added to the table that takes in a message, and to the one that it comes from.
fn take_out(message: &Table, mended: bool, to: &mut [f64], from: &mut [f64]) {
    let largest = maximum(&message.log);
    let sums = message.sums.iter().zip(&message.log);
    for (((&sum, log), to), from) in sums.zip(to).zip(from) {
        // On the way back tiny sums have become something else. Most belong to what is impossible, of which
        // an invented number would go on and on from table to table. Where everything is impossible,
        // nothing is moved.
        let is_known = largest.is_finite() && (mended || sum > 0.0);
        *to = if is_known { log - largest } else { 0.0 };
        // What is impossible for one table is so for the other.
        *from = if to.is_finite() { -*to } else { 0.0 };
    }
}

/// The parts of a slice between these positions.
fn parts<'a>(all: &'a mut [f64], starts: &[usize]) -> Vec<&'a mut [f64]> {
    let mut rest = all;
    let mut next = |ends: &[usize]| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
        rest = after;
        part
    };
    starts.windows(2).map(&mut next).collect()
}
