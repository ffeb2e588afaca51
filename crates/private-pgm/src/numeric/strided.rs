//! Sums, maxima and broadcasts between a row-major table and the table over some of its axes.

/// The map from the cells of a *big* table to those of the *small* table over the kept axes.
///
/// Neighbouring axes that are both kept or both dropped are merged at construction, so that an
/// operation is one pass over the big table with contiguous inner loops.
#[derive(Clone, Debug)]
pub struct Projection {
    /// For each inner run of the big table, where its cells start in the small one.
    starts: Vec<u32>,
    /// The number of cells of an inner run.
    run: usize,
    /// Whether the inner axis is kept (a run maps to a run) or dropped (a run maps to one cell).
    inner_kept: bool,
    small_len: usize,
}

impl Projection {
    /// From a table of this shape to the one over the axes with `kept` true.
    ///
    /// # Panics
    /// If the small table has 2^32 cells or more.
    pub fn new(shape: &[usize], kept: &[bool]) -> Self {
        assert_eq!(shape.len(), kept.len());
        // Drops axes of size 1 and merges neighbours that are both kept or both dropped.
        let mut merged: Vec<(usize, bool)> = Vec::new();
        for (&size, &kept) in shape.iter().zip(kept) {
            match merged.last_mut() {
                _ if size == 1 => {}
                Some((last, last_kept)) if *last_kept == kept => *last *= size,
                _ => merged.push((size, kept)),
            }
        }
        let small_len: usize = merged.iter().filter(|axis| axis.1).map(|axis| axis.0).product();
        assert!(u32::try_from(small_len).is_ok(), "a marginal of more than 2^32 cells");
        let (run, inner_kept) = merged.pop().unwrap_or((1, true));
        let mut starts = vec![0u32];
        let mut stride = if inner_kept { run } else { 1 };
        // From the innermost outer axis outwards, so that the list is in row-major order.
        for &(size, kept) in merged.iter().rev() {
            let step = if kept { stride as u32 } else { 0 };
            starts = (0..size as u32)
                .flat_map(|i| starts.iter().map(move |&start| start + i * step).collect::<Vec<_>>())
                .collect();
            if kept {
                stride *= size;
            }
        }
        Self { starts, run, inner_kept, small_len }
    }

    /// Where the cells of each inner run start in the small table.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The number of cells of an inner run.
    pub(super) fn run(&self) -> usize {
        self.run
    }

    /// Whether an inner run maps to a run of the small table rather than to one cell.
    pub(super) fn inner_kept(&self) -> bool {
        self.inner_kept
    }

    /// The number of cells of the small table.
    pub fn small_len(&self) -> usize {
        self.small_len
    }

    /// Sums the big table onto the small one, which is overwritten.
    pub fn sum(&self, big: &[f64], small: &mut [f64]) {
        small.fill(0.0);
        self.fold(big, small, |total, row| *total += row.iter().sum::<f64>(), |s, b| *s += b);
    }

    /// The big table, summed onto the small one.
    pub fn sums(&self, big: &[f64]) -> Vec<f64> {
        let mut small = super::memory::zeros(self.small_len);
        self.sum(big, &mut small);
        small
    }

    /// Writes the maximum of the cells of the big table that map to each cell of the small one.
    pub fn max(&self, big: &[f64], small: &mut [f64]) {
        small.fill(f64::NEG_INFINITY);
        let row_max =
            |best: &mut f64, row: &[f64]| *best = row.iter().copied().fold(*best, f64::max);
        self.fold(big, small, row_max, |s, b| *s = s.max(b));
    }

    fn fold(
        &self,
        big: &[f64],
        small: &mut [f64],
        row: impl Fn(&mut f64, &[f64]),
        cell: impl Fn(&mut f64, f64),
    ) {
        debug_assert_eq!(big.len(), self.starts.len() * self.run);
        debug_assert_eq!(small.len(), self.small_len);
        for (&start, run) in self.starts.iter().zip(big.chunks_exact(self.run)) {
            let start = start as usize;
            if self.inner_kept {
                for (s, &b) in small[start..start + self.run].iter_mut().zip(run) {
                    cell(s, b);
                }
            } else {
                row(&mut small[start], run);
            }
        }
    }

    /// Calls `apply` with every cell of the big table and the cell of the small one it maps to.
    pub fn broadcast(&self, small: &[f64], big: &mut [f64], apply: impl Fn(&mut f64, f64)) {
        debug_assert_eq!(big.len(), self.starts.len() * self.run);
        debug_assert_eq!(small.len(), self.small_len);
        for (&start, run) in self.starts.iter().zip(big.chunks_exact_mut(self.run)) {
            let start = start as usize;
            if self.inner_kept {
                for (b, &s) in run.iter_mut().zip(&small[start..start + self.run]) {
                    apply(b, s);
                }
            } else {
                let s = small[start];
                run.iter_mut().for_each(|b| apply(b, s));
            }
        }
    }
}

/// Calls `visit(index, offset)` for the row-major `index` of every combination along `shape`, with
/// `offset` = the inner product of the combination and `strides`.
pub fn for_each_offset(shape: &[usize], strides: &[usize], mut visit: impl FnMut(usize, usize)) {
    if shape.contains(&0) {
        return;
    }
    let mut position = vec![0usize; shape.len()];
    let (mut index, mut offset) = (0, 0);
    loop {
        visit(index, offset);
        index += 1;
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            position[axis] += 1;
            offset += strides[axis];
            if position[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            position[axis] = 0;
        }
    }
}

/// The strides of a row-major table of this shape.
pub fn row_major_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The table whose axis `i` is axis `order[i]` of the row-major table `values`.
pub(crate) fn permute(values: &[f64], shape: &[usize], order: &[usize]) -> Vec<f64> {
    let strides = row_major_strides(shape);
    let new_shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let new_strides: Vec<usize> = order.iter().map(|&axis| strides[axis]).collect();
    let mut permuted = super::memory::zeros(values.len());
    for_each_offset(&new_shape, &new_strides, |index, offset| permuted[index] = values[offset]);
    permuted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the coordinates of every cell.
    fn direct_sum(big: &[f64], shape: &[usize], kept: &[bool]) -> Vec<f64> {
        let small_shape: Vec<usize> =
            shape.iter().zip(kept).filter(|p| *p.1).map(|p| *p.0).collect();
        let mut small = vec![0.0; small_shape.iter().product()];
        for (index, value) in big.iter().enumerate() {
            let mut rest = index;
            let mut coordinates = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                coordinates[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            let target = (0..shape.len())
                .filter(|&axis| kept[axis])
                .fold(0, |target, axis| target * shape[axis] + coordinates[axis]);
            small[target] += value;
        }
        small
    }

    fn table() -> impl Strategy<Value = (Vec<usize>, Vec<bool>)> {
        prop::collection::vec((1usize..5, any::<bool>()), 0..6)
            .prop_map(|axes| axes.into_iter().unzip())
    }

    proptest! {
        #[test]
        fn sums_agree_with_direct_sums((shape, kept) in table()) {
            let big: Vec<f64> = (0..shape.iter().product::<usize>()).map(|i| i as f64).collect();
            let projection = Projection::new(&shape, &kept);
            let mut small = vec![f64::NAN; projection.small_len()];
            projection.sum(&big, &mut small);
            prop_assert_eq!(small, direct_sum(&big, &shape, &kept));
        }

        #[test]
        fn broadcast_is_the_transpose_of_sum((shape, kept) in table()) {
            let n = shape.iter().product::<usize>();
            let projection = Projection::new(&shape, &kept);
            let small: Vec<f64> = (0..projection.small_len()).map(|i| (i * i) as f64).collect();
            let mut big = vec![0.0; n];
            projection.broadcast(&small, &mut big, |b, s| *b += s);
            for cell in 0..n {
                let mut unit = vec![0.0; n];
                unit[cell] = 1.0;
                let mut image = vec![0.0; small.len()];
                projection.sum(&unit, &mut image);
                let expected: f64 = image.iter().zip(&small).map(|(a, b)| a * b).sum();
                prop_assert_eq!(big[cell], expected);
            }
        }

        #[test]
        fn a_permutation_and_its_inverse_give_the_table_back(
            shape in prop::collection::vec(1usize..5, 1..5)
        ) {
            let values: Vec<f64> = (0..shape.iter().product::<usize>()).map(|i| i as f64).collect();
            let order: Vec<usize> = (0..shape.len()).rev().collect();
            let reversed: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
            let there = permute(&values, &shape, &order);
            prop_assert_eq!(permute(&there, &reversed, &order), values);
        }
    }
}
