use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::forest::absorbers;
use super::graph::{Graph, Step};

/// How hard to look for an elimination order. The same search gives the same order everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSearch {
    /// Seeds the randomised attempts.
    pub seed: u64,
    /// The number of randomised attempts per connected part, after one greedy attempt for each
    /// criterion. None are needed where the graph is chordal.
    pub restarts: usize,
    /// A bound on the work of all attempts together, in adjacent pairs looked at (some nanoseconds
    /// each), shared between the connected parts by their number of attributes. The first attempt
    /// always runs to its end.
    pub work: u64,
}

impl Default for OrderSearch {
    /// Our choice: past some hundred restarts the gain is small on problems that fit in memory,
    /// and the bound on the work keeps what follows the first attempt near 20 ms.
    fn default() -> Self {
        Self { seed: 0, restarts: 200, work: 4_000_000 }
    }
}

/// What the greedy choice minimises. A vertex that needs no fill scores 0 under both.
///
/// Tried and left out, because on random graphs of 30 to 100 attributes of mixed sizes their
/// restarts found worse orders: the table that a step needs, that table less the tables of its
/// pairs, the number of neighbours, the number of missing edges.
#[derive(Clone, Copy, Debug)]
enum Criterion {
    /// The cells of the message that the step leaves. Cheap, so it is the attempt that always runs.
    Message,
    /// The cells of the pairs that the step newly connects: min-fill weighted by size.
    Fill,
}

/// What a score and a step cost beyond the neighbours that they look at, in the same unit.
const SCORE_WORK: i64 = 8;
const STEP_WORK: i64 = 64;

impl Criterion {
    fn score(self, graph: &Graph, v: u32, work_left: &mut i64) -> f64 {
        let degree = graph.neighbours(v).len() as i64;
        match self {
            Criterion::Message => {
                *work_left -= SCORE_WORK + degree;
                if graph.is_simplicial(v) { 0.0 } else { graph.message_cells(v) }
            }
            Criterion::Fill => {
                *work_left -= SCORE_WORK + degree * degree;
                graph.fill_cells(v)
            }
        }
    }
}

const CRITERIA: [Criterion; 2] = [Criterion::Message, Criterion::Fill];

/// Restarts multiply each score by a factor drawn uniformly from 1 to 1 + spread. Our choice: on
/// random graphs, wide spreads found better orders than mere breaking of ties, more so on larger
/// ones; cycling through three was never far from the best.
const SPREADS: [f64; 3] = [3.0, 10.0, 30.0];

/// The steps of a good elimination of the whole graph.
///
/// First goes every vertex whose neighbours are pairwise adjacent, as long as there are any: each
/// triangulation has its clique, so this is never a mistake, and it finishes chordal graphs. What
/// is left falls into connected parts, each searched on its own.
pub(super) fn eliminate(mut graph: Graph, search: &OrderSearch) -> Vec<Step> {
    let mut steps = strip(&mut graph);
    let parts = graph.components();
    let vertices: usize = parts.iter().map(|(part, _)| part.len()).sum();
    for (index, (part, names)) in parts.into_iter().enumerate() {
        let mut random = ChaCha8Rng::seed_from_u64(search.seed);
        random.set_stream(index as u64);
        let work = search.work as u128 * part.len() as u128 / vertices as u128;
        let best = best_attempt(&part, search.restarts, work as u64, &mut random);
        steps.extend(best.into_iter().map(|step| step.renamed(&names)));
    }
    steps
}

/// Eliminates simplicial vertices until there are none.
fn strip(graph: &mut Graph) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut candidates: Vec<u32> = graph.vertices().rev().collect();
    while let Some(v) = candidates.pop() {
        if !graph.is_eliminated(v) && graph.is_simplicial(v) {
            let step = graph.eliminate(v);
            candidates.extend(&step.boundary);
            steps.push(step);
        }
    }
    steps
}

/// The steps with the fewest cells among the attempts that the work allows.
fn best_attempt(graph: &Graph, restarts: usize, work: u64, random: &mut ChaCha8Rng) -> Vec<Step> {
    let mut best = Vec::new();
    let mut best_cells = None;
    let mut work_left = i64::try_from(work).unwrap_or(i64::MAX);
    for count in 0..CRITERIA.len().saturating_add(restarts) {
        let criterion = CRITERIA[count % CRITERIA.len()];
        let round = count / CRITERIA.len();
        let perturb = |score| match round {
            0 => score,
            _ => score * (1.0 + SPREADS[round % SPREADS.len()] * random.random::<f64>()),
        };
        if let Some(steps) = attempt(graph, criterion, perturb, best_cells, &mut work_left) {
            let cells = tree_cells(graph.len(), &steps);
            if best_cells.is_none_or(|best_cells| cells < best_cells) {
                (best, best_cells) = (steps, Some(cells));
            }
        }
        if work_left <= 0 {
            break;
        }
    }
    best
}

/// Eliminates, again and again, the vertex with the smallest perturbed score. Given the cells of a
/// rival, gives up as soon as it cannot have fewer or when no work is left.
fn attempt(
    graph: &Graph,
    criterion: Criterion,
    mut perturb: impl FnMut(f64) -> f64,
    rival: Option<f64>,
    work_left: &mut i64,
) -> Option<Vec<Step>> {
    let mut graph = graph.clone();
    // Scores are not negative, so the order of their bits is their own.
    let mut key = |graph: &Graph, v: u32, work_left: &mut i64| {
        perturb(criterion.score(graph, v, work_left)).to_bits()
    };
    let mut keys: Vec<u64> = graph.vertices().map(|v| key(&graph, v, work_left)).collect();
    // A changed key is pushed anew; an entry that is not the current key has been overtaken.
    let mut queue: BinaryHeap<Reverse<(u64, u32)>> =
        graph.vertices().map(|v| Reverse((keys[v as usize], v))).collect();
    let mut steps: Vec<Step> = Vec::new();
    let mut certain_cells = 0.0;
    while let Some(Reverse((entry, v))) = queue.pop() {
        if graph.is_eliminated(v) || keys[v as usize] != entry {
            continue;
        }
        let step = graph.eliminate(v);
        let lengths = step.boundary.iter().map(|&u| graph.neighbours(u).len() as i64);
        *work_left -= STEP_WORK + lengths.sum::<i64>();
        let mut changed = step.boundary.clone();
        if step.filled {
            // The clique has an edge that no earlier one has, so it is maximal.
            certain_cells += step.cells;
            // New edges can also lie between the neighbours of a vertex further out.
            changed.extend(step.boundary.iter().flat_map(|&u| graph.neighbours(u)));
            changed.sort_unstable();
            changed.dedup();
        }
        for u in changed {
            keys[u as usize] = key(&graph, u, work_left);
            queue.push(Reverse((keys[u as usize], u)));
        }
        steps.push(step);
        if rival.is_some_and(|cells| certain_cells >= cells || *work_left <= 0) {
            return None;
        }
    }
    Some(steps)
}

/// The cells of all maximal cliques of an elimination.
fn tree_cells(vertices: usize, steps: &[Step]) -> f64 {
    let absorbers = absorbers(vertices, steps);
    steps.iter().zip(absorbers).filter(|(_, by)| by.is_none()).map(|(step, _)| step.cells).sum()
}
