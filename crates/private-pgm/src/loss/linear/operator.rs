//! The linear map from marginals to answers in standard deviations, and its transpose.

use super::{LinearLoss, Scratch};
use crate::factor::CliqueVector;

impl LinearLoss {
    /// The measured answers in standard deviations, one measurement after another.
    pub(crate) fn targets(&self) -> Vec<f64> {
        let of = |term: &super::Term| {
            let weight = term.weight();
            term.measurement.y.iter().map(move |y| y * weight).collect::<Vec<f64>>()
        };
        self.terms.iter().flat_map(of).collect()
    }

    /// Writes Q v / stddev of these tables v, in the order of [`targets`](Self::targets).
    pub(crate) fn apply(&mut self, tables: &CliqueVector, out: &mut [f64]) {
        self.check_layout(tables);
        let Scratch { marginal, answers, between, .. } = &mut self.scratch;
        let mut rest = out;
        for term in &self.terms {
            let answers = term.answers(tables, marginal, answers, between);
            let (here, after) = rest.split_at_mut(answers.len());
            here.iter_mut().zip(answers).for_each(|(out, answer)| *out = answer * term.weight());
            rest = after;
        }
    }

    /// Writes the transpose of [`apply`](Self::apply) at `slopes`.
    pub(crate) fn apply_transpose(&mut self, slopes: &[f64], out: &mut CliqueVector) {
        self.check_layout(out);
        out.values_mut().fill(0.0);
        let Scratch { marginal, slopes: scaled, between, .. } = &mut self.scratch;
        let mut rest = slopes;
        for term in &self.terms {
            let weight = term.weight();
            let (here, after) = rest.split_at(term.measurement.y.len());
            rest = after;
            let table = out.table_mut(term.table);
            if term.measurement.query.is_identity() && term.projection.is_none() {
                let cells = table.iter_mut().zip(here);
                cells.for_each(|(cell, slope)| *cell += slope * weight);
                continue;
            }
            let scaled = &mut scaled[..here.len()];
            scaled.iter_mut().zip(here).for_each(|(scaled, slope)| *scaled = slope * weight);
            term.add_transpose(scaled, marginal, between, table);
        }
    }
}
