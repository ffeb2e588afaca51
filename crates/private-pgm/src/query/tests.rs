//! Every factor and every product against its dense matrix.

use proptest::prelude::*;

use super::*;
use crate::domain::{AttributeId, Domain};
use crate::factor::Factor;
use crate::numeric::lsmr::{LsmrOptions, lsmr};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;

/// Multiples of 1/8, so that sums are exact in any order.
fn entry() -> impl Strategy<Value = f64> {
    (-8i32..9).prop_map(|eighths| f64::from(eighths) / 8.0)
}

fn dense(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    prop::collection::vec(entry(), rows * cols)
        .prop_map(move |values| Matrix::new(rows, cols, values))
}

fn sparse(rows: usize, cols: usize) -> impl Strategy<Value = CsrMatrix> {
    let row = prop::collection::vec((0..cols, entry()), 0..4);
    prop::collection::vec(row, rows).prop_map(move |rows| {
        let mut matrix = CsrMatrix::new(cols);
        rows.into_iter().for_each(|row| matrix.push_row(row));
        matrix
    })
}

pub(crate) fn factor(n: usize) -> impl Strategy<Value = QueryFactor> {
    prop_oneof![
        Just(QueryFactor::Identity),
        Just(QueryFactor::Prefix),
        Just(QueryFactor::Total),
        Just(QueryFactor::Ranges),
        prop::collection::vec((0..n, 1..=n), 1..5).prop_map(move |pairs| {
            let ordered = pairs.into_iter().map(|(a, b)| (a.min(b - 1), b.max(a + 1)));
            QueryFactor::Intervals(ordered.collect())
        }),
        prop::sample::subsequence((0..n).collect::<Vec<_>>(), 0..=n)
            .prop_map(QueryFactor::Evidence),
        prop::collection::vec(0usize..4, n).prop_map(QueryFactor::Compress),
        (1usize..4).prop_map(QueryFactor::Moments),
        (0usize..3)
            .prop_flat_map(move |rows| (prop::collection::vec(entry(), n), dense(rows, n)))
            .prop_map(|(diagonal, extra)| QueryFactor::PIdentity(PIdentity::new(diagonal, extra))),
        (1usize..5).prop_flat_map(move |rows| dense(rows, n)).prop_map(QueryFactor::Dense),
        (1usize..5).prop_flat_map(move |rows| sparse(rows, n)).prop_map(QueryFactor::Sparse),
    ]
}

fn sized_factor() -> impl Strategy<Value = (usize, QueryFactor)> {
    (1usize..7).prop_flat_map(|n| (Just(n), factor(n)))
}

/// A domain, its attributes in any order, and one factor per attribute.
fn listed() -> impl Strategy<Value = (Domain, Vec<AttributeId>, Vec<QueryFactor>)> {
    prop::collection::vec(sized_factor(), 0..4)
        .prop_map(|axes| {
            let domain =
                Domain::new(axes.iter().enumerate().map(|(i, axis)| (format!("x{i}"), axis.0)))
                    .unwrap();
            let ids = domain.declared().to_vec();
            (domain, ids, axes.into_iter().map(|axis| axis.1).collect())
        })
        .prop_flat_map(|(domain, ids, factors): (_, _, Vec<QueryFactor>)| {
            let axes: Vec<_> = std::iter::zip(ids, factors).collect();
            (Just(domain), Just(axes).prop_shuffle())
        })
        .prop_map(|(domain, axes)| {
            let (ids, factors) = axes.into_iter().unzip();
            (domain, ids, factors)
        })
}

fn counts(len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * 7 + 3) % 11) as f64).collect()
}

fn times(matrix: &Matrix, x: &[f64]) -> Vec<f64> {
    let product = |row: &[f64]| row.iter().zip(x).map(|(q, x)| q * x).sum();
    (0..matrix.rows()).map(|row| product(matrix.row(row))).collect()
}

fn transposed(matrix: &Matrix) -> Matrix {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let values = (0..cols).flat_map(|col| (0..rows).map(move |row| matrix[(row, col)])).collect();
    Matrix::new(cols, rows, values)
}

fn kronecker(factors: &[Matrix]) -> Matrix {
    let one = Matrix::new(1, 1, vec![1.0]);
    factors.iter().fold(one, |left, right| {
        let mut values = Vec::new();
        for (i, k) in (0..left.rows()).flat_map(|i| (0..right.rows()).map(move |k| (i, k))) {
            for &l in left.row(i) {
                values.extend(right.row(k).iter().map(|r| l * r));
            }
        }
        Matrix::new(left.rows() * right.rows(), left.cols() * right.cols(), values)
    })
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs()).max(1e-300)
}

proptest! {
    #[test]
    fn products_along_an_axis_agree_with_the_dense_matrix(
        (n, factor) in sized_factor(), outer in 1usize..4, inner in 1usize..4,
    ) {
        let matrix = factor.to_dense(n);
        let identity = |n| QueryFactor::Identity.to_dense(n);
        let whole = kronecker(&[identity(outer), matrix.clone(), identity(inner)]);
        let table = counts(outer * n * inner);
        let mut answers = vec![f64::NAN; outer * matrix.rows() * inner];
        factor.apply(n, inner, &table, &mut answers);
        prop_assert_eq!(&answers, &times(&whole, &table));
        let y = counts(answers.len());
        let mut back = vec![f64::NAN; table.len()];
        factor.apply_transpose(n, inner, &y, &mut back);
        prop_assert_eq!(back, times(&transposed(&whole), &y));
    }

    /// The entries are no multiples of 1/8, so sums are rounded.
    #[test]
    fn contrasts_agree_with_their_dense_matrix_and_have_orthonormal_rows(
        n in 2usize..9, outer in 1usize..4, inner in 1usize..4,
    ) {
        let factor = QueryFactor::Contrasts;
        let matrix = factor.to_dense(n);
        let identity = |n| QueryFactor::Identity.to_dense(n);
        let whole = kronecker(&[identity(outer), matrix.clone(), identity(inner)]);
        let table = counts(outer * n * inner);
        let mut answers = vec![f64::NAN; outer * (n - 1) * inner];
        factor.apply(n, inner, &table, &mut answers);
        let mut back = vec![f64::NAN; table.len()];
        factor.apply_transpose(n, inner, &answers, &mut back);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        prop_assert!(near(&answers, &times(&whole, &table)));
        prop_assert!(near(&back, &times(&transposed(&whole), &answers)));
        for (a, b) in (0..n - 1).flat_map(|a| (0..n - 1).map(move |b| (a, b))) {
            let inner: f64 = matrix.row(a).iter().zip(matrix.row(b)).map(|(a, b)| a * b).sum();
            prop_assert!((inner - f64::from(u8::from(a == b))).abs() < 1e-14);
        }
        prop_assert!(times(&matrix, &vec![1.0; n]).iter().all(|sum| sum.abs() < 1e-14));
        let size = n as f64;
        prop_assert!(close(factor.max_column_l2_squared(n), (size - 1.0) / size, 1e-14));
        prop_assert_eq!(factor.max_eigenvalue(n), 1.0);
        prop_assert!(factor.check(1).is_err());
    }

    #[test]
    fn gram_matrices_agree_with_the_dense_matrix((n, factor) in sized_factor()) {
        let (w, gram) = (factor.to_dense(n), factor.gram(n));
        for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
            let expected: f64 = (0..w.rows()).map(|row| w[(row, a)] * w[(row, b)]).sum();
            prop_assert!((gram[(a, b)] - expected).abs() <= 1e-12 * expected.abs());
        }
    }

    #[test]
    fn norms_of_columns_agree_with_the_dense_matrix((n, factor) in sized_factor()) {
        let columns = transposed(&factor.to_dense(n));
        let largest = |norm: fn(f64) -> f64| {
            (0..n).map(|a| columns.row(a).iter().map(|&q| norm(q)).sum()).fold(0.0, f64::max)
        };
        prop_assert!(close(factor.max_column_l1(n), largest(f64::abs), 1e-14));
        prop_assert!(close(factor.max_column_l2_squared(n), largest(|q| q * q), 1e-14));
    }

    #[test]
    fn largest_eigenvalues_agree_with_iteration((n, factor) in sized_factor()) {
        let dense = QueryFactor::Dense(factor.to_dense(n));
        let (direct, iterated) = (factor.max_eigenvalue(n), dense.max_eigenvalue(n));
        prop_assert!(close(direct, iterated, 1e-10), "{} {}", direct, iterated);
    }

    #[test]
    fn a_kronecker_product_has_the_same_answers_in_any_listed_order(
        (domain, ids, factors) in listed()
    ) {
        let sizes: Vec<usize> = ids.iter().map(|&id| domain.size(id)).collect();
        let matrices: Vec<Matrix> =
            factors.iter().zip(&sizes).map(|(factor, &n)| factor.to_dense(n)).collect();
        let table = counts(sizes.iter().product());
        let as_listed = times(&kronecker(&matrices), &table);

        let (query, rows) = QueryMatrix::kronecker(&domain, &ids, factors).unwrap();
        let marginal = Factor::from_listed(&domain, &ids, &table).into_values();
        // The scratch buffer has the minimum length, and NaN would reveal reads before writes.
        let mut scratch = vec![f64::NAN; query.scratch_len()];
        let mut answers = vec![f64::NAN; query.rows()];
        query.apply(&marginal, &mut answers, &mut scratch);
        prop_assert_eq!(&answers, &rows.to_axis_order(&as_listed));

        let matrix = query.to_dense();
        prop_assert_eq!(&answers, &times(&matrix, &marginal));
        let y = counts(query.rows());
        let mut back = vec![f64::NAN; query.cols()];
        scratch.fill(f64::NAN);
        query.apply_transpose(&y, &mut back, &mut scratch);
        prop_assert_eq!(back, times(&transposed(&matrix), &y));

        prop_assert!(query.scratch_len() <= 2 * query.rows().max(query.cols()));
        let dense = QueryFactor::Dense(matrix);
        prop_assert!(close(query.max_column_l1(), dense.max_column_l1(query.cols()), 1e-12));
        let eigenvalue = dense.max_eigenvalue(query.cols());
        let found = query.max_eigenvalue();
        prop_assert!(close(found, eigenvalue, 1e-10), "{} {}", found, eigenvalue);
    }

    #[test]
    fn a_matrix_over_a_marginal_has_the_same_answers_in_any_listed_order(
        (domain, ids, factors) in listed(),
    ) {
        let sizes: Vec<usize> = ids.iter().map(|&id| domain.size(id)).collect();
        let matrices: Vec<Matrix> =
            factors.iter().zip(&sizes).map(|(factor, &n)| factor.to_dense(n)).collect();
        let matrix = kronecker(&matrices);
        let table = counts(matrix.cols());
        let expected = times(&matrix, &table);
        let mut csr = CsrMatrix::new(matrix.cols());
        for row in 0..matrix.rows() {
            let entries = matrix.row(row).iter().copied().enumerate();
            csr.push_row(entries.filter(|entry| entry.1 != 0.0));
        }
        let marginal = Factor::from_listed(&domain, &ids, &table).into_values();
        let dense = QueryMatrix::dense(&domain, &ids, matrix).unwrap();
        let sparse = QueryMatrix::sparse(&domain, &ids, csr).unwrap();
        prop_assert_eq!(dense.to_dense(), sparse.to_dense());
        for query in [dense, sparse] {
            let mut answers = vec![f64::NAN; query.rows()];
            query.apply(&marginal, &mut answers, &mut vec![0.0; query.scratch_len()]);
            prop_assert_eq!(&answers, &expected);
        }
    }

    #[test]
    fn totals_by_closed_form_by_qr_and_by_conjugate_gradients_agree((n, factor) in sized_factor()) {
        let domain = Domain::new([("a", n)]).unwrap();
        let ids = domain.declared();
        let matrix = factor.to_dense(n);
        let mut csr = CsrMatrix::new(n);
        for row in 0..matrix.rows() {
            csr.push_row(matrix.row(row).iter().copied().enumerate());
        }
        let (query, _) = QueryMatrix::kronecker(&domain, ids, vec![factor]).unwrap();
        let y = counts(query.rows());
        let estimate = |query: &QueryMatrix| {
            TotalEstimator::new(query).map(|total| (total.estimate(&y), total.variance_factor()))
        };
        let direct = estimate(&query);
        let by_qr = estimate(&QueryMatrix::dense(&domain, ids, matrix).unwrap());
        let by_gradients = estimate(&QueryMatrix::sparse(&domain, ids, csr).unwrap());
        for other in [by_qr, by_gradients] {
            match (direct, other) {
                (None, None) => {}
                (Some(a), Some(b)) => {
                    let scale = y.iter().map(|y| y.abs()).sum::<f64>() * a.1.sqrt();
                    prop_assert!((a.0 - b.0).abs() <= 1e-8 * scale, "{:?} {:?}", a, b);
                    prop_assert!(close(a.1, b.1, 1e-8), "{:?} {:?}", a, b);
                }
                different => prop_assert!(false, "{:?}", different),
            }
        }
    }

    #[test]
    fn the_total_of_a_kronecker_product_is_estimated_as_for_the_dense_matrix(
        (domain, ids, factors) in listed(),
    ) {
        let (query, _) = QueryMatrix::kronecker(&domain, &ids, factors).unwrap();
        let clique = domain.everything();
        let dense = QueryMatrix::dense(&domain, clique.as_slice(), query.to_dense()).unwrap();
        let (product, whole) = (TotalEstimator::new(&query), TotalEstimator::new(&dense));
        prop_assert_eq!(product.is_some(), whole.is_some());
        if let (Some(product), Some(whole)) = (product, whole) {
            let mu = counts(query.cols());
            let y = times(&query.to_dense(), &mu);
            let total: f64 = mu.iter().sum();
            prop_assert!(close(product.variance_factor(), whole.variance_factor(), 1e-7));
            let scale = product.variance_factor().sqrt() * y.iter().map(|y| y.abs()).sum::<f64>();
            prop_assert!((product.estimate(&y) - total).abs() <= 1e-8 * scale.max(total));
            prop_assert!((whole.estimate(&y) - total).abs() <= 1e-8 * scale.max(total));
        }
    }
}

/// Factors whose pseudo-inverses have closed forms.
fn invertible(n: usize) -> impl Strategy<Value = QueryFactor> {
    let b = (0usize..3).prop_flat_map(move |p| {
        prop::collection::vec(0.0..2.0f64, p * n).prop_map(move |b| Matrix::new(p, n, b))
    });
    prop_oneof![
        Just(QueryFactor::Identity),
        Just(QueryFactor::Prefix),
        Just(QueryFactor::Total),
        b.prop_map(|b| QueryFactor::PIdentity(PIdentity::normalised(b))),
    ]
}

proptest! {
    #[test]
    fn pseudo_inverses_of_products_agree_with_iteration(
        axes in prop::collection::vec((1usize..5).prop_flat_map(|n| (Just(n), invertible(n))), 0..4)
    ) {
        let sizes = axes.iter().enumerate().map(|(i, axis)| (format!("x{i}"), axis.0));
        let domain = Domain::new(sizes).unwrap();
        let factors = axes.iter().map(|axis| axis.1.clone()).collect();
        let (query, _) = QueryMatrix::kronecker(&domain, domain.declared(), factors).unwrap();
        let y = counts(query.rows());
        let direct = PseudoInverse::new(&query).unwrap().apply(&y);
        let matrix = query.to_dense();
        let add = |sums: Vec<f64>, out: &mut [f64]| {
            out.iter_mut().zip(sums).for_each(|(o, s)| *o += s);
        };
        let iterated = lsmr(
            y,
            query.cols(),
            LsmrOptions { tolerance: 1e-14, iterations: 1000 },
            |x, out| add(times(&matrix, x), out),
            |y, out| add(times(&transposed(&matrix), y), out),
            |_| true,
        );
        for (a, b) in direct.iter().zip(&iterated.x) {
            prop_assert!((a - b).abs() < 1e-6, "{} {}", a, b);
        }
    }
}

#[test]
fn the_total_of_a_rank_deficient_matrix_is_found() {
    // Rows 0 and 1 sum to ones, row 2 repeats row 0, row 3 is twice row 1.
    let rows = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 2.0, 0.0]];
    let domain = Domain::new([("a", 3)]).unwrap();
    let matrix = Matrix::new(4, 3, rows.concat());
    let query = QueryMatrix::dense(&domain, domain.declared(), matrix).unwrap();
    let total = TotalEstimator::new(&query).unwrap();
    // u = (1/2, 1/5, 1/2, 2/5).
    assert!((total.variance_factor() - 0.7).abs() < 1e-14);
    assert!((total.estimate(&[10.0, 5.0, 20.0, 10.0]) - 20.0).abs() < 1e-12);
}

#[test]
fn a_row_of_approximate_ones_does_not_determine_the_total() {
    let domain = Domain::new([("a", 2)]).unwrap();
    let matrix = Matrix::new(1, 2, vec![1.0, 1.0 + 1e-7]);
    let query = QueryMatrix::dense(&domain, domain.declared(), matrix).unwrap();
    assert_eq!(TotalEstimator::new(&query), None);
}

#[test]
fn the_identity_needs_no_scratch_buffer() {
    let domain = Domain::new([("a", 3), ("b", 2)]).unwrap();
    let query = QueryMatrix::identity(&domain, &domain.everything()).unwrap();
    assert!(query.is_identity());
    assert_eq!((query.rows(), query.cols(), query.scratch_len()), (6, 6, 0));
    let nothing = QueryMatrix::identity(&domain, &crate::domain::Clique::empty()).unwrap();
    assert_eq!((nothing.rows(), nothing.cols()), (1, 1));
}

#[test]
fn the_gram_matrix_of_a_kronecker_product_is_that_of_the_dense_matrix() {
    let domain = Domain::new([("a", 3), ("b", 4)]).unwrap();
    let identity = QueryMatrix::identity(&domain, &domain.everything()).unwrap();
    let query = identity.with_factors(vec![QueryFactor::Ranges, QueryFactor::Prefix]).unwrap();
    assert_eq!(query.gram(), QueryFactor::Dense(query.to_dense()).gram(12));
}

#[test]
fn invalid_factors_and_matrices_are_refused_with_what_was_expected() {
    let message = |factor: QueryFactor, n| factor.check(n).unwrap_err().to_string();
    let wide = QueryFactor::Dense(Matrix::zeros(2, 4));
    assert_eq!(message(wide, 3), "expected 3 columns, one per cell, found 4");
    assert_eq!(message(QueryFactor::Dense(Matrix::zeros(0, 3)), 3), "expected at least one row");
    assert_eq!(message(QueryFactor::Evidence(vec![3]), 3), "expected values below 3, found 3");
    let twice = QueryFactor::Evidence(vec![1, 0, 1]);
    assert_eq!(message(twice, 3), "expected every value at most once, found 1 again");
    let short = QueryFactor::Compress(vec![0, 1]);
    assert_eq!(message(short, 3), "expected 3 groups, one per value, found 2");
    assert_eq!(message(QueryFactor::Moments(0), 3), "expected at least one row");
    assert!(message(QueryFactor::Moments(400), 100).starts_with("expected at most 76 moments"));
    let nan = QueryFactor::Dense(Matrix::new(1, 2, vec![0.0, f64::NAN]));
    assert_eq!(message(nan, 2), "expected finite entries, found NaN in row 0, column 1");

    let domain = Domain::new([("a", 2), ("b", usize::MAX), ("c", 70_000)]).unwrap();
    let id = |name: &str| domain.id(name).unwrap();
    let kronecker = |names: &[&str], factors: Vec<QueryFactor>| {
        let listed: Vec<AttributeId> = names.iter().map(|name| id(name)).collect();
        QueryMatrix::kronecker(&domain, &listed, factors).unwrap_err()
    };
    assert_eq!(
        kronecker(&["a", "a"], vec![QueryFactor::Total; 2]),
        QueryError::RepeatedAttribute(id("a"))
    );
    assert_eq!(
        kronecker(&["a"], vec![QueryFactor::Total; 2]),
        QueryError::FactorCount { expected: 1, found: 2 }
    );
    let too_large = kronecker(&["a", "b"], vec![QueryFactor::Total; 2]);
    assert!(matches!(too_large, QueryError::TooManyCells { .. }), "{too_large}");
    let too_many = kronecker(&["c"], vec![QueryFactor::Ranges]);
    assert!(matches!(too_many, QueryError::TooManyRows { .. }), "{too_many}");
}

#[test]
fn a_row_with_a_repeated_entry_is_not_a_counting_query() {
    let sparse = |entries: &[(usize, f64)]| {
        let mut matrix = CsrMatrix::new(3);
        matrix.push_row([(1, 1.0)]);
        matrix.push_row(entries.iter().copied());
        QueryFactor::Sparse(matrix)
    };
    assert!(sparse(&[(0, 1.0), (1, 1.0)]).counts(3));
    assert!(!sparse(&[(0, 1.0), (0, 1.0)]).counts(3), "the repeated entries sum to 2");
    assert!(!sparse(&[(0, 0.5)]).counts(3));
}
