//! Contingency tables from noisy cells and public marginals (KDD 2015, Algorithm 2).

use thiserror::Error;

use super::admm::{self, Estimate, Residuals, Settings, SettingsError, StopReason, Term, solve};
use super::map::Map;
use super::proximal::{Exactly, NonNegative, Objective};
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::numeric::sparse::CsrMatrix;
use private_pgm::numeric::strided::Projection;

/// Public marginals of a table: A x = b.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicMarginals {
    /// A: for each cell of each marginal, the cells of the table that it sums.
    sums: CsrMatrix,
    /// b.
    counts: Vec<f64>,
}

/// Why marginals cannot be those of one table.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PublicError {
    #[error(
        "the public marginal on {attributes:?} has the count {count}; expected a whole number, \
         at least 0"
    )]
    Count { attributes: Vec<String>, count: f64 },
    #[error(
        "the public marginals on {first:?} and on {second:?} contradict each other: a count of \
         their common marginal is {found} by the first and {other} by the second"
    )]
    Contradiction {
        first: Vec<String>,
        second: Vec<String>,
        /// A count of the common marginal, by the first.
        found: f64,
        /// By the second.
        other: f64,
    },
}

impl PublicMarginals {
    /// Marginals of a table over `clique`, which contains their cliques. Refused unless they are
    /// counts and agree where they overlap.
    pub fn new(
        domain: &Domain,
        clique: &Clique,
        marginals: &[Factor],
    ) -> Result<Self, PublicError> {
        let names =
            |factor: &Factor| domain.names(factor.clique()).into_iter().map(String::from).collect();
        for (index, marginal) in marginals.iter().enumerate() {
            let is_count = |count: &&f64| **count >= 0.0 && count.fract() == 0.0;
            if let Some(&count) = marginal.values().iter().find(|count| !is_count(count)) {
                return Err(PublicError::Count { attributes: names(marginal), count });
            }
            for earlier in &marginals[..index] {
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

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// Why noisy cells cannot be post-processed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ContingencyError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the public marginals are those of {expected} cells, found {found} noisy cells")]
    Cells { expected: usize, found: usize },
    #[error("noisy cell {cell} is {value}; expected a finite number")]
    Cell { cell: usize, value: f64 },
}

/// The table nearest to the noisy cells by the objective, among nonnegative tables with the public
/// marginals. Cells are in axis order.
///
/// The copies of x are near the noisy cells, nonnegative, and exact on the marginals. x solves (A^T
/// A + 2 I) x = q by a factor that is computed once, (24). Costs cells^3 / 6 for the factor and
/// about cells^2 per iteration. Without public marginals the nearest table has 0 in place of
/// negative cells, for any objective.
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
        let residuals =
            Residuals { primal: Vec::new(), dual: 0.0, stop_reason: StopReason::Converged };
        let counts = noisy.iter().map(|cell| cell.max(0.0)).collect();
        return Ok(Estimate { counts, iterations: 0, residuals });
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
    Ok(objective.estimate(solution))
}
