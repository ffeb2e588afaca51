//! The tables t_C of the cliques, as logarithms, which never underflow, and as exponentials, which
//! are summed and scaled without an exp per cell.

use std::sync::Arc;

use crate::factor::{CliqueLayout, Marginals, Potentials};
use crate::numeric::memory;
use crate::numeric::strided::Projection;

/// The operations that reduce a table to fewer attributes, in log space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Semiring {
    /// ln of the sum of exponentials: marginals.
    SumProduct,
    /// The largest cell: max-marginals.
    MaxSum,
}

/// One table per clique.
///
/// A mass that underflows, below 1e-308, is lost until its table is exponentiated again. That
/// happens before scaling can raise the lost mass above 1e-208 ([`MAX_LIFT`]), and sums below
/// 1e-100 are not trusted ([`TRUSTED`]): a lost mass never changes a result.
#[derive(Debug)]
pub(super) struct CliqueTables {
    layout: Arc<CliqueLayout>,
    /// t_C.
    logs: Vec<f64>,
    /// exp(t_C), up to underflow.
    masses: Vec<f64>,
    /// For each clique, the logarithm of a bound on the growth of any mass since its table was last
    /// exponentiated.
    lifts: Vec<f64>,
    /// Scratch of the size of the largest clique.
    terms: Vec<f64>,
    sums: Vec<f64>,
}

/// A sum of masses below this is computed again from logarithms.
const TRUSTED: f64 = 1e-100;
/// ln(1e100).
const MAX_LIFT: f64 = 230.0;

impl Semiring {
    /// The table reduced to a single number.
    pub(super) fn total(self, table: &[f64]) -> f64 {
        let top = largest(table);
        match self {
            Semiring::MaxSum => top,
            Semiring::SumProduct => {
                let above = finite_or_zero(top);
                top + table.iter().map(|x| (x - above).exp()).sum::<f64>().ln()
            }
        }
    }
}

impl CliqueTables {
    pub(super) fn new(layout: &Arc<CliqueLayout>) -> Self {
        let cliques = layout.cliques().len();
        let widest = (0..cliques).map(|clique| layout.range(clique).len()).max().unwrap_or(0);
        Self {
            layout: Arc::clone(layout),
            logs: memory::zeros(layout.len()),
            masses: memory::zeros(layout.len()),
            lifts: vec![0.0; cliques],
            terms: vec![0.0; widest],
            sums: vec![0.0; widest],
        }
    }

    /// t = theta.
    pub(super) fn load(&mut self, potentials: &Potentials) {
        self.logs.copy_from_slice(potentials.values());
    }

    /// Shifts every table to have its largest cell at 0, as sum-product needs before anything else.
    /// Returns the sum of the shifts.
    pub(super) fn normalise(&mut self) -> f64 {
        let mut shifts = 0.0;
        for clique in 0..self.lifts.len() {
            let logs = &mut self.logs[self.layout.range(clique)];
            let top = finite_or_zero(largest(logs));
            logs.iter_mut().for_each(|t| *t -= top);
            shifts += top;
            self.exponentiate(clique);
        }
        shifts
    }

    /// Reduces a clique's table. `known` is minus infinity in cells that are known to be excluded.
    pub(super) fn project(
        &mut self,
        semiring: Semiring,
        clique: usize,
        onto: &Projection,
        known: &[f64],
        small: &mut [f64],
    ) {
        let logs = &self.logs[self.layout.range(clique)];
        if semiring == Semiring::MaxSum {
            onto.max(logs, small);
            return;
        }
        onto.sum(&self.masses[self.layout.range(clique)], small);
        let trusted = |(&sum, &known): (&f64, &f64)| sum >= TRUSTED || known == f64::NEG_INFINITY;
        if small.iter().zip(known).all(trusted) {
            small.iter_mut().for_each(|sum| *sum = sum.ln());
            return;
        }
        onto.max(logs, small);
        let (terms, sums) = (&mut self.terms[..logs.len()], &mut self.sums[..small.len()]);
        terms.copy_from_slice(logs);
        onto.broadcast(small, terms, |t, top| *t = (*t - finite_or_zero(top)).exp());
        onto.sum(terms, sums);
        small.iter_mut().zip(&*sums).for_each(|(top, sum)| *top += sum.ln());
    }

    /// Adds a small table to a clique's logarithms only: before [`Self::normalise`], or for
    /// max-sum, which does not use masses.
    pub(super) fn add_log(&mut self, clique: usize, onto: &Projection, small: &[f64]) {
        onto.broadcast(small, &mut self.logs[self.layout.range(clique)], |t, gain| *t += gain);
    }

    /// Adds a small table to a clique's, and multiplies the masses with its exponential.
    pub(super) fn add(&mut self, clique: usize, onto: &Projection, small: &[f64]) {
        self.add_log(clique, onto, small);
        self.lifts[clique] += largest(small).max(0.0);
        if self.lifts[clique] > MAX_LIFT {
            self.exponentiate(clique);
            return;
        }
        let factors = &mut self.sums[..small.len()];
        factors.iter_mut().zip(small).for_each(|(factor, gain)| *factor = gain.exp());
        let masses = &mut self.masses[self.layout.range(clique)];
        onto.broadcast(factors, masses, |mass, factor| *mass *= factor);
    }

    /// The sum over the cliques of [`Semiring::total`] of their tables.
    pub(super) fn total(&self, semiring: Semiring) -> f64 {
        (0..self.lifts.len())
            .map(|clique| self.layout.range(clique))
            .map(|range| match semiring {
                Semiring::MaxSum => semiring.total(&self.logs[range]),
                Semiring::SumProduct => self.masses[range].iter().sum::<f64>().ln(),
            })
            .sum()
    }

    /// Writes the masses, those of each clique scaled to sum to `total`.
    pub(super) fn write_marginals(&self, total: f64, marginals: &mut Marginals) {
        for clique in 0..self.lifts.len() {
            let masses = &self.masses[self.layout.range(clique)];
            let scale = total / masses.iter().sum::<f64>();
            let written = marginals.table_mut(clique).iter_mut();
            written.zip(masses).for_each(|(mu, mass)| *mu = mass * scale);
        }
    }

    fn exponentiate(&mut self, clique: usize) {
        let range = self.layout.range(clique);
        let masses = self.masses[range.clone()].iter_mut();
        masses.zip(&self.logs[range]).for_each(|(mass, t)| *mass = t.exp());
        self.lifts[clique] = 0.0;
    }
}

fn largest(table: &[f64]) -> f64 {
    table.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// A shift that can be subtracted from terms with this maximum: terms of an excluded group stay
/// minus infinity.
pub(super) fn finite_or_zero(top: f64) -> f64 {
    if top == f64::NEG_INFINITY { 0.0 } else { top }
}
