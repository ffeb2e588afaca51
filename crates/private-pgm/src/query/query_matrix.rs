use thiserror::Error;

use super::{FactorError, MAX_CELLS, QueryFactor};
use crate::domain::{AttributeId, Clique, Domain};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;
use crate::numeric::strided::{for_each_offset, permute, row_major_strides};

/// Linear queries on the marginal of a clique: a matrix Q with one row per query and one column per
/// cell.
///
/// Q is the Kronecker product of its factors: one factor per axis of the marginal, or a single
/// factor over all of its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryMatrix {
    factors: Vec<QueryFactor>,
    /// The columns of each factor.
    shape: Vec<usize>,
    rows: usize,
    cols: usize,
    products: Vec<AxisProduct>,
}

/// The product with one factor along its axis; identity factors need none.
///
/// Factors are applied by ascending ratio of rows to columns. No intermediate table is then larger
/// than both the marginal and the answers.
#[derive(Clone, Debug, PartialEq)]
struct AxisProduct {
    factor: usize,
    /// The product of the sizes of all later axes when this factor is applied.
    inner: usize,
    input_len: usize,
    output_len: usize,
}

/// The permutation of the rows of a Kronecker product from listed order to axis order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrder {
    /// The number of rows of each factor, in listed order.
    shape: Vec<usize>,
    /// For each axis, its position in the list.
    order: Vec<usize>,
}

/// Why a query matrix does not fit a marginal.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum QueryError {
    /// An attribute has two factors.
    #[error("expected every attribute once, found one listed twice")]
    RepeatedAttribute(AttributeId),
    /// The number of factors is not the number of attributes.
    #[error("expected one factor per attribute, {expected} in all, found {found}")]
    FactorCount {
        /// The number of attributes.
        expected: usize,
        /// The number of factors.
        found: usize,
    },
    /// A factor does not fit its attribute.
    #[error("{reason}")]
    Factor {
        /// Its position in the list of factors; `None` for a matrix over the whole marginal.
        position: Option<usize>,
        /// How the factor fails to fit.
        reason: FactorError,
    },
    /// The marginal has more than [`MAX_CELLS`] cells.
    #[error("expected a marginal of at most {MAX_CELLS} cells, found {cells:.4e}")]
    TooManyCells {
        /// The number of cells of the marginal.
        cells: f64,
    },
    /// The matrix has more than [`MAX_CELLS`] rows.
    #[error("expected at most {MAX_CELLS} queries, found {rows:.4e}")]
    TooManyRows {
        /// The number of rows of the matrix.
        rows: f64,
    },
}

impl QueryMatrix {
    /// The Kronecker product of `factors`, one per attribute of `listed`, in any order of the
    /// attributes. The matrix and its marginal are in axis order; the returned [`RowOrder`]
    /// permutes answers that are row-major in `listed` to that order.
    pub fn kronecker(
        domain: &Domain,
        listed: &[AttributeId],
        factors: Vec<QueryFactor>,
    ) -> Result<(Self, RowOrder), QueryError> {
        let clique = marginal_clique(domain, listed)?;
        if factors.len() != listed.len() {
            return Err(QueryError::FactorCount { expected: listed.len(), found: factors.len() });
        }
        for (position, (factor, &id)) in factors.iter().zip(listed).enumerate() {
            factor
                .check(domain.size(id))
                .map_err(|reason| QueryError::Factor { position: Some(position), reason })?;
        }
        let rows = factors.iter().zip(listed).map(|(factor, &id)| factor.rows(domain.size(id)));
        let row_order = RowOrder { shape: rows.collect(), order: axis_order(listed) };
        let in_axis_order =
            row_order.order.iter().map(|&position| factors[position].clone()).collect();
        Ok((Self::new(in_axis_order, domain.shape(&clique))?, row_order))
    }

    /// A matrix over all cells of the marginal on the attributes `listed`. Its columns are
    /// row-major in the order of `listed` and are permuted to axis order; the rows keep their
    /// order.
    pub fn dense(
        domain: &Domain,
        listed: &[AttributeId],
        matrix: Matrix,
    ) -> Result<Self, QueryError> {
        let clique = marginal_clique(domain, listed)?;
        check_columns(domain, &clique, matrix.cols())?;
        let moved = matrix.with_columns(&listed_cells(domain, &clique, listed));
        Self::single_factor(QueryFactor::Dense(moved), matrix.cols())
    }

    /// [`QueryMatrix::dense`] for a sparse matrix.
    pub fn sparse(
        domain: &Domain,
        listed: &[AttributeId],
        matrix: CsrMatrix,
    ) -> Result<Self, QueryError> {
        let clique = marginal_clique(domain, listed)?;
        check_columns(domain, &clique, matrix.cols())?;
        let axis_strides = row_major_strides(&domain.shape(&clique));
        // Entry by entry: there can be many more cells than entries.
        let mut axes: Vec<(usize, usize)> = vec![(0, 0); listed.len()];
        for (axis, position) in axis_order(listed).into_iter().enumerate() {
            axes[position] = (domain.size(listed[position]), axis_strides[axis]);
        }
        let axis_cell = |listed_cell: usize| {
            let step = |(rest, cell), &(size, stride)| (rest / size, cell + rest % size * stride);
            axes.iter().rev().fold((listed_cell, 0), step).1
        };
        let cols = matrix.cols();
        Self::single_factor(QueryFactor::Sparse(matrix.map_columns(axis_cell)), cols)
    }

    /// Sums over ranges `start..end` of cells of the marginal on `clique`, in axis order.
    pub fn intervals(
        domain: &Domain,
        clique: &Clique,
        intervals: Vec<(usize, usize)>,
    ) -> Result<Self, QueryError> {
        let clique = marginal_clique(domain, clique.as_slice())?;
        let cells = domain.shape(&clique).iter().product();
        Self::single_factor(QueryFactor::Intervals(intervals), cells)
    }

    /// One factor over all `cells` of a marginal.
    fn single_factor(factor: QueryFactor, cells: usize) -> Result<Self, QueryError> {
        factor.check(cells).map_err(|reason| QueryError::Factor { position: None, reason })?;
        Self::new(vec![factor], vec![cells])
    }

    /// The identity: one query per cell of the marginal on `clique`.
    pub fn identity(domain: &Domain, clique: &Clique) -> Result<Self, QueryError> {
        let factors = vec![QueryFactor::Identity; clique.len()];
        Self::kronecker(domain, clique.as_slice(), factors).map(|(query, _)| query)
    }

    /// Other queries on the same marginal: each factor of this matrix replaced by another.
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

    /// Requires that every factor was checked, and at most [`MAX_CELLS`] columns.
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
        let products = order
            .into_iter()
            .map(|factor| {
                let input_len = sizes.iter().product();
                sizes[factor] = row_shape[factor];
                let inner = sizes[factor + 1..].iter().product();
                AxisProduct { factor, inner, input_len, output_len: sizes.iter().product() }
            })
            .collect();
        let cols = shape.iter().product();
        Ok(Self { factors, shape, rows, cols, products })
    }

    /// The number of rows (queries).
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns (cells of the marginal).
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One factor per axis of the marginal, or a single factor over all of its cells.
    pub fn factors(&self) -> &[QueryFactor] {
        &self.factors
    }

    /// The number of columns of each factor.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether all factors are identities, so that Q mu = mu.
    pub fn is_identity(&self) -> bool {
        self.products.is_empty()
    }

    /// The length of the scratch buffer of [`QueryMatrix::apply`] and
    /// [`QueryMatrix::apply_transpose`].
    pub fn scratch_len(&self) -> usize {
        self.intermediate_len() * self.products.len().saturating_sub(1).min(2)
    }

    /// The length of the largest table between two products.
    fn intermediate_len(&self) -> usize {
        self.products.iter().skip(1).map(|product| product.input_len).max().unwrap_or(0)
    }

    /// Writes Q mu. Cost: one product along an axis per factor that is not the identity. `scratch`
    /// has at least [`QueryMatrix::scratch_len`] elements.
    pub fn apply(&self, marginal: &[f64], answers: &mut [f64], scratch: &mut [f64]) {
        let multiply = |product: &AxisProduct, input: &[f64], output: &mut [f64]| {
            let (factor, n) = (&self.factors[product.factor], self.shape[product.factor]);
            factor.apply(
                n,
                product.inner,
                &input[..product.input_len],
                &mut output[..product.output_len],
            );
        };
        apply_in_order(
            self.products.iter(),
            multiply,
            marginal,
            answers,
            scratch,
            self.intermediate_len(),
        );
    }

    /// Writes Q^T y: the transposed products of [`QueryMatrix::apply`] in reverse order.
    pub fn apply_transpose(&self, answers: &[f64], marginal: &mut [f64], scratch: &mut [f64]) {
        let multiply = |product: &AxisProduct, input: &[f64], output: &mut [f64]| {
            let (factor, n) = (&self.factors[product.factor], self.shape[product.factor]);
            let (input, output) = (&input[..product.output_len], &mut output[..product.input_len]);
            factor.apply_transpose(n, product.inner, input, output);
        };
        apply_in_order(
            self.products.iter().rev(),
            multiply,
            answers,
            marginal,
            scratch,
            self.intermediate_len(),
        );
    }

    /// The dense matrix.
    pub fn to_dense(&self) -> Matrix {
        let one = Matrix::new(1, 1, vec![1.0]);
        self.factors
            .iter()
            .zip(&self.shape)
            .fold(one, |left, (factor, &n)| left.kronecker(&factor.to_dense(n)))
    }

    /// The largest L1 norm of a column: the L1 sensitivity to adding or removing a record.
    pub fn max_column_l1(&self) -> f64 {
        self.product_of(QueryFactor::max_column_l1)
    }

    /// The largest squared L2 norm of a column: the squared L2 sensitivity.
    pub fn max_column_l2_squared(&self) -> f64 {
        self.product_of(QueryFactor::max_column_l2_squared)
    }

    /// The largest eigenvalue of Q^T Q (see [`QueryFactor::max_eigenvalue`]).
    pub fn max_eigenvalue(&self) -> f64 {
        self.product_of(QueryFactor::max_eigenvalue)
    }

    /// Maximum column norms and largest eigenvalues multiply in a Kronecker product.
    fn product_of(&self, quantity: impl Fn(&QueryFactor, usize) -> f64) -> f64 {
        self.factors.iter().zip(&self.shape).map(|(factor, &n)| quantity(factor, n)).product()
    }
}

impl RowOrder {
    /// Permutes answers from row-major in listed order to axis order.
    pub fn to_axis_order(&self, listed: &[f64]) -> Vec<f64> {
        permute(listed, &self.shape, &self.order)
    }
}

/// Applies the products in order. The two halves of the scratch buffer alternate as the output and
/// the input of intermediate products.
fn apply_in_order<'a>(
    products: impl ExactSizeIterator<Item = &'a AxisProduct>,
    multiply: impl Fn(&AxisProduct, &[f64], &mut [f64]),
    input: &[f64],
    output: &mut [f64],
    scratch: &mut [f64],
    half: usize,
) {
    let count = products.len();
    if count == 0 {
        output.copy_from_slice(input);
    }
    let (mut to, mut from) = scratch.split_at_mut(half);
    for (index, product) in products.enumerate() {
        let source = if index == 0 { input } else { &*from };
        if index + 1 == count {
            multiply(product, source, output);
        } else {
            multiply(product, source, to);
            std::mem::swap(&mut from, &mut to);
        }
    }
}

/// The clique of the attributes `listed`; an error if one repeats or the marginal is too large.
fn marginal_clique(domain: &Domain, listed: &[AttributeId]) -> Result<Clique, QueryError> {
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

/// For each axis of a table over these attributes, its position in the list.
fn axis_order(listed: &[AttributeId]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..listed.len()).collect();
    order.sort_by_key(|&position| listed[position]);
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

/// For each cell in axis order, its index when cells are row-major in listed order.
fn listed_cells(domain: &Domain, clique: &Clique, listed: &[AttributeId]) -> Vec<usize> {
    let listed_shape: Vec<usize> = listed.iter().map(|&id| domain.size(id)).collect();
    let listed_strides = row_major_strides(&listed_shape);
    let strides: Vec<usize> =
        axis_order(listed).into_iter().map(|position| listed_strides[position]).collect();
    let mut cells = vec![0; listed_shape.iter().product()];
    for_each_offset(&domain.shape(clique), &strides, |cell, listed_cell| cells[cell] = listed_cell);
    cells
}
