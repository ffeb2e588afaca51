use std::fmt;

use thiserror::Error;

use super::JunctionTree;
use crate::domain::Clique;
use crate::numeric::bytes::Bytes;

/// How many oversized cliques an error names.
const NAMED: usize = 3;

/// What the tables of a junction tree would take, known before any is built.
///
/// Numbers of cells are floats: exact up to 2^53, and infinite rather than wrong beyond 1e308.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSize {
    /// The number of cliques.
    pub cliques: usize,
    /// The cells of all cliques together.
    pub cells: f64,
    /// The cells of the largest clique.
    pub largest: f64,
}

impl TreeSize {
    /// One `f64` for every cell.
    pub fn bytes(&self) -> f64 {
        self.cells * size_of::<f64>() as f64
    }
}

/// The tables of a junction tree would not fit into the memory that they may take.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "the model needs {} for a junction tree of {} cliques, more than the limit of {}; {}",
    Bytes(*needed_bytes), size.cliques, Bytes(*limit_bytes as f64), Worst(worst)
)]
pub struct TooLarge {
    /// What the tables of all cliques together need.
    pub needed_bytes: f64,
    /// What they may take.
    pub limit_bytes: u64,
    /// Number and sizes of the cliques.
    pub size: TreeSize,
    /// The largest cliques, largest first.
    pub worst: Vec<LargeClique>,
}

/// A clique of the junction tree that needs much memory, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeClique {
    /// Its attributes.
    pub clique: Clique,
    /// Their names, in axis order.
    pub names: Vec<String>,
    /// The cells of its table.
    pub cells: f64,
    /// The measured cliques that share two or more attributes with it, without repetition: what
    /// ties its attributes together. Measuring fewer of them makes it smaller.
    pub merged: Vec<Clique>,
}

impl JunctionTree {
    /// What the tables of all cliques would take.
    pub fn size(&self) -> TreeSize {
        TreeSize {
            cliques: self.cells.len(),
            cells: self.cells.iter().sum(),
            largest: self.cells.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Whether one table of `f64` for every clique fits into `limit_bytes`; the error names the
    /// cliques that take most.
    pub fn check_limit(&self, limit_bytes: u64) -> Result<(), TooLarge> {
        self.check_bytes(self.size().bytes(), limit_bytes)
    }

    /// Whether what somebody needs to work on this tree fits into `limit_bytes`; the error names
    /// the cliques that take most.
    pub fn check_bytes(&self, needed_bytes: f64, limit_bytes: u64) -> Result<(), TooLarge> {
        if needed_bytes <= limit_bytes as f64 {
            return Ok(());
        }
        let mut by_cells: Vec<usize> = (0..self.cliques.len()).collect();
        by_cells.sort_by(|&a, &b| self.cells[b].total_cmp(&self.cells[a]));
        let worst = by_cells.into_iter().take(NAMED).map(|index| self.large_clique(index));
        Err(TooLarge { needed_bytes, limit_bytes, size: self.size(), worst: worst.collect() })
    }

    fn large_clique(&self, index: usize) -> LargeClique {
        let clique = self.cliques[index].clone();
        let shared = clique.len().min(2);
        let mut merged: Vec<Clique> = self
            .measured
            .iter()
            .filter(|measured| measured.intersection(&clique).len() >= shared)
            .cloned()
            .collect();
        merged.sort_unstable();
        merged.dedup();
        let names = self.domain.names(&clique).into_iter().map(String::from).collect();
        LargeClique { clique, names, cells: self.cells[index], merged }
    }
}

struct Worst<'a>(&'a [LargeClique]);

impl fmt::Display for Worst<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("largest:")?;
        for (index, LargeClique { names, cells, merged, .. }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let (names, count) = (names.join(" x "), merged.len());
            write!(f, "{comma} {names} ({cells:.3e} cells, from {count} measured cliques)")?;
        }
        Ok(())
    }
}
