//! Data and workloads that are hard for a kind of mechanism.

use dp::Neighbours;

/// Data and workload. The first record is replaced or removed.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A record moves from one cell of a two-way marginal to another. This is the worst case of
    /// noisy answers.
    Marginal,
    /// The same for prefix sums, whose strategy has entries that are not integers.
    Prefix,
    /// Two marginals compete in a selection. The record increases the error of one and decreases
    /// that of the other, so all scores change by the most that is possible, one half up and the
    /// other half down. The first marginal is behind by about one and a half temperatures, because
    /// the probability of a rare selection changes by the largest factor.
    Rivals,
    /// Two records of one bit. Stopping rules use fractions of the records, and one record of two
    /// changes a fraction the most.
    Coin,
    /// Three attributes, one of which depends on another. The record strengthens one pair and
    /// weakens another.
    Triangle,
    /// Three attributes of three values, frequent enough that none is merged. All pairs depend on
    /// each other equally, so that each is a likely edge of a tree. The record changes every
    /// marginal; it strengthens one pair and weakens the two others by the most that is possible.
    Tree,
    /// Two marginals, and a number of records that allows a few rounds of the game.
    Game,
    /// One bit, and so few records that one draw of the game costs all of epsilon. Whichever bit
    /// the first round answers, one of its two values is a rare draw in the second.
    OneDraw,
    /// A wave over eight cells, whose first Fourier coefficients are far larger than the others,
    /// and a record that decreases the former and increases the latter. Found by a search in which
    /// the bound was computed.
    Wave,
    /// High counts between low ones, with the two places where the record is and where it moves.
    /// The first is a peak among low counts if the high ones are cut off, and a dip if they are
    /// not, and the second the reverse. So the deviations of the two likely divisions change by
    /// almost the most that is possible, in opposite directions.
    Plateau,
}

pub(super) struct Data {
    pub(super) sizes: &'static [usize],
    pub(super) records: Vec<Vec<u32>>,
    pub(super) replacement: Vec<u32>,
    /// By index in the list of attributes.
    pub(super) cliques: &'static [&'static [usize]],
    pub(super) prefix: &'static [usize],
}

impl Shape {
    pub(super) fn data(self, epsilon: f64, neighbours: Neighbours) -> Data {
        let sizes: &[usize] = match self {
            Shape::Marginal | Shape::Prefix => &[2, 3],
            Shape::Rivals | Shape::Game => &[2, 2],
            Shape::Coin | Shape::OneDraw => &[2],
            Shape::Triangle => &[2, 2, 2],
            Shape::Tree => &[3, 3, 3],
            Shape::Wave => &[8],
            Shape::Plateau => &[PLATEAU],
        };
        let (records, replacement): (Vec<Vec<u32>>, Vec<u32>) = match self {
            Shape::Marginal => ((0..12).map(|i| vec![i % 2, i % 3]).collect(), vec![1, 2]),
            Shape::Prefix => ((0..12).map(|i| vec![i % 2, i % 3]).collect(), vec![0, 2]),
            Shape::Rivals => (rivals(epsilon), vec![1, 0]),
            Shape::Coin => (vec![vec![0], vec![1]], vec![1]),
            // The first record has b unlike a and c like a; its replacement the reverse.
            Shape::Triangle => (triangle(), vec![0, 0, 1]),
            Shape::Tree => (tree(epsilon), vec![1, 1, 1]),
            Shape::Game => {
                let records = (200.0 / epsilon).clamp(4.0, 4000.0) as u32;
                let record = |i: u32| vec![i % 2, u32::from(i.is_multiple_of(3))];
                ((0..records).map(record).collect(), vec![1, 0])
            }
            Shape::OneDraw => (one_draw(epsilon), vec![1]),
            Shape::Wave => (wave(epsilon, neighbours), vec![1]),
            Shape::Plateau => (plateau(epsilon), vec![(PLATEAU - LOW / 2) as u32]),
        };
        let (cliques, prefix): (&[&[usize]], &[usize]) = match self {
            Shape::Marginal => (&[&[0, 1]], &[]),
            Shape::Prefix => (&[&[1]], &[1]),
            Shape::Rivals | Shape::Game => (&[&[0], &[1]], &[]),
            Shape::Coin | Shape::OneDraw | Shape::Wave | Shape::Plateau => (&[&[0]], &[]),
            Shape::Triangle | Shape::Tree => (&[&[0, 1], &[0, 2], &[1, 2]], &[]),
        };
        Data { sizes, records, replacement, cliques, prefix }
    }
}

fn rivals(epsilon: f64) -> Vec<Vec<u32>> {
    // The temperature is 4 / epsilon for queries. For marginals it is twice that, and the scores
    // are twice as far apart.
    let ahead = (6.0 / epsilon).clamp(1.0, 200.0).round() as u32;
    let half = ahead + 6;
    (0..2 * half).map(|i| vec![i % 2, u32::from(i < half + ahead)]).collect()
}

fn triangle() -> Vec<Vec<u32>> {
    let record = |i: u32| {
        let (differs, parts) = (i.is_multiple_of(4), i % 5 == 1);
        vec![i % 2, (i + u32::from(differs)) % 2, (i + u32::from(parts)) % 2]
    };
    (0..40).map(record).collect()
}

/// The records of [`Shape::Tree`], first one of three zeros. Two cells of a pair that differ in
/// both attributes have deviations from independence of opposite signs, which three values allow.
fn tree(epsilon: f64) -> Vec<Vec<u32>> {
    const DEPENDENCE: [[i64; 3]; 3] = [[1, 0, -1], [0, -1, 1], [-1, 1, 0]];
    // The deviations have to be larger than the noise of the one-way marginals.
    let unit = (7.0 / epsilon).clamp(1.0, 70.0) as i64;
    let cells = (0..27).map(|cell| [cell / 9, cell / 3 % 3, cell % 3]);
    let record = |[a, b, c]: [usize; 3]| {
        let deviation = DEPENDENCE[a][b] + DEPENDENCE[a][c] - DEPENDENCE[b][c];
        let count = (4 + deviation) * unit;
        std::iter::repeat_n(vec![a as u32, b as u32, c as u32], count as usize)
    };
    cells.flat_map(record).collect()
}

/// With a step size of 4, a draw of the second round costs 8 / N. A quarter of the records are 1,
/// so that 0 is a rare draw after the game has answered it, and rarer for the neighbour.
fn one_draw(epsilon: f64) -> Vec<Vec<u32>> {
    let records = (8.0 / epsilon).ceil().clamp(2.0, 4000.0) as u32;
    (0..records).map(|i| vec![u32::from(4 * i >= 3 * records)]).collect()
}

/// The record is in the sixth cell and moves to the second, or it is in the fourth and is removed.
fn wave(epsilon: f64, neighbours: Neighbours) -> Vec<Vec<u32>> {
    let (counts, first) = match neighbours {
        Neighbours::Replace => ([9, 10, 10, 13, 15, 15, 15, 12], 5),
        Neighbours::AddRemove => ([15, 9, 3, 2, 2, 8, 14, 17], 3),
    };
    let copies = |count: usize| (count as f64 / epsilon).ceil().clamp(1.0, 400.0) as usize;
    let cell = |cell: usize| std::iter::repeat_n(vec![cell as u32], copies(counts[cell]));
    let others = (0..counts.len()).filter(|&cell| cell != first);
    cell(first).chain(others.flat_map(cell)).collect()
}

/// Cells with low counts on either side, and cells in all, in [`Shape::Plateau`].
const LOW: usize = 8;
const PLATEAU: usize = 80;

/// The record is in the middle of the first low cells and moves to the middle of the last.
///
/// With s cells in a part, removing a record from a peak decreases the deviation by 2 (1 - 1/s),
/// and from a dip it increases it by 2 (1 - LOW/s). The temperature is 16 / epsilon with one level
/// of division under replacement: half of epsilon, half of that for parts of the records, and a
/// sensitivity of 2. The high counts make other divisions unlikely; the peak makes the division in
/// front of the plateau the less likely one of the two, by about two temperatures.
fn plateau(epsilon: f64) -> Vec<Vec<u32>> {
    let temperature = (16.0 / epsilon).clamp(1.0, 400.0);
    let (high, peak) = ((2.5 * temperature) as usize, (0.6 * temperature).ceil() as usize);
    let cell = |cell: usize, count: usize| std::iter::repeat_n(vec![cell as u32], count);
    let plateau = (LOW..PLATEAU - LOW).flat_map(|place| cell(place, high));
    cell(LOW / 2, peak).chain(plateau).collect()
}
