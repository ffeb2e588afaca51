//! Contingency tables from noisy cells and public marginals (KDD 2015, Algorithm 2).

use thiserror::Error;

use super::admm::{self, Ended, Residuals, Settings, SettingsError, Term, solve};
use super::map::Map;
use super::proximal::{Exactly, NonNegative, Objective};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::numeric::strided::Projection;

/// Marginals of a table that are known exactly: A x = b.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicMarginals {
    /// A: for each cell of each marginal, the cells of the table that it sums.
    sums: CsrMatrix,
    /// b.
    counts: Vec<f64>,
}

/// Why marginals cannot be public facts about one table.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PublicError {
    /// Not a number of records.
    #[error(
        "the public marginal on {attributes:?} has the count {count}, which is no whole number of records"
    )]
    Count {
        /// Its attributes.
        attributes: Vec<String>,
        /// The number.
        count: f64,
    },
    /// Two of them do not agree.
    #[error(
        "the public marginals on {first:?} and on {second:?} contradict each other: what they have in common is {found} in one and {other} in the other"
    )]
    Contradiction {
        /// The attributes of one.
        first: Vec<String>,
        /// The attributes of the other.
        second: Vec<String>,
        /// A count that both imply, by the first.
        found: f64,
        /// The same by the second.
        other: f64,
    },
}

impl PublicMarginals {
    /// These marginals of a table over `clique`, which contains theirs, if they are counts and agree
    /// with each other wherever they overlap.
    pub fn new(
        domain: &Domain,
        clique: &Clique,
        marginals: &[Factor],
    ) -> Result<Self, PublicError> {
        let names =
            |factor: &Factor| domain.names(factor.clique()).into_iter().map(String::from).collect();
        for (place, marginal) in marginals.iter().enumerate() {
            let is_count = |count: &&f64| **count >= 0.0 && count.fract() == 0.0;
            if let Some(&count) = marginal.values().iter().find(|count| !is_count(count)) {
                return Err(PublicError::Count { attributes: names(marginal), count });
            }
            for earlier in &marginals[..place] {
                let common = earlier.clique().intersection(marginal.clique());
                let (one, other) = (earlier.sum_onto(&common), marginal.sum_onto(&common));
                let mut pairs = one.values().iter().zip(other.values());
                if let Some((&found, &other)) = pairs.find(|(one, other)| one != other) {
                    let (first, second) = (names(earlier), names(marginal));
                    return Err(PublicError::Contradiction { first, second, found, other });
                }
            }
        }
        let shape = domain.shape(clique);
        let cells = shape.iter().product();
        let (mut sums, mut counts) = (CsrMatrix::new(cells), Vec::new());
        for marginal in marginals {
            let kept: Vec<bool> = clique.iter().map(|id| marginal.clique().contains(id)).collect();
            let projection = Projection::new(&shape, &kept);
            let numbers: Vec<f64> = (0..marginal.values().len()).map(|cell| cell as f64).collect();
            let mut summed_into = vec![0.0; cells];
            projection.broadcast(&numbers, &mut summed_into, |cell, number| *cell = number);
            let mut members = vec![Vec::new(); numbers.len()];
            summed_into
                .iter()
                .enumerate()
                .for_each(|(cell, &into)| members[into as usize].push(cell));
            members.iter().for_each(|cells| sums.push_row(cells.iter().map(|&cell| (cell, 1.0))));
            counts.extend_from_slice(marginal.values());
        }
        Ok(Self { sums, counts })
    }

    /// Whether nothing is public.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// A table, and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The cells in axis order, none of them negative.
    pub cells: Vec<f64>,
    /// How many iterations it took.
    pub iterations: usize,
    /// What was left, in units of the objective.
    pub residuals: Residuals,
}

/// Why noisy cells cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ContingencyError {
    /// alpha or rho.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Another number of cells than the table has.
    #[error("the public marginals are about {expected} cells, and {found} noisy ones were given")]
    Cells {
        /// The cells of the table.
        expected: usize,
        /// The noisy ones.
        found: usize,
    },
    /// A noisy cell is infinite or not a number.
    #[error("noisy cell {cell} is {value}, which is no finite number")]
    Cell {
        /// Its place.
        cell: usize,
        /// What it is.
        value: f64,
    },
}

/// The table that is nearest to the noisy cells by the objective, among tables that have the public
/// marginals and no negative cells.
///
/// The copies of x are near the noisy cells, not negative, and right on the marginals; x solves
/// (A^T A + 2 I) x = q by a factor that is computed once, (24). Costs cells^3 / 6 for it and about
/// cells^2 for each iteration. When nothing is public, the nearest table has 0 in place of negative
/// cells, whatever the objective.
pub fn estimate(
    public: &PublicMarginals,
    noisy: &[f64],
    objective: Objective,
    settings: &Settings,
) -> Result<Estimate, ContingencyError> {
    settings.check()?;
    let (expected, found) = (public.sums.cols(), noisy.len());
    if expected != found {
        return Err(ContingencyError::Cells { expected, found });
    }
    if let Some(cell) = noisy.iter().position(|value| !value.is_finite()) {
        return Err(ContingencyError::Cell { cell, value: noisy[cell] });
    }
    if public.is_empty() {
        let residuals = Residuals { primal: Vec::new(), dual: 0.0, ended: Ended::Converged };
        let cells = noisy.iter().map(|cell| cell.max(0.0)).collect();
        return Ok(Estimate { cells, iterations: 0, residuals });
    }
    let (noisy, counts) = (objective.scaled(noisy), objective.scaled(&public.counts));
    let (near, known) = (objective.near(&noisy), Exactly(&counts));
    let marginals = Map::Sparse(&public.sums);
    let maps = [Map::Identity, Map::Identity, marginals];
    let factor = admm::Factor::new(&maps, noisy.len()).expect("A^T A + 2 I is positive definite");
    let terms = [
        Term { map: Map::Identity, function: &near },
        Term { map: Map::Identity, function: &NonNegative },
        Term { map: marginals, function: &known },
    ];
    let solution = solve(&terms, &factor, noisy.clone(), settings);
    Ok(Estimate {
        cells: objective.counts(&solution.x),
        iterations: solution.iterations,
        residuals: solution.residuals,
    })
}
