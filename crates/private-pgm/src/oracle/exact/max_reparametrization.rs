//! Equivalent potentials with a smaller range.
//!
//! When cliques C and C' share the attributes S, adding any f(x_S) to theta_C and subtracting it
//! from theta_C' changes no probability. Contradictory measurements push potentials along such
//! directions without bound, until large tables cancel each other. [`MaxReparametrization`]
//! removes that component: for every shared S, from large to small, it makes the tables' maxima
//! over the other attributes equal. It uses maxima rather than means because cells far below the
//! maximum of their row (the zeros of the estimate) carry no information about the row's level.

use std::collections::BTreeMap;

use crate::domain::Clique;
use crate::factor::{CliqueLayout, Potentials};
use crate::numeric::exp::maximum;
use crate::numeric::strided::Projection;

/// Larger cliques have too many subsets and are left unchanged. Our choice.
const LARGEST_CLIQUE: usize = 10;

/// A clique that contains a shared set of attributes.
struct Member {
    table: usize,
    /// From the clique's table onto the shared set.
    projection: Projection,
}

/// The sets of attributes that cliques of a layout share, largest first.
pub(super) struct MaxReparametrization {
    shared: Vec<Vec<Member>>,
    /// Scratch: the maxima of one member.
    own: Vec<f64>,
    /// Scratch: the mean of the members' maxima.
    mean: Vec<f64>,
}

impl MaxReparametrization {
    pub(super) fn new(layout: &CliqueLayout) -> Self {
        let cliques = layout.cliques();
        let tables = tables_by_subset(cliques);
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

    /// Replaces the potentials and [normalises](normalise_table) every table. The sum over the
    /// cliques changes by the same number for every record, up to rounding. Returns the decrease
    /// of ln Z.
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
                    // A cell that some table excludes entirely has no level to balance.
                    *own = if mean.is_finite() { mean - *own } else { 0.0 };
                }
                member.projection.broadcast(own, table, |cell, shift| *cell += shift);
            }
        }
        let tables = 0..potentials.layout().cliques().len();
        tables.map(|table| normalise_table(potentials.table_mut(table))).sum()
    }
}

/// For each nonempty subset of a clique, the cliques that contain it, ascending.
fn tables_by_subset(cliques: &[Clique]) -> BTreeMap<Clique, Vec<usize>> {
    let mut tables: BTreeMap<Clique, Vec<usize>> = BTreeMap::new();
    let small = cliques.iter().enumerate().filter(|(_, clique)| clique.len() <= LARGEST_CLIQUE);
    for (table, clique) in small {
        for bits in 1usize..1 << clique.len() {
            let has = |&(axis, _): &(usize, _)| bits >> axis & 1 == 1;
            let subset = clique.iter().enumerate().filter(has).map(|(_, id)| id);
            tables.entry(subset.collect()).or_default().push(table);
        }
    }
    tables
}

/// Subtracts the largest cell of a table from all cells, which changes ln Z and no probability.
/// Measurements that contradict the total push whole tables away from 0, and the absolute
/// precision of a potential falls with its magnitude. Returns the decrease of ln Z.
pub(super) fn normalise_table(table: &mut [f64]) -> f64 {
    let largest = maximum(table);
    if !largest.is_finite() {
        return 0.0;
    }
    table.iter_mut().for_each(|cell| *cell -= largest);
    largest
}
