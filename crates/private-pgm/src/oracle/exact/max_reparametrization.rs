//! Potentials that mean the same model, with a smaller range.
//!
//! When cliques C and C' share the attributes S, adding any f(x_S) to theta_C and subtracting it
//! from theta_C' changes no probability. Measurements that contradict each other push potentials
//! along such directions without end, until tables far from 0 cancel each other. A [`MaxReparametrization`] takes
//! that motion back: for every shared S, from large to small, it makes the tables' maxima over the
//! other attributes equal. Maxima rather than means, because cells far below the maximum of their
//! row, the zeros of the estimate, say nothing about where the row should be.

use std::collections::BTreeMap;

use crate::domain::Clique;
use crate::factor::{CliqueLayout, Potentials};
use crate::numeric::exp::maximum;
use crate::numeric::strided::Projection;

/// Larger cliques have too many subsets; they keep their gauge.
const LARGEST_CLIQUE: usize = 10;

/// One clique that contains a shared set of attributes.
struct Member {
    table: usize,
    projection: Projection,
}

/// The sets of attributes that cliques of a layout share, largest first.
pub(super) struct MaxReparametrization {
    shared: Vec<Vec<Member>>,
    /// Maxima of one member, and their mean over the members.
    own: Vec<f64>,
    mean: Vec<f64>,
}

impl MaxReparametrization {
    pub(super) fn new(layout: &CliqueLayout) -> Self {
        let cliques = layout.cliques();
        let mut tables: BTreeMap<Clique, Vec<usize>> = BTreeMap::new();
        for (table, clique) in cliques.iter().enumerate() {
            if clique.len() <= LARGEST_CLIQUE {
                for bits in 1usize..1 << clique.len() {
                    let has = |&(axis, _): &(usize, _)| bits >> axis & 1 == 1;
                    let subset = clique.iter().enumerate().filter(has).map(|(_, id)| id);
                    tables.entry(subset.collect()).or_default().push(table);
                }
            }
        }
        // A set whose tables all have one more attribute in common is covered by the larger set.
        let is_covered = |set: &Clique, members: &[usize]| {
            let more = cliques[members[0]].minus(set);
            more.iter().any(|id| members.iter().all(|&table| cliques[table].contains(id)))
        };
        let mut shared: Vec<(&Clique, &Vec<usize>)> = tables
            .iter()
            .filter(|(set, members)| members.len() > 1 && !is_covered(set, members))
            .collect();
        shared.sort_by_key(|(set, _)| std::cmp::Reverse(set.len()));
        let member = |set: &Clique, table: usize| {
            let clique = &cliques[table];
            let kept: Vec<bool> = clique.iter().map(|id| set.contains(id)).collect();
            Member { table, projection: Projection::new(&layout.domain().shape(clique), &kept) }
        };
        let shared: Vec<Vec<Member>> = shared
            .into_iter()
            .map(|(set, members)| members.iter().map(|&table| member(set, table)).collect())
            .collect();
        let largest = shared.iter().map(|members| members[0].projection.small_len()).max();
        let scratch = vec![0.0; largest.unwrap_or(0)];
        Self { shared, own: scratch.clone(), mean: scratch }
    }

    /// Moves potentials to this gauge, and [lowers](lower_table) every table. The sum over the cliques
    /// changes by the same number for every record, but for rounding. Returns by how much ln Z is less.
    pub(super) fn apply(&mut self, potentials: &mut Potentials) -> f64 {
        for members in &self.shared {
            let cells = members[0].projection.small_len();
            let (own, mean) = (&mut self.own[..cells], &mut self.mean[..cells]);
            mean.fill(0.0);
            for member in members {
                member.projection.max(potentials.table(member.table), own);
                mean.iter_mut().zip(&*own).for_each(|(mean, own)| *mean += own);
            }
            mean.iter_mut().for_each(|mean| *mean /= members.len() as f64);
            for member in members {
                let table = potentials.table_mut(member.table);
                member.projection.max(table, own);
                for (own, mean) in own.iter_mut().zip(&*mean) {
                    // Where a table excludes everything there is nothing to balance.
                    *own = if mean.is_finite() { mean - *own } else { 0.0 };
                }
                member.projection.broadcast(own, table, |cell, shift| *cell += shift);
            }
        }
        let tables = 0..potentials.layout().cliques().len();
        tables.map(|table| lower_table(potentials.table_mut(table))).sum()
    }
}

/// Makes the largest cell of a table 0, which changes ln Z and nothing else: measurements that contradict
/// the total push whole tables, and what is left of a probability after the decimal point shrinks with the
/// size of what is before it. Returns by how much ln Z is less.
pub(super) fn lower_table(table: &mut [f64]) -> f64 {
    let largest = maximum(table);
    if !largest.is_finite() {
        return 0.0;
    }
    table.iter_mut().for_each(|cell| *cell -= largest);
    largest
}
