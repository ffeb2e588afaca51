use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::forest::absorbers;
use super::graph::{EliminationStep, Graph};

/// The effort of the search for an elimination order. Equal settings give equal orders on every
/// machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSearch {
    /// The seed of the randomised restarts.
    pub seed: u64,
    /// The number of randomised restarts per connected component, after one greedy search per
    /// criterion. A chordal graph needs none.
    pub restarts: usize,
    /// An upper bound on the total work, in visited pairs of adjacent vertices (a few nanoseconds
    /// each). Components share it in proportion to their number of attributes. The first greedy
    /// search of a component always completes.
    pub work: u64,
}

impl Default for OrderSearch {
    /// Our choice: beyond a few hundred restarts the gain is small on problems that fit in memory.
    /// The bound on the work limits the search to about 20 ms after the first greedy order.
    fn default() -> Self {
        Self { seed: 0, restarts: 200, work: 4_000_000 }
    }
}

/// The score that the greedy choice minimises. A vertex that needs no fill scores 0.
///
/// Rejected, because their restarts found worse orders on random graphs of 30 to 100 attributes of
/// mixed sizes: the cells of the step's table, these minus the cells of its pairs, the number of
/// neighbours, the number of fill edges.
#[derive(Clone, Copy, Debug)]
enum Criterion {
    /// The cells of the message that the step leaves. Cheap to compute, so it comes first.
    Message,
    /// The sum of the cells of all fill edges: min-fill weighted by size.
    Fill,
}

/// The fixed work of one score and of one step, in the unit of [`OrderSearch::work`].
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

/// Restarts multiply each score by a factor that is uniform on [1, 1 + spread]. Our choice: on
/// random graphs wide spreads found better orders than random tie-breaking, more so on larger
/// graphs, and cycling through three spreads was close to the best single one.
const SPREADS: [f64; 3] = [3.0, 10.0, 30.0];

/// The steps of a cheap elimination of the whole graph.
///
/// Simplicial vertices are eliminated first. Every triangulation contains their cliques, so this
/// keeps an optimal order possible, and it completes chordal graphs. The connected components of
/// the remaining graph are searched separately.
pub(super) fn eliminate(mut graph: Graph, search: &OrderSearch) -> Vec<EliminationStep> {
    let mut steps = eliminate_simplicial(&mut graph);
    let components = graph.components();
    let vertices: usize = components.iter().map(|(component, _)| component.len()).sum();
    for (index, (component, labels)) in components.into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(search.seed);
        rng.set_stream(index as u64);
        let work = search.work as u128 * component.len() as u128 / vertices as u128;
        let best = best_order(&component, search.restarts, work as u64, &mut rng);
        steps.extend(best.into_iter().map(|step| step.relabelled(&labels)));
    }
    steps
}

/// Eliminates simplicial vertices until none is left.
fn eliminate_simplicial(graph: &mut Graph) -> Vec<EliminationStep> {
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

/// The order with the fewest cells among the greedy searches and restarts that the work allows.
fn best_order(
    graph: &Graph,
    restarts: usize,
    work: u64,
    rng: &mut ChaCha8Rng,
) -> Vec<EliminationStep> {
    let mut best = Vec::new();
    let mut best_cells = None;
    let mut work_left = i64::try_from(work).unwrap_or(i64::MAX);
    for count in 0..CRITERIA.len().saturating_add(restarts) {
        let criterion = CRITERIA[count % CRITERIA.len()];
        let round = count / CRITERIA.len();
        let perturb = |score| match round {
            0 => score,
            _ => score * (1.0 + SPREADS[round % SPREADS.len()] * rng.random::<f64>()),
        };
        if let Some(steps) = greedy_order(graph, criterion, perturb, best_cells, &mut work_left) {
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

/// Eliminates the vertex with the smallest perturbed score until none is left. With an `incumbent`,
/// the cells of the best order so far, returns `None` as soon as this order cannot have fewer cells
/// or no work is left.
fn greedy_order(
    graph: &Graph,
    criterion: Criterion,
    mut perturb: impl FnMut(f64) -> f64,
    incumbent: Option<f64>,
    work_left: &mut i64,
) -> Option<Vec<EliminationStep>> {
    let mut graph = graph.clone();
    // Non-negative floats compare like their bits.
    let mut key = |graph: &Graph, v: u32, work_left: &mut i64| {
        perturb(criterion.score(graph, v, work_left)).to_bits()
    };
    let mut keys: Vec<u64> = graph.vertices().map(|v| key(&graph, v, work_left)).collect();
    // A changed key is pushed again; an entry that differs from the current key is stale.
    let mut queue: BinaryHeap<Reverse<(u64, u32)>> =
        graph.vertices().map(|v| Reverse((keys[v as usize], v))).collect();
    let mut steps: Vec<EliminationStep> = Vec::new();
    // A lower bound on the cells of the maximal cliques.
    let mut cells_bound = 0.0;
    while let Some(Reverse((entry, v))) = queue.pop() {
        if graph.is_eliminated(v) || keys[v as usize] != entry {
            continue;
        }
        let step = graph.eliminate(v);
        let lengths = step.boundary.iter().map(|&u| graph.neighbours(u).len() as i64);
        *work_left -= STEP_WORK + lengths.sum::<i64>();
        let mut changed = step.boundary.clone();
        if step.filled {
            // The clique has an edge that no earlier clique has, so it is maximal.
            cells_bound += step.cells;
            // A fill edge can join two neighbours of a vertex outside the boundary.
            changed.extend(step.boundary.iter().flat_map(|&u| graph.neighbours(u)));
            changed.sort_unstable();
            changed.dedup();
        }
        for u in changed {
            keys[u as usize] = key(&graph, u, work_left);
            queue.push(Reverse((keys[u as usize], u)));
        }
        steps.push(step);
        if incumbent.is_some_and(|cells| cells_bound >= cells || *work_left <= 0) {
            return None;
        }
    }
    Some(steps)
}

/// The total number of cells of the maximal cliques of an elimination.
pub(super) fn tree_cells(vertices: usize, steps: &[EliminationStep]) -> f64 {
    let absorbers = absorbers(vertices, steps);
    steps.iter().zip(absorbers).filter(|(_, by)| by.is_none()).map(|(step, _)| step.cells).sum()
}
