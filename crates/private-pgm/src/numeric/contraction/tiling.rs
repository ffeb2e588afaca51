use super::at;

/// An axis of O other than the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowAxis {
    pub(super) size: usize,
    /// The strides of the axis in A and in B; 0 where the factor lacks it.
    pub(super) steps: [usize; 2],
    /// The stride of the axis in rows of O.
    pub(super) row_step: usize,
}

impl RowAxis {
    /// In place of an axis that is missing.
    const NONE: Self = Self { size: 1, steps: [0; 2], row_step: 1 };
}

/// Rows of O that are computed together: a rectangle along the two axes of the tiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// The first row.
    pub(super) row: u32,
    /// Where the factors of the first row start.
    pub(super) a: u32,
    pub(super) b: u32,
    /// The number of rows along each axis.
    pub(super) across: u32,
    pub(super) along: u32,
}

/// Consecutive tiles, with the row at which the slice of O that they are written to begins.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) tiles: &'a [Tile],
    pub(super) first_row: usize,
}

/// All rows of O in tiles.
#[derive(Debug)]
pub(super) struct Tiling {
    /// Rows that share the factor from B. Of size 1 unless O lacks the inner axis.
    pub(super) across: RowAxis,
    /// Rows that share the factor from A, if there are such.
    pub(super) along: RowAxis,
    pub(super) tiles: Vec<Tile>,
    /// Where the work can be divided among threads, including the beginning and the end.
    pub(super) cuts: Vec<Cut>,
}

/// A division point: the tiles before `tile` are exactly the rows before `row`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) tile: usize,
    pub(super) row: usize,
}

/// The number of rows of eight numbers that fit in sixteen registers of four numbers together with
/// the factors.
pub(super) const MAX_ROWS: usize = 6;

/// The rows of a tile across and along if it has both axes: twelve cells of eight lanes take
/// twelve of 32 registers of eight numbers, or, half of the lanes at a time, of sixteen of four.
pub(super) const ACROSS: [usize; 2] = [3, 4];

impl RowAxis {
    /// The benefit of tiles along this axis, in lexicographic order: whether their rows share a
    /// factor and so save loads, how many rows a tile has, and the size of the shared factor.
    fn benefit(&self, cells: [usize; 2], may_swap: bool) -> (bool, usize, usize) {
        let shared = |factor: usize| if self.steps[factor] == 0 { cells[factor] } else { 0 };
        let shared = if may_swap { shared(0).max(shared(1)) } else { shared(0) };
        (shared > 0, self.size.min(MAX_ROWS), shared)
    }
}

/// The best axis for tiles among `axes` (innermost first), by its position, and whether the factor
/// that its tiles share is B. With `may_swap` the shared factor may be either one, otherwise only
/// A.
pub(super) fn choose(axes: &[RowAxis], cells: [usize; 2], may_swap: bool) -> (Option<usize>, bool) {
    // Among equals the innermost, which leaves more rows for other threads. It comes last here, and
    // `max_by_key` returns the last maximum.
    let best = (0..axes.len()).rev().max_by_key(|&axis| axes[axis].benefit(cells, may_swap));
    let shares_b = |axis: RowAxis| axis.steps[1] == 0 && (axis.steps[0] > 0 || cells[1] > cells[0]);
    (best, may_swap && best.is_some_and(|best| shares_b(axes[best])))
}

impl Tiling {
    /// Tiles of the rows whose factors start at `rows`, along one of the `axes`, and with
    /// `rectangles` across another one where that saves loads.
    pub(super) fn new(
        axes: &[RowAxis],
        along: Option<usize>,
        rectangles: bool,
        rows: &[[u32; 2]],
    ) -> Self {
        let along = along.map_or(RowAxis::NONE, |along| axes[along]);
        let crosses = |axis: &RowAxis| axis.steps[0] > 0 && axis.steps[1] == 0;
        let across = axes
            .iter()
            .rev()
            .filter(|axis| rectangles && along.steps[0] == 0 && along.steps[1] > 0 && crosses(axis))
            .max_by_key(|axis| axis.size.min(ACROSS[0]))
            .copied();
        let most = across.map_or([1, MAX_ROWS], |_| ACROSS);
        let across = across.unwrap_or(RowAxis::NONE);
        let (mut tiles, mut cuts) = (Vec::new(), vec![Cut { tile: 0, row: 0 }]);
        // The outer and the inner axis of the rectangles.
        let across_is_outer = across.row_step > along.row_step;
        let axes = [(across, most[0]), (along, most[1])];
        let [(outer, most_outer), (inner, most_inner)] =
            if across_is_outer { axes } else { [axes[1], axes[0]] };
        for first in (0..rows.len()).step_by(outer.size * outer.row_step) {
            for [from, to] in parts(outer.size, most_outer) {
                let starts = (0..outer.row_step).step_by(inner.size * inner.row_step);
                for ([start, end], between) in
                    starts.flat_map(|start| parts(inner.size, most_inner).map(move |p| (p, start)))
                {
                    for below in 0..inner.row_step {
                        let row = first
                            + from * outer.row_step
                            + between
                            + start * inner.row_step
                            + below;
                        let ([a, b], counts) = (rows[row], [at(0, to - from), at(0, end - start)]);
                        let [across, along] =
                            if across_is_outer { counts } else { [counts[1], counts[0]] };
                        tiles.push(Tile { row: at(0, row), a, b, across, along });
                    }
                }
                cuts.push(Cut { tile: tiles.len(), row: first + to * outer.row_step });
            }
        }
        Self { across, along, tiles, cuts }
    }
}

/// Divides `0..size` into equal parts of at most `most`.
fn parts(size: usize, most: usize) -> impl Iterator<Item = [usize; 2]> {
    let parts = size.div_ceil(most);
    (0..parts).map(move |part| [part * size / parts, (part + 1) * size / parts])
}
