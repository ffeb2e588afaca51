//! The result of `pgmbench estimate` for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use private_pgm::fit::Estimate;
use private_pgm::problem::Problem;
use serde::Serialize;
use serde_json::Value;

use super::count::Count;
use super::peak_memory::peak_bytes;

/// Serialised, it is the output of `--json`.
#[derive(Serialize)]
pub(crate) struct EstimateReport {
    loss: f64,
    gap: Option<f64>,
    iterations: usize,
    reason: &'static str,
    seconds: f64,
    seconds_per_iteration: f64,
    junction_tree: TreeReport,
    peak_bytes: Option<u64>,
    algorithm: String,
    oracle: String,
    oracle_is_exact: bool,
    norm: String,
    l1_loss: Option<f64>,
    l2_loss: Option<f64>,
    total: f64,
    total_is_estimated: bool,
    attributes: usize,
    cliques: usize,
}

#[derive(Serialize)]
struct TreeReport {
    cliques: usize,
    cells: Value,
    largest: Value,
}

/// An integer as long as a float holds it exactly.
fn integer(cells: f64) -> Value {
    if cells < 9e15 { Value::from(cells as u64) } else { Value::from(cells) }
}

impl EstimateReport {
    pub(crate) fn new(problem: &Problem, estimate: &Estimate) -> Self {
        let origin = estimate.model.origin().cloned().unwrap_or_default();
        let tree = estimate.tree;
        Self {
            loss: estimate.loss,
            gap: estimate.gap,
            iterations: estimate.iterations,
            reason: estimate.reason.name(),
            seconds: estimate.seconds,
            seconds_per_iteration: estimate.seconds_per_iteration,
            junction_tree: TreeReport {
                cliques: tree.cliques,
                cells: integer(tree.cells),
                largest: integer(tree.largest),
            },
            peak_bytes: peak_bytes(),
            algorithm: origin.algorithm,
            oracle: origin.oracle,
            oracle_is_exact: origin.oracle_is_exact,
            norm: origin.norm,
            l1_loss: estimate.l1_l2.map(|both| both.0),
            l2_loss: estimate.l1_l2.map(|both| both.1),
            total: problem.total,
            total_is_estimated: problem.total_is_estimated,
            attributes: problem.domain.len(),
            cliques: estimate.model.layout().cliques().len(),
        }
    }

    pub(crate) fn summarise(&self, out: &Path, output: &mut dyn Write) -> io::Result<()> {
        let gap = match self.gap {
            Some(gap) => format!("at most {gap:.3e} above the smallest possible one"),
            None => "with an unknown distance to the smallest possible one".into(),
        };
        let total = if self.total_is_estimated { "estimated" } else { "given" };
        let approximate = if self.oracle_is_exact { "" } else { ", approximate" };
        let of_what = if self.oracle_is_exact { "" } else { " of approximate marginals" };
        writeln!(output, "loss     {} ({}){of_what}, {gap}", self.loss, self.norm)?;
        writeln!(
            output,
            "stopped  after {} of {} in {:.3} s: {}",
            Count(self.iterations, "iteration"),
            self.algorithm,
            self.seconds,
            self.reason
        )?;
        writeln!(
            output,
            "model    {}, {}, total {} ({total})",
            Count(self.attributes, "attribute"),
            Count(self.cliques, "clique"),
            self.total
        )?;
        writeln!(
            output,
            "tree     {}, {} cells, {} in the largest ({} oracle{approximate})",
            Count(self.junction_tree.cliques, "clique"),
            self.junction_tree.cells,
            self.junction_tree.largest,
            self.oracle
        )?;
        if let Some(bytes) = self.peak_bytes {
            writeln!(output, "memory   {:.1} MB at the peak", bytes as f64 / 1e6)?;
        }
        writeln!(output, "written  {}", out.display())
    }
}
