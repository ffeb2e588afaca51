//! Products of a matrix of few rows with a table, along an axis (see [`super::kron`]). They are
//! inlined into kernels, whose instruction set they take.

use super::matrix::Matrix;

/// Rows of the matrix that are multiplied together.
const GROUP: usize = 4;

/// Row i becomes the sum over the columns a of the entry (i, a) times row a of the table.
#[inline(always)]
pub(crate) fn row_products(matrix: &Matrix, inner: usize, table: &[f64], products: &mut [f64]) {
    for (group, products) in products.chunks_mut(GROUP * inner).enumerate() {
        let row = |i: usize| matrix.row((GROUP * group + i).min(matrix.rows() - 1));
        let rows = [row(0), row(1), row(2), row(3)];
        match products.len() / inner {
            1 => row_sums::<1>(rows, inner, table, products),
            2 => row_sums::<2>(rows, inner, table, products),
            3 => row_sums::<3>(rows, inner, table, products),
            _ => row_sums::<GROUP>(rows, inner, table, products),
        }
    }
}

/// The products of the first `R` of these rows. The sums of sixteen columns stay in registers while
/// the rows of the table pass.
#[inline(always)]
fn row_sums<const R: usize>(
    rows: [&[f64]; GROUP],
    inner: usize,
    table: &[f64],
    products: &mut [f64],
) {
    let n = rows[0].len();
    let rows = rows.map(|row| &row[..n]);
    macro_rules! columns {
        ($W:literal, $first:expr) => {{
            let first = $first;
            let mut sums = [[0.0; $W]; R];
            for a in 0..n {
                let cells: &[f64; $W] = table[a * inner + first..].first_chunk().expect("W cells");
                for r in 0..R {
                    for lane in 0..$W {
                        sums[r][lane] += rows[r][a] * cells[lane];
                    }
                }
            }
            for r in 0..R {
                products[r * inner + first..][..$W].copy_from_slice(&sums[r]);
            }
        }};
    }
    let mut first = 0;
    while inner - first >= 16 {
        columns!(16, first);
        first += 16;
    }
    if inner - first >= 8 {
        columns!(8, first);
        first += 8;
    }
    if inner >= 8 && first < inner {
        // Some columns for the second time, with the same sums.
        columns!(8, inner - 8);
        first = inner;
    }
    while first < inner {
        columns!(1, first);
        first += 1;
    }
}

/// Adds the sum over the rows i of the entry (i, `column`) times row i to the cells, in a single
/// pass for each group of rows.
#[inline(always)]
pub(crate) fn add_rows(matrix: &Matrix, column: usize, rows: &[f64], cells: &mut [f64]) {
    for (group, rows) in rows.chunks(GROUP * cells.len()).enumerate() {
        let factor = |i: usize| matrix[((GROUP * group + i).min(matrix.rows() - 1), column)];
        let factors = [factor(0), factor(1), factor(2), factor(3)];
        match rows.len() / cells.len() {
            1 => add_group::<1>(factors, rows, cells),
            2 => add_group::<2>(factors, rows, cells),
            3 => add_group::<3>(factors, rows, cells),
            _ => add_group::<GROUP>(factors, rows, cells),
        }
    }
}

/// Adds `R` rows times these factors, one after the other.
#[inline(always)]
fn add_group<const R: usize>(factors: [f64; GROUP], rows: &[f64], cells: &mut [f64]) {
    let inner = cells.len();
    let mut row: [&[f64]; R] = [&[]; R];
    for r in 0..R {
        row[r] = &rows[r * inner..][..inner];
    }
    for i in 0..inner {
        let mut cell = cells[i];
        for r in 0..R {
            cell += factors[r] * row[r][i];
        }
        cells[i] = cell;
    }
}
