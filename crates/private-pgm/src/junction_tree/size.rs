use std::fmt;

use thiserror::Error;

use super::JunctionTree;
use crate::domain::Clique;
use crate::numeric::bytes::Bytes;

/// The number of cliques that an error names.
const MAX_NAMED: usize = 3;

/// The size of the tables of a junction tree, computed from its structure.
///
/// Cells are counted in `f64`: exact up to 2^53, infinite beyond 1e308.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSize {
    /// The number of maximal cliques.
    pub cliques: usize,
    /// The cells of all cliques, summed.
    pub cells: f64,
    /// The cells of the largest clique.
    pub largest: f64,
}

impl TreeSize {
    /// The bytes of one table of `f64` per clique.
    pub fn bytes(&self) -> f64 {
        self.cells * size_of::<f64>() as f64
    }
}

/// The tables of a junction tree exceed the memory limit.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "the model needs {} for a junction tree of {}, more than the limit of {}; {}",
    Bytes(*needed_bytes), Cliques(size.cliques, ""), Bytes(*limit_bytes as f64),
    LargestCliques(worst)
)]
pub struct TooLarge {
    /// The bytes that all tables need.
    pub needed_bytes: f64,
    /// The memory limit in bytes.
    pub limit_bytes: u64,
    /// The number of cliques and their cells.
    pub size: TreeSize,
    /// At most three of the largest cliques, largest first.
    pub worst: Vec<LargeClique>,
}

/// A large clique of the junction tree, and the measured cliques that cause it.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeClique {
    /// The attributes of the clique.
    pub clique: Clique,
    /// The names of the attributes, in axis order.
    pub names: Vec<String>,
    /// The cells of its table.
    pub cells: f64,
    /// The distinct measured cliques that share two or more attributes with it. They are why its
    /// attributes are connected; measuring fewer of them makes it smaller.
    pub merged: Vec<Clique>,
}

impl JunctionTree {
    /// The size of one table per clique.
    pub fn size(&self) -> TreeSize {
        TreeSize {
            cliques: self.cells.len(),
            cells: self.cells.iter().sum(),
            largest: self.cells.iter().copied().fold(0.0, f64::max),
        }
    }

    /// An error if one table of `f64` per clique exceeds `limit_bytes`; it names the largest
    /// cliques.
    pub fn check_limit(&self, limit_bytes: u64) -> Result<(), TooLarge> {
        self.check_bytes(self.size().bytes(), limit_bytes)
    }

    /// An error if `needed_bytes`, the requirement of an algorithm on this tree, exceeds
    /// `limit_bytes`; it names the largest cliques.
    pub fn check_bytes(&self, needed_bytes: f64, limit_bytes: u64) -> Result<(), TooLarge> {
        if needed_bytes <= limit_bytes as f64 {
            return Ok(());
        }
        let mut by_cells: Vec<usize> = (0..self.cliques.len()).collect();
        by_cells.sort_by(|&a, &b| self.cells[b].total_cmp(&self.cells[a]));
        let worst = by_cells.into_iter().take(MAX_NAMED).map(|index| self.large_clique(index));
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

struct LargestCliques<'a>(&'a [LargeClique]);

impl fmt::Display for LargestCliques<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("largest:")?;
        for (index, LargeClique { names, cells, merged, .. }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let (names, sources) = (names.join(" x "), Cliques(merged.len(), "measured "));
            match *cells < LONGEST {
                true => write!(f, "{comma} {names} ({cells} cells, from {sources})")?,
                false => write!(f, "{comma} {names} ({cells:.3e} cells, from {sources})")?,
            }
        }
        Ok(())
    }
}

/// Numbers of cells from here on are written with an exponent.
const LONGEST: f64 = 1e7;

/// A number of cliques, with an adjective.
struct Cliques(usize, &'static str);

impl fmt::Display for Cliques {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, adjective) = self;
        write!(f, "{count} {adjective}clique{}", if *count == 1 { "" } else { "s" })
    }
}
