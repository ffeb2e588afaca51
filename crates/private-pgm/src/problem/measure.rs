//! Measurements made in code, without a file.

use ndarray::{ArrayView, ArrayView2, Dimension};

use super::query::RawQuery;
use crate::domain::{AttributeId, Clique, Domain};
use crate::loss::{Measurement, MeasurementError};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;
use crate::query::{QueryFactor, QueryMatrix};

/// Attributes are listed by name, in any order; answers are row-major in the order of the list.
///
/// ```
/// use private_pgm::{Domain, Measurement, QueryFactor};
/// use private_pgm::ndarray::array;
///
/// let domain = Domain::new([("age", 3), ("sex", 2)])?;
/// // The noisy count of each combination, from a slice or from an array.
/// let noisy = [11.0, 21.0, 14.0, 26.0, 18.0, 13.0];
/// let counts = Measurement::marginal(&domain, &["age", "sex"], &noisy, 2.0)?;
/// let table = array![[11.0, 21.0], [14.0, 26.0], [18.0, 13.0]];
/// assert_eq!(Measurement::from_array(&domain, &["age", "sex"], table.view(), 2.0)?, counts);
/// // Cumulative counts by age; the number of records.
/// let up_to = vec![QueryFactor::Prefix];
/// Measurement::linear(&domain, &["age"], up_to, &[30.0, 71.0, 103.0], 1.0)?;
/// Measurement::linear::<&str>(&domain, &[], vec![], &[102.0], 1.0)?;
/// // Any linear combinations of the cells.
/// let weighted = array![[0.0, 1.0, 2.0]];
/// Measurement::dense(&domain, &["age"], weighted.view(), &[99.0], 3.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Measurement {
    /// The count of each combination of values.
    pub fn marginal<N: AsRef<str>>(
        domain: &Domain,
        attributes: &[N],
        y: &[f64],
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let factors = vec![QueryFactor::Identity; attributes.len()];
        Self::linear(domain, attributes, factors, y, stddev)
    }

    /// The count of each combination of values, as an array with one axis per attribute.
    pub fn from_array<N: AsRef<str>, D: Dimension>(
        domain: &Domain,
        attributes: &[N],
        y: ArrayView<'_, f64, D>,
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let listed = listed(domain, attributes)?;
        let expected: Vec<usize> = listed.iter().map(|&id| domain.size(id)).collect();
        if y.shape() != expected {
            return Err(MeasurementError::Shape { expected, found: y.shape().to_vec() });
        }
        let y: Vec<f64> = y.iter().copied().collect();
        Self::marginal(domain, attributes, &y, stddev)
    }

    /// The Kronecker product of one query factor per attribute.
    pub fn linear<N: AsRef<str>>(
        domain: &Domain,
        attributes: &[N],
        queries: Vec<QueryFactor>,
        y: &[f64],
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let listed = listed(domain, attributes)?;
        Self::assemble(domain, listed, RawQuery::Kronecker(queries), y.to_vec(), stddev)
    }

    /// One query per row of a matrix, whose columns are the cells of the marginal, row-major.
    pub fn dense<N: AsRef<str>>(
        domain: &Domain,
        attributes: &[N],
        queries: ArrayView2<'_, f64>,
        y: &[f64],
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let (rows, cols) = queries.dim();
        let matrix = Matrix::new(rows, cols, queries.iter().copied().collect());
        let listed = listed(domain, attributes)?;
        Self::assemble(domain, listed, RawQuery::Dense(matrix), y.to_vec(), stddev)
    }

    /// [`Measurement::dense`] for a matrix most of whose entries are zero.
    pub fn sparse<N: AsRef<str>>(
        domain: &Domain,
        attributes: &[N],
        queries: CsrMatrix,
        y: &[f64],
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let listed = listed(domain, attributes)?;
        Self::assemble(domain, listed, RawQuery::Sparse(queries), y.to_vec(), stddev)
    }

    /// Permutes queries and answers to the axis order.
    pub(super) fn assemble(
        domain: &Domain,
        listed: Vec<AttributeId>,
        query: RawQuery,
        y: Vec<f64>,
        stddev: f64,
    ) -> Result<Self, MeasurementError> {
        let (query, row_order) = match query {
            RawQuery::Kronecker(factors) => {
                let (query, row_order) = QueryMatrix::kronecker(domain, &listed, factors)?;
                (query, Some(row_order))
            }
            RawQuery::Dense(matrix) => (QueryMatrix::dense(domain, &listed, matrix)?, None),
            RawQuery::Sparse(matrix) => (QueryMatrix::sparse(domain, &listed, matrix)?, None),
        };
        let (expected, found) = (query.rows(), y.len());
        if expected != found {
            return Err(MeasurementError::Answers { expected, found });
        }
        let y = match row_order {
            Some(row_order) => row_order.to_axis_order(&y),
            None => y,
        };
        let measurement = Self { clique: Clique::new(listed), query, y, stddev };
        measurement.check(domain)?;
        Ok(measurement)
    }
}

fn listed<N: AsRef<str>>(
    domain: &Domain,
    names: &[N],
) -> Result<Vec<AttributeId>, MeasurementError> {
    let id = |name: &N| {
        let name = name.as_ref();
        domain.id(name).ok_or_else(|| MeasurementError::NoSuchAttribute(name.into()))
    };
    names.iter().map(id).collect()
}
