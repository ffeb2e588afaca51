use std::cmp::Ordering;

use super::graph::EliminationStep;
use crate::domain::{AttributeId, Clique};

/// For each step of an elimination, an earlier step whose clique contains its own, if any. The
/// cliques of the steps without one are the maximal cliques of the triangulated graph.
pub(super) fn absorbers(vertices: usize, steps: &[EliminationStep]) -> Vec<Option<usize>> {
    let mut absorbers = vec![None; steps.len()];
    for (index, parent) in step_parents(vertices, steps).into_iter().enumerate() {
        // The boundary is a subset of the parent's clique: equal sizes mean equal sets.
        if let Some(parent) = parent
            && steps[index].boundary.len() == steps[parent].len()
        {
            absorbers[parent].get_or_insert(index);
        }
    }
    absorbers
}

/// The elimination tree: the parent of a step is the first step that eliminates a vertex of its
/// boundary.
fn step_parents(vertices: usize, steps: &[EliminationStep]) -> Vec<Option<usize>> {
    let mut step_of = vec![0; vertices];
    for (index, step) in steps.iter().enumerate() {
        for &v in &step.eliminated {
            step_of[v as usize] = index;
        }
    }
    steps.iter().map(|step| step.boundary.iter().map(|&v| step_of[v as usize]).min()).collect()
}

/// Maximal cliques with the edges of a junction forest.
pub(super) struct Forest {
    pub(super) cliques: Vec<Clique>,
    pub(super) cells: Vec<f64>,
    edges: Vec<Edge>,
}

struct Edge {
    separator: Clique,
    ends: [usize; 2],
}

impl Forest {
    /// The junction forest of an elimination; `attributes[v]` is the attribute of vertex `v`.
    ///
    /// Contracting the elimination tree onto the maximal cliques gives a junction tree per
    /// connected component, that is, a spanning tree of maximum total separator size. Cost: linear
    /// in the sizes of the cliques, apart from [`Forest::attach_to_smallest`].
    pub(super) fn new(attributes: &[AttributeId], steps: &[EliminationStep]) -> Self {
        let vertices = attributes.len();
        let attribute = |&v: &u32| attributes[v as usize];
        let absorbers = absorbers(vertices, steps);
        let (mut cliques, mut cells) = (Vec::new(), Vec::new());
        let mut node_of: Vec<usize> = Vec::with_capacity(steps.len());
        for (step, absorber) in steps.iter().zip(absorbers) {
            node_of.push(match absorber {
                Some(earlier) => node_of[earlier],
                None => {
                    let members = step.eliminated.iter().chain(&step.boundary);
                    cliques.push(members.map(attribute).collect());
                    cells.push(step.cells);
                    cliques.len() - 1
                }
            });
        }
        let mut edges = Vec::new();
        for (index, parent) in step_parents(vertices, steps).into_iter().enumerate() {
            if let Some(parent) = parent
                && node_of[index] != node_of[parent]
            {
                let separator = steps[index].boundary.iter().map(attribute).collect();
                edges.push(Edge { separator, ends: [node_of[index], node_of[parent]] });
            }
        }
        let mut forest = Self { cliques, cells, edges };
        forest.attach_to_smallest();
        forest
    }

    /// Replaces the edges by those of the junction tree with the fewest cells, summed over both
    /// ends of every edge: message passing visits a clique's table once per neighbour.
    ///
    /// All junction trees of these cliques have the same separators, and strictly larger separators
    /// connect the same groups of cliques in all of them. The edges of one separator S can
    /// therefore be chosen independently of the others. Among the groups of cliques that contain S
    /// and are connected by larger separators, every group attaches with its smallest clique to the
    /// smallest clique of all groups. Reference: Jensen, Jensen, Optimal junction trees, UAI 1994.
    fn attach_to_smallest(&mut self) {
        let mut edges_at = vec![Vec::new(); self.cliques.len()];
        for (index, edge) in self.edges.iter().enumerate() {
            edge.ends.iter().for_each(|&end| edges_at[end].push(index));
        }
        let mut by_separator: Vec<usize> = (0..self.edges.len()).collect();
        by_separator.sort_by_key(|&edge| &self.edges[edge].separator);
        let mut ends: Vec<[usize; 2]> = self.edges.iter().map(|edge| edge.ends).collect();
        let mut visited_for = vec![None; self.cliques.len()];
        for same in
            by_separator.chunk_by(|&a, &b| self.edges[a].separator == self.edges[b].separator)
        {
            let separator = &self.edges[same[0]].separator;
            let mut smallest = Vec::new();
            for start in same.iter().flat_map(|&edge| self.edges[edge].ends) {
                if visited_for[start] != Some(separator) {
                    let group = self.group(start, separator, &edges_at, &mut visited_for);
                    smallest.extend(group.into_iter().min_by(|&a, &b| self.by_cells(a, b)));
                }
            }
            smallest.sort_by(|&a, &b| self.by_cells(a, b));
            for (&edge, &clique) in same.iter().zip(&smallest[1..]) {
                ends[edge] = [smallest[0], clique];
            }
        }
        for (edge, ends) in self.edges.iter_mut().zip(ends) {
            edge.ends = ends;
        }
    }

    /// The cliques that strict supersets of `separator` connect to the clique `start`. Marks them
    /// as visited.
    fn group<'a>(
        &self,
        start: usize,
        separator: &'a Clique,
        edges_at: &[Vec<usize>],
        visited_for: &mut [Option<&'a Clique>],
    ) -> Vec<usize> {
        visited_for[start] = Some(separator);
        let mut group = vec![start];
        let mut expanded = 0;
        while let Some(&node) = group.get(expanded) {
            expanded += 1;
            for edge in edges_at[node].iter().map(|&edge| &self.edges[edge]) {
                let other = edge.ends[0] + edge.ends[1] - node;
                if visited_for[other] != Some(separator)
                    && edge.separator.len() > separator.len()
                    && separator.is_subset(&edge.separator)
                {
                    visited_for[other] = Some(separator);
                    group.push(other);
                }
            }
        }
        group
    }

    fn by_cells(&self, a: usize, b: usize) -> Ordering {
        self.cells[a].total_cmp(&self.cells[b]).then(a.cmp(&b))
    }

    /// The adjacency lists of the forest, ascending.
    pub(super) fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.cliques.len()];
        for [a, b] in self.edges.iter().map(|edge| edge.ends) {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        neighbours
    }
}
