use thiserror::Error;

use super::{FactorError, MAX_CELLS, QueryFactor};
use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;
use crate::numeric::strided::{for_each_offset, permute, row_major_strides};

/// Linear queries on the marginal of a clique: Q, with a row per query and a column per cell.
///
/// Q is the Kronecker product of its factors. There is one factor per axis of the marginal, or a
/// single one over all of its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryMatrix {
    factors: Vec<QueryFactor>,
    /// The columns of each factor.
    shape: Vec<usize>,
    rows: usize,
    cols: usize,
    steps: Vec<Step>,
}

/// The product with one factor that is not the identity, along its axis.
///
/// Factors that shrink the table come first and those that let it grow last, so that no table in
/// between is larger than both the marginal and the answers.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    factor: usize,
    /// The cells of one row along the axis, when its turn comes.
    inner: usize,
    input_len: usize,
    output_len: usize,
}

/// How the rows of a Kronecker product move when its factors are put in axis order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrder {
    /// The rows of each factor as listed.
    shape: Vec<usize>,
    /// For each axis, its place in the list.
    order: Vec<usize>,
}

/// Why something is not a query matrix over a marginal.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum QueryError {
    /// An attribute has two factors.
    #[error("expected every attribute once, found one listed twice")]
    RepeatedAttribute(AttributeId),
    /// A Kronecker product needs one factor per attribute.
    #[error("expected one factor per attribute, {expected} in all, found {found}")]
    FactorCount {
        /// The number of attributes.
        expected: usize,
        /// The number of factors.
        found: usize,
    },
    /// A factor does not fit.
    #[error("{reason}")]
    Factor {
        /// Its place in the list of factors; `None` for a matrix over the whole marginal.
        position: Option<usize>,
        /// What is wrong with it.
        reason: FactorError,
    },
    /// A table of this size is not held.
    #[error("expected a marginal of at most {MAX_CELLS} cells, found {cells:.4e}")]
    TooManyCells {
        /// The number of cells.
        cells: f64,
    },
    /// More answers than are held.
    #[error("expected at most {MAX_CELLS} queries, found {rows:.4e}")]
    TooManyRows {
        /// The number of rows.
        rows: f64,
    },
}

impl QueryMatrix {
    /// The Kronecker product of `factors`, one for each of the attributes `listed`, in whatever
    /// order these are; and the order of its rows, since row-major in `listed` is how the answers
    /// are given while this matrix and its marginal are in axis order.
    pub fn kronecker(
        domain: &Domain,
        listed: &[AttributeId],
        factors: Vec<QueryFactor>,
    ) -> Result<(Self, RowOrder), QueryError> {
        let clique = marginal(domain, listed)?;
        if factors.len() != listed.len() {
            return Err(QueryError::FactorCount { expected: listed.len(), found: factors.len() });
        }
        for (position, (factor, &id)) in factors.iter().zip(listed).enumerate() {
            factor
                .check(domain.size(id))
                .map_err(|reason| QueryError::Factor { position: Some(position), reason })?;
        }
        let rows = factors.iter().zip(listed).map(|(factor, &id)| factor.rows(domain.size(id)));
        let row_order = RowOrder { shape: rows.collect(), order: places(listed) };
        let in_axis_order = row_order.order.iter().map(|&place| factors[place].clone()).collect();
        Ok((Self::new(in_axis_order, domain.shape(&clique))?, row_order))
    }

    /// A matrix over all cells of the marginal on the attributes `listed`, its columns row-major in
    /// the order of the list. They are moved to axis order; the rows stay where they are.
    pub fn dense(
        domain: &Domain,
        listed: &[AttributeId],
        matrix: Matrix,
    ) -> Result<Self, QueryError> {
        let clique = marginal(domain, listed)?;
        check_columns(domain, &clique, matrix.cols())?;
        let moved = matrix.with_columns(&listed_cells(domain, &clique, listed));
        Self::whole(QueryFactor::Dense(moved), matrix.cols())
    }

    /// [`QueryMatrix::dense`] for a sparse matrix.
    pub fn sparse(
        domain: &Domain,
        listed: &[AttributeId],
        matrix: CsrMatrix,
    ) -> Result<Self, QueryError> {
        let clique = marginal(domain, listed)?;
        check_columns(domain, &clique, matrix.cols())?;
        let axis_strides = row_major_strides(&domain.shape(&clique));
        // Cell by cell, since there may be many more cells than entries.
        let mut axes: Vec<(usize, usize)> = vec![(0, 0); listed.len()];
        for (axis, place) in places(listed).into_iter().enumerate() {
            axes[place] = (domain.size(listed[place]), axis_strides[axis]);
        }
        let axis_cell = |listed_cell: usize| {
            let step = |(rest, cell), &(size, stride)| (rest / size, cell + rest % size * stride);
            axes.iter().rev().fold((listed_cell, 0), step).1
        };
        let cols = matrix.cols();
        Self::whole(QueryFactor::Sparse(matrix.map_columns(axis_cell)), cols)
    }

    /// Sums over ranges of neighbouring cells of the marginal on `clique` in axis order, each given by
    /// the first cell and the one after the last.
    pub fn intervals(
        domain: &Domain,
        clique: &Clique,
        intervals: Vec<(usize, usize)>,
    ) -> Result<Self, QueryError> {
        let clique = marginal(domain, clique.as_slice())?;
        let cells = domain.shape(&clique).iter().product();
        Self::whole(QueryFactor::Intervals(intervals), cells)
    }

    /// One factor over all cells.
    fn whole(factor: QueryFactor, cells: usize) -> Result<Self, QueryError> {
        factor.check(cells).map_err(|reason| QueryError::Factor { position: None, reason })?;
        Self::new(vec![factor], vec![cells])
    }

    /// Every cell of the marginal on `clique`.
    pub fn identity(domain: &Domain, clique: &Clique) -> Result<Self, QueryError> {
        let factors = vec![QueryFactor::Identity; clique.len()];
        Self::kronecker(domain, clique.as_slice(), factors).map(|(query, _)| query)
    }

    /// Other queries on the same marginal: a factor in place of each of this matrix's.
    pub fn with_factors(&self, factors: Vec<QueryFactor>) -> Result<Self, QueryError> {
        let (expected, found) = (self.factors.len(), factors.len());
        if found != expected {
            return Err(QueryError::FactorCount { expected, found });
        }
        for (position, (factor, &n)) in factors.iter().zip(&self.shape).enumerate() {
            factor
                .check(n)
                .map_err(|reason| QueryError::Factor { position: Some(position), reason })?;
        }
        Self::new(factors, self.shape.clone())
    }

    /// Expects that every factor fits, and at most [`MAX_CELLS`] columns.
    fn new(factors: Vec<QueryFactor>, shape: Vec<usize>) -> Result<Self, QueryError> {
        let row_shape: Vec<usize> =
            factors.iter().zip(&shape).map(|(factor, &n)| factor.rows(n)).collect();
        let rows = row_shape
            .iter()
            .try_fold(1usize, |rows, &more| rows.checked_mul(more))
            .filter(|&rows| rows <= MAX_CELLS)
            .ok_or_else(|| QueryError::TooManyRows {
                rows: row_shape.iter().map(|&rows| rows as f64).product(),
            })?;
        let growth = |axis: &usize| row_shape[*axis] as f64 / shape[*axis] as f64;
        let mut order: Vec<usize> =
            (0..factors.len()).filter(|&axis| factors[axis] != QueryFactor::Identity).collect();
        order.sort_by(|a, b| growth(a).total_cmp(&growth(b)));
        let mut sizes = shape.clone();
        let steps = order
            .into_iter()
            .map(|factor| {
                let input_len = sizes.iter().product();
                sizes[factor] = row_shape[factor];
                let inner = sizes[factor + 1..].iter().product();
                Step { factor, inner, input_len, output_len: sizes.iter().product() }
            })
            .collect();
        let cols = shape.iter().product();
        Ok(Self { factors, shape, rows, cols, steps })
    }

    /// The number of queries.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of cells of the marginal.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The factors: one per axis of the marginal, or a single one over all of its cells.
    pub fn factors(&self) -> &[QueryFactor] {
        &self.factors
    }

    /// The number of columns of each factor.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether Q mu = mu, so that neither product needs to be computed.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// The length of the scratch space that [`QueryMatrix::apply`] and its transpose need.
    pub fn scratch_len(&self) -> usize {
        self.between_len() * self.steps.len().saturating_sub(1).min(2)
    }

    /// The largest table between two steps.
    fn between_len(&self) -> usize {
        self.steps.iter().skip(1).map(|step| step.input_len).max().unwrap_or(0)
    }

    /// Writes Q mu: one pass over the table for each factor that is not the identity.
    pub fn apply(&self, marginal: &[f64], answers: &mut [f64], scratch: &mut [f64]) {
        let multiply = |step: &Step, input: &[f64], output: &mut [f64]| {
            let (factor, n) = (&self.factors[step.factor], self.shape[step.factor]);
            factor.apply(n, step.inner, &input[..step.input_len], &mut output[..step.output_len]);
        };
        run(self.steps.iter(), multiply, marginal, answers, scratch, self.between_len());
    }

    /// Writes Q^T y, the steps of [`QueryMatrix::apply`] in reverse.
    pub fn apply_transpose(&self, answers: &[f64], marginal: &mut [f64], scratch: &mut [f64]) {
        let multiply = |step: &Step, input: &[f64], output: &mut [f64]| {
            let (factor, n) = (&self.factors[step.factor], self.shape[step.factor]);
            let (input, output) = (&input[..step.output_len], &mut output[..step.input_len]);
            factor.apply_transpose(n, step.inner, input, output);
        };
        run(self.steps.iter().rev(), multiply, answers, marginal, scratch, self.between_len());
    }

    /// The matrix, written out.
    pub fn to_dense(&self) -> Matrix {
        let one = Matrix::new(1, 1, vec![1.0]);
        self.factors
            .iter()
            .zip(&self.shape)
            .fold(one, |left, (factor, &n)| left.kronecker(&factor.to_dense(n)))
    }

    /// The largest L1 norm of a column.
    pub fn max_column_l1(&self) -> f64 {
        self.product_of(QueryFactor::max_column_l1)
    }

    /// The largest squared L2 norm of a column.
    pub fn max_column_l2_squared(&self) -> f64 {
        self.product_of(QueryFactor::max_column_l2_squared)
    }

    /// The largest eigenvalue of Q^T Q (see [`QueryFactor::max_eigenvalue`]).
    pub fn max_eigenvalue(&self) -> f64 {
        self.product_of(QueryFactor::max_eigenvalue)
    }

    /// Norms of columns and eigenvalues of a Kronecker product are products of the factors'.
    fn product_of(&self, quantity: impl Fn(&QueryFactor, usize) -> f64) -> f64 {
        self.factors.iter().zip(&self.shape).map(|(factor, &n)| quantity(factor, n)).product()
    }
}

impl RowOrder {
    /// Answers that are row-major as listed, in axis order.
    pub fn to_axis_order(&self, listed: &[f64]) -> Vec<f64> {
        permute(listed, &self.shape, &self.order)
    }
}

/// The steps one after another, from the input over the two halves of the scratch space in turn
/// to the output.
fn run<'a>(
    steps: impl ExactSizeIterator<Item = &'a Step>,
    multiply: impl Fn(&Step, &[f64], &mut [f64]),
    input: &[f64],
    output: &mut [f64],
    scratch: &mut [f64],
    half: usize,
) {
    let count = steps.len();
    if count == 0 {
        output.copy_from_slice(input);
    }
    let (mut to, mut from) = scratch.split_at_mut(half);
    for (index, step) in steps.enumerate() {
        let source = if index == 0 { input } else { &*from };
        if index + 1 == count {
            multiply(step, source, output);
        } else {
            multiply(step, source, to);
            std::mem::swap(&mut from, &mut to);
        }
    }
}

/// The clique of the attributes `listed`, if there is one of a size that is held.
fn marginal(domain: &Domain, listed: &[AttributeId]) -> Result<Clique, QueryError> {
    let mut sorted = listed.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(QueryError::RepeatedAttribute(pair[0]));
    }
    let clique = Clique::new(sorted);
    match domain.cells(&clique) {
        Some(cells) if cells <= MAX_CELLS => Ok(clique),
        _ => Err(QueryError::TooManyCells { cells: domain.cells_f64(&clique) }),
    }
}

/// For each axis of a table over these attributes, its place in the list.
fn places(listed: &[AttributeId]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..listed.len()).collect();
    order.sort_by_key(|&place| listed[place]);
    order
}

fn check_columns(domain: &Domain, clique: &Clique, found: usize) -> Result<(), QueryError> {
    let expected = domain.shape(clique).iter().product();
    if found == expected {
        return Ok(());
    }
    let reason = FactorError::Columns { expected, found };
    Err(QueryError::Factor { position: None, reason })
}

/// For each cell in axis order, its index when the cells are row-major as listed.
fn listed_cells(domain: &Domain, clique: &Clique, listed: &[AttributeId]) -> Vec<usize> {
    let listed_shape: Vec<usize> = listed.iter().map(|&id| domain.size(id)).collect();
    let listed_strides = row_major_strides(&listed_shape);
    let strides: Vec<usize> =
        places(listed).into_iter().map(|place| listed_strides[place]).collect();
    let mut cells = vec![0; listed_shape.iter().product()];
    for_each_offset(&domain.shape(clique), &strides, |cell, listed_cell| cells[cell] = listed_cell);
    cells
}
