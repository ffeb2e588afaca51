use super::at;

/// An axis of O other than the inner one.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowAxis {
    pub(super) size: usize,
    /// How far one step along the axis is in A and in B; 0 where the factor lacks it.
    pub(super) steps: [usize; 2],
    /// How many rows of O one step along the axis is.
    pub(super) row_step: usize,
}

/// Rows of O that are built at once: `count` of them along the axis of the tiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// The first row,
    pub(super) row: u32,
    /// and where its factors start.
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
    /// Where the work can be cut for threads, from the beginning to the end.
    pub(super) cuts: Vec<Cut>,
}

/// All tiles before `tile` make up all rows before `row`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) tile: usize,
    pub(super) row: usize,
}

/// As many rows of eight numbers as sixteen registers of four numbers can hold, with room for the
/// factors.
const MOST_ROWS: usize = 6;

impl RowAxis {
    /// How good it is to have the rows of a tile along this axis: those that share a factor spare
    /// its loads, the more the better, and the more the larger it is.
    fn worth(&self, cells: [usize; 2], may_swap: bool) -> (bool, usize, usize) {
        let spared = |factor: usize| if self.steps[factor] == 0 { cells[factor] } else { 0 };
        let spared = if may_swap { spared(0).max(spared(1)) } else { spared(0) };
        (spared > 0, self.size.min(MOST_ROWS), spared)
    }
}

/// The axis for tiles among `axes` (innermost first), if there is any, and whether the factor that they
/// share is B. With `may_swap` it may be either, else it can only be A.
pub(super) fn choose(
    axes: &[RowAxis],
    cells: [usize; 2],
    may_swap: bool,
) -> (Option<RowAxis>, bool) {
    // Of equals the innermost, which comes first, so that more rows can be done by other threads.
    let best = axes.iter().rev().copied().max_by_key(|axis| axis.worth(cells, may_swap));
    let shares_b = |axis: RowAxis| axis.steps[1] == 0 && (axis.steps[0] > 0 || cells[1] > cells[0]);
    (best, may_swap && best.is_some_and(shares_b))
}

impl Tiling {
    /// Tiles along `axis` of the rows whose factors start at `rows`.
    pub(super) fn new(axis: Option<RowAxis>, rows: &[[u32; 2]]) -> Self {
        let axis = axis.unwrap_or(RowAxis { size: 1, steps: [0; 2], row_step: 1 });
        let RowAxis { size, steps, row_step } = axis;
        let parts = size.div_ceil(MOST_ROWS);
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
                // Rows of one part lie together, unless those of other parts are between them.
                if row_step == 1 || part + 1 == parts {
                    cuts.push(Cut { tile: tiles.len(), row: first + to * row_step });
                }
            }
        }
        let [a_step, b_step] = steps;
        Self { a_step, b_step, row_step, tiles, cuts }
    }
}
