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

/// Rows of O that are computed together: `count` of them along the axis of the tiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// The first row.
    pub(super) row: u32,
    /// Where the factors of the first row start.
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) count: u32,
}

/// All rows of O in tiles.
#[derive(Debug)]
pub(super) struct Tiling {
    pub(super) a_step: usize,
    pub(super) b_step: usize,
    pub(super) row_step: usize,
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
const MAX_ROWS: usize = 6;

impl RowAxis {
    /// The benefit of tiles along this axis, in lexicographic order: whether their rows share a
    /// factor and so save loads, how many rows a tile has, and the size of the shared factor.
    fn benefit(&self, cells: [usize; 2], may_swap: bool) -> (bool, usize, usize) {
        let shared = |factor: usize| if self.steps[factor] == 0 { cells[factor] } else { 0 };
        let shared = if may_swap { shared(0).max(shared(1)) } else { shared(0) };
        (shared > 0, self.size.min(MAX_ROWS), shared)
    }
}

/// The best axis for tiles among `axes` (innermost first), and whether the factor that its tiles
/// share is B. With `may_swap` the shared factor may be either one, otherwise only A.
pub(super) fn choose(
    axes: &[RowAxis],
    cells: [usize; 2],
    may_swap: bool,
) -> (Option<RowAxis>, bool) {
    // Among equals the innermost, which leaves more rows for other threads. It comes last here, and
    // `max_by_key` returns the last maximum.
    let best = axes.iter().rev().copied().max_by_key(|axis| axis.benefit(cells, may_swap));
    let shares_b = |axis: RowAxis| axis.steps[1] == 0 && (axis.steps[0] > 0 || cells[1] > cells[0]);
    (best, may_swap && best.is_some_and(shares_b))
}

impl Tiling {
    /// Tiles along `axis` of the rows whose factors start at `rows`.
    pub(super) fn new(axis: Option<RowAxis>, rows: &[[u32; 2]]) -> Self {
        let axis = axis.unwrap_or(RowAxis { size: 1, steps: [0; 2], row_step: 1 });
        let RowAxis { size, steps, row_step } = axis;
        let parts = size.div_ceil(MAX_ROWS);
        let mut tiles = Vec::with_capacity(rows.len() / size * parts);
        let mut cuts = vec![Cut { tile: 0, row: 0 }];
        for first in (0..rows.len()).step_by(size * row_step) {
            for part in 0..parts {
                let (from, to) = (part * size / parts, (part + 1) * size / parts);
                for below in 0..row_step {
                    let row = first + from * row_step + below;
                    let [a, b] = rows[row];
                    tiles.push(Tile { row: at(0, row), a, b, count: at(0, to - from) });
                }
                // The rows of one part are contiguous unless rows of other parts lie between them.
                if row_step == 1 || part + 1 == parts {
                    cuts.push(Cut { tile: tiles.len(), row: first + to * row_step });
                }
            }
        }
        let [a_step, b_step] = steps;
        Self { a_step, b_step, row_step, tiles, cuts }
    }
}
