//! Equivalent potentials that are conditional distributions.
//!
//! The contraction trees of chains and trees only pass messages from table to table: each product
//! has one child, the *carrier*, built from a table that has all attributes of the other child. A
//! message m(x_S) can be absorbed for good. Its logarithm is subtracted from the table that sends
//! it and added to the table that receives it. Both tables have the attributes S, and no
//! probability changes. When all messages have been absorbed they are constant, and each table
//! is, up to a constant, the logarithm of a conditional distribution given the S of its own
//! message.
//!
//! Of all equivalent potentials these keep sums furthest from underflow: for every x_S the largest
//! terms of a message are near 1, no matter how far below them others lie. When an estimate is
//! near a vertex of the marginal polytope, as with few records and much noise, potentials grow
//! without bound. Any other choice then has sums all of whose terms are tiny.

use std::sync::Arc;

use rayon::prelude::*;

use super::executor::ForwardStats;
use super::max_reparametrization::normalise_table;
use super::node_table::NodeTable;
use super::program::Compiler;
use crate::elimination_plan::{EliminationPlan, NodeOperation};
use crate::factor::Potentials;
use crate::numeric::exp::maximum;
use crate::numeric::shift::add_rows;
use crate::numeric::strided::Projection;

/// The smallest number of tables that a thread processes.
const MIN_TABLES_PER_THREAD: usize = 64;

/// The messages of a contraction tree, and the tables that send and receive them.
pub(super) struct Conditioning {
    /// The nodes whose tables are messages.
    messages: Vec<usize>,
    /// For each table of the layout, the corrections that are added to it.
    corrections: Vec<Vec<Correction>>,
    /// For all messages, one after another: what is added to the receiving table, and to the
    /// sending table.
    added: [Vec<f64>; 2],
    /// Where each message starts in `added`, and where the last one ends.
    starts: Vec<usize>,
    /// The number of wide messages at the first check after the last conditioning; `None` until
    /// that check, 0 before the first conditioning.
    wide_messages: Option<usize>,
}

/// One message's correction to one table.
struct Correction {
    message: usize,
    /// Index into [`Conditioning::added`].
    side: usize,
    /// From the table onto the message.
    onto: Arc<Projection>,
}

/// The table that a node's own message is sent from: its position in the layout, and the leaf node
/// that holds it.
type Carrier = (usize, usize);

impl Conditioning {
    /// `None` when the tree does more than pass messages from table to table.
    pub(super) fn new(compiler: &mut Compiler<'_>, tree: &EliminationPlan) -> Option<Self> {
        let nodes = tree.nodes();
        let mut conditioning = Self {
            messages: Vec::new(),
            corrections: Vec::new(),
            added: [Vec::new(), Vec::new()],
            starts: vec![0],
            wide_messages: Some(0),
        };
        let mut carriers: Vec<Carrier> = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            let carrier = match (node.operation, tree.children(position)) {
                (NodeOperation::Leaf(_), _) => {
                    conditioning.corrections.push(Vec::new());
                    (conditioning.corrections.len() - 1, position)
                }
                (NodeOperation::Product, (Some(left), Some(right))) => {
                    let carries = |&(child, message): &(usize, usize)| {
                        let attributes = &nodes[message].clique;
                        let is_leaf = matches!(nodes[message].operation, NodeOperation::Leaf(_));
                        !is_leaf && attributes.is_subset(&nodes[carriers[child].1].clique)
                    };
                    let (child, message) =
                        [(left, right), (right, left)].into_iter().find(carries)?;
                    let (to, from) = (carriers[child], carriers[message]);
                    conditioning.push_message(compiler, tree, message, [to, from]);
                    to
                }
                (NodeOperation::Sum, (_, Some(child))) => carriers[child],
                (NodeOperation::Product | NodeOperation::Sum, _) => {
                    unreachable!("inner nodes have children")
                }
            };
            carriers.push(carrier);
        }
        Some(conditioning)
    }

    /// Adds a message, given the tables that receive and send it.
    fn push_message(
        &mut self,
        compiler: &mut Compiler<'_>,
        tree: &EliminationPlan,
        message: usize,
        tables: [Carrier; 2],
    ) {
        let nodes = tree.nodes();
        let mut end = self.added[0].len();
        for (side, (table, leaf)) in tables.into_iter().enumerate() {
            let onto = compiler.projection(&nodes[leaf].clique, &nodes[message].clique);
            if side == 0 {
                end += onto.small_len();
            }
            self.corrections[table].push(Correction { message: self.messages.len(), side, onto });
        }
        self.messages.push(message);
        self.starts.push(end);
        self.added.iter_mut().for_each(|added| added.resize(end, 0.0));
    }

    /// Marks the tables that are messages.
    pub(super) fn mark_messages(&self, tables: &mut [NodeTable]) {
        self.messages.iter().for_each(|&node| tables[node].message = true);
    }

    /// Whether more messages are wide than after the last conditioning (beyond what the step of
    /// one iteration causes), or whole tables have drifted away from 0.
    pub(super) fn is_due(&mut self, stats: ForwardStats) -> bool {
        let before = *self.wide_messages.get_or_insert(stats.wide_messages);
        stats.wide_messages > before || stats.drifted
    }

    /// Absorbs all messages of the last call, less their largest values, and
    /// [normalises](normalise_table) every table. Tiny sums of messages are used only if they were
    /// computed `in_log_space`. Returns the decrease of ln Z.
    pub(super) fn apply(
        &mut self,
        tables: &mut [NodeTable],
        in_log_space: bool,
        potentials: &mut Potentials,
        parallel: bool,
    ) -> f64 {
        self.wide_messages = None;
        let min_len = if parallel { MIN_TABLES_PER_THREAD } else { usize::MAX };
        let messages = tables.par_iter_mut().with_min_len(min_len).filter(|table| table.message);
        messages.for_each(|table| table.form_log(false));
        let tables = &*tables;
        let [to, from] = &mut self.added;
        let (to, from) = (parts(to, &self.starts), parts(from, &self.starts));
        let messages = self.messages.par_iter().zip(to).zip(from).with_min_len(min_len);
        messages
            .for_each(|((&node, to), from)| split_message(&tables[node], in_log_space, to, from));
        let layout = Arc::clone(potentials.layout());
        let mut starts: Vec<usize> =
            (0..self.corrections.len()).map(|i| layout.range(i).start).collect();
        starts.push(potentials.values().len());
        let work = parts(potentials.values_mut(), &starts).into_par_iter().zip(&self.corrections);
        let decreases = work.with_min_len(min_len).map(|(table, corrections)| {
            for Correction { message, side, onto } in corrections {
                let cells = self.starts[*message]..self.starts[message + 1];
                add_rows(onto, &self.added[*side][cells], table);
            }
            normalise_table(table)
        });
        // Summed in order, so that rounding does not depend on the threads.
        decreases.collect::<Vec<f64>>().iter().sum()
    }
}

/// Writes what is added to the table that receives a message, and to the one that sends it.
fn split_message(message: &NodeTable, in_log_space: bool, to: &mut [f64], from: &mut [f64]) {
    let largest = maximum(&message.log);
    let sums = message.sums.iter().zip(&message.log);
    for (((&sum, log), to), from) in sums.zip(to).zip(from) {
        // The backward pass has replaced tiny sums by minus their masses. Most of them belong to
        // impossible cells, and a made-up value would spread from table to table. Where every cell
        // is impossible, nothing is moved.
        let is_known = largest.is_finite() && (in_log_space || sum > 0.0);
        *to = if is_known { log - largest } else { 0.0 };
        // A cell that is impossible for the receiver is impossible for the sender.
        *from = if to.is_finite() { -*to } else { 0.0 };
    }
}

/// The parts of a slice between consecutive `starts`.
fn parts<'a>(all: &'a mut [f64], starts: &[usize]) -> Vec<&'a mut [f64]> {
    let mut rest = all;
    let mut next = |ends: &[usize]| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
        rest = after;
        part
    };
    starts.windows(2).map(&mut next).collect()
}
