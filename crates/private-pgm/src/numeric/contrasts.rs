//! Products with the Helmert matrix along one axis of a table (for `len` and `inner` see
//! [`super::kron`]).
//!
//! The Helmert matrix over n values has n - 1 orthonormal rows, all orthogonal to the row of ones:
//! row k - 1 has 1 / sqrt(k (k + 1)) for the values 0..k and -k / sqrt(k (k + 1)) for the value k
//! (Lancaster, The Helmert matrices, American Mathematical Monthly 72, 1965).

/// 1 / sqrt(k (k + 1)), the first entry of row k - 1.
pub(crate) fn helmert_entry(k: usize) -> f64 {
    let k = k as f64;
    (k * (k + 1.0)).sqrt().recip()
}

/// Row k - 1 of a block becomes the sum of the rows 0..k minus k times row k, divided by
/// sqrt(k (k + 1)). One pass over the table.
pub(crate) fn contrasts(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    let mut sum = vec![0.0; inner];
    let outputs = output.chunks_exact_mut((len - 1) * inner);
    for (input, output) in input.chunks_exact(len * inner).zip(outputs) {
        sum.copy_from_slice(&input[..inner]);
        let rows = input.chunks_exact(inner).skip(1).zip(output.chunks_exact_mut(inner));
        for (index, (row, out)) in rows.enumerate() {
            let (k, first) = ((index + 1) as f64, helmert_entry(index + 1));
            for ((out, &cell), sum) in out.iter_mut().zip(row).zip(&mut sum) {
                *out = first * (*sum - k * cell);
                *sum += cell;
            }
        }
    }
}

/// The transpose of [`contrasts`], which for a matrix with orthonormal rows is also its
/// pseudo-inverse. `len` is the length of the axis that is written.
pub(crate) fn contrasts_transposed(input: &[f64], output: &mut [f64], len: usize, inner: usize) {
    let mut later = vec![0.0; inner];
    let inputs = input.chunks_exact((len - 1) * inner);
    for (input, output) in inputs.zip(output.chunks_exact_mut(len * inner)) {
        later.fill(0.0);
        for k in (1..len).rev() {
            let (row, first) = (&input[(k - 1) * inner..][..inner], helmert_entry(k));
            let out = &mut output[k * inner..][..inner];
            for ((out, &y), later) in out.iter_mut().zip(row).zip(&mut later) {
                *out = *later - k as f64 * first * y;
                *later += first * y;
            }
        }
        output[..inner].copy_from_slice(&later);
    }
}
