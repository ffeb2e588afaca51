use std::iter;

use crate::domain::{AttributeId, Clique, Domain};

/// An undirected graph under vertex elimination.
///
/// Vertices are the numbers `0..len`. The size of a vertex is the number of values of its
/// attribute.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    sizes: Vec<f64>,
    /// Ascending, without eliminated vertices.
    neighbours: Vec<Vec<u32>>,
    eliminated: Vec<bool>,
}

/// One step of an elimination: the eliminated vertices and their remaining neighbours, which become
/// pairwise adjacent. Together they are a clique of the triangulated graph.
#[derive(Clone, Debug)]
pub(super) struct EliminationStep {
    /// The chosen vertex, then the vertices that were eliminated with it.
    pub(super) eliminated: Vec<u32>,
    /// The remaining neighbours, ascending.
    pub(super) boundary: Vec<u32>,
    /// The cells of a table over the clique.
    pub(super) cells: f64,
    /// Whether the step added fill edges.
    pub(super) filled: bool,
}

impl EliminationStep {
    /// The step of a model without attributes: its table has one cell.
    pub(super) fn empty() -> Self {
        Self { eliminated: Vec::new(), boundary: Vec::new(), cells: 1.0, filled: false }
    }

    /// The number of vertices of the clique.
    pub(super) fn len(&self) -> usize {
        self.eliminated.len() + self.boundary.len()
    }

    /// The same step with vertex `v` relabelled `labels[v]`; the labels ascend.
    pub(super) fn relabelled(mut self, labels: &[u32]) -> Self {
        for v in self.eliminated.iter_mut().chain(&mut self.boundary) {
            *v = labels[*v as usize];
        }
        self
    }
}

impl Graph {
    /// The graph in which the attributes of each clique are pairwise adjacent, and the attribute of
    /// each vertex. Attributes in no clique are not vertices.
    pub(super) fn of_cliques(domain: &Domain, cliques: &[Clique]) -> (Self, Vec<AttributeId>) {
        let mut vertex = vec![None; domain.len()];
        for id in cliques.iter().flat_map(Clique::iter) {
            vertex[id.index()] = Some(0);
        }
        let mut attributes = Vec::new();
        for (id, vertex) in domain.ids().zip(&mut vertex) {
            if let Some(number) = vertex {
                *number = attributes.len() as u32;
                attributes.push(id);
            }
        }
        let mut neighbours = vec![Vec::new(); attributes.len()];
        for clique in cliques {
            let members: Vec<u32> = clique.iter().filter_map(|id| vertex[id.index()]).collect();
            for &v in &members {
                neighbours[v as usize].extend(members.iter().filter(|&&u| u != v));
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let sizes = attributes.iter().map(|&id| domain.size(id) as f64).collect();
        (Self::new(sizes, neighbours), attributes)
    }

    fn new(sizes: Vec<f64>, neighbours: Vec<Vec<u32>>) -> Self {
        let eliminated = vec![false; sizes.len()];
        Self { sizes, neighbours, eliminated }
    }

    /// The number of vertices, eliminated ones included.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn vertices(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        0..self.len() as u32
    }

    pub(super) fn is_eliminated(&self, v: u32) -> bool {
        self.eliminated[v as usize]
    }

    pub(super) fn neighbours(&self, v: u32) -> &[u32] {
        &self.neighbours[v as usize]
    }

    /// The cells of a table over the neighbours of `v`: the message that eliminating `v` leaves.
    pub(super) fn message_cells(&self, v: u32) -> f64 {
        self.neighbours(v).iter().map(|&u| self.sizes[u as usize]).product()
    }

    /// The sum over the fill edges of `v`, the pairs of its neighbours that are not adjacent, of
    /// the cells of a table over the pair.
    pub(super) fn fill_cells(&self, v: u32) -> f64 {
        let around = self.neighbours(v);
        let mut cells = 0.0;
        for (index, &a) in around.iter().enumerate() {
            let mut beyond = self.neighbours(a);
            for &b in &around[index + 1..] {
                beyond = skip_below(beyond, b);
                if beyond.first() != Some(&b) {
                    cells += self.sizes[a as usize] * self.sizes[b as usize];
                }
            }
        }
        cells
    }

    /// Whether the neighbours of `v` are pairwise adjacent.
    pub(super) fn is_simplicial(&self, v: u32) -> bool {
        let around = self.neighbours(v);
        around.iter().all(|&u| {
            let beyond = self.neighbours(u);
            beyond.len() >= around.len() && contains_all_but(beyond, around, u)
        })
    }

    /// Makes the vertices, ascending, pairwise adjacent.
    pub(super) fn connect(&mut self, members: &[u32]) {
        for &v in members {
            let list = &mut self.neighbours[v as usize];
            *list = union(list, members.iter().copied().filter(|&u| u != v));
        }
    }

    /// Makes the neighbours of `v` pairwise adjacent and removes `v`. Also removes every neighbour
    /// without neighbours outside this clique, since its own clique would be a subset.
    pub(super) fn eliminate(&mut self, v: u32) -> EliminationStep {
        let cells = self.message_cells(v) * self.sizes[v as usize];
        let around = std::mem::take(&mut self.neighbours[v as usize]);
        let (absorbed, boundary): (Vec<u32>, Vec<u32>) = around.iter().partition(|&&u| {
            let beyond = self.neighbours(u);
            beyond.len() <= around.len() && contains_all_but(&around, beyond, v)
        });
        let eliminated: Vec<u32> = iter::once(v).chain(absorbed).collect();
        for &u in &eliminated {
            self.eliminated[u as usize] = true;
            self.neighbours[u as usize] = Vec::new();
        }
        let mut filled = false;
        for &u in &boundary {
            let mut list = std::mem::take(&mut self.neighbours[u as usize]);
            match (&eliminated[..], list.binary_search(&v)) {
                // The common case: one binary search, also if u has thousands of neighbours.
                ([_], Ok(position)) => _ = list.remove(position),
                _ => list.retain(|&w| !self.eliminated[w as usize]),
            }
            if !contains_all_but(&list, &boundary, u) {
                list = union(&list, boundary.iter().copied().filter(|&w| w != u));
                filled = true;
            }
            self.neighbours[u as usize] = list;
        }
        EliminationStep { eliminated, boundary, cells, filled }
    }

    /// The connected components of the remaining graph, each with the labels of its vertices in
    /// this graph, ascending.
    pub(super) fn components(&self) -> Vec<(Graph, Vec<u32>)> {
        let mut number = vec![None; self.len()];
        let mut components = Vec::new();
        for start in self.vertices() {
            if self.is_eliminated(start) || number[start as usize].is_some() {
                continue;
            }
            let mut members = vec![start];
            number[start as usize] = Some(0);
            let mut reached = 0;
            while let Some(&v) = members.get(reached) {
                reached += 1;
                for &u in self.neighbours(v) {
                    if number[u as usize].replace(0).is_none() {
                        members.push(u);
                    }
                }
            }
            members.sort_unstable();
            for (vertex, &v) in members.iter().enumerate() {
                number[v as usize] = Some(vertex as u32);
            }
            let renumbered = |v: &u32| -> Vec<u32> {
                self.neighbours(*v).iter().filter_map(|&u| number[u as usize]).collect()
            };
            let sizes = members.iter().map(|&v| self.sizes[v as usize]).collect();
            let neighbours = members.iter().map(renumbered).collect();
            components.push((Graph::new(sizes, neighbours), members));
        }
        components
    }
}

/// Whether the ascending list `all` contains every element of the ascending list `some` except
/// possibly `except`.
fn contains_all_but(all: &[u32], some: &[u32], except: u32) -> bool {
    let mut rest = all;
    some.iter().filter(|&&u| u != except).all(|&u| {
        rest = skip_below(rest, u);
        rest.first() == Some(&u)
    })
}

/// The suffix of an ascending list from the first element that is at least `least`. Exponential
/// search: the cost is logarithmic in the number of skipped elements.
fn skip_below(list: &[u32], least: u32) -> &[u32] {
    let mut end = 1;
    while end <= list.len() && list[end - 1] < least {
        end *= 2;
    }
    let start = end / 2;
    let stride = &list[start..end.min(list.len())];
    &list[start + stride.partition_point(|&u| u < least)..]
}

/// The union of an ascending list and an ascending sequence.
fn union(a: &[u32], b: impl Iterator<Item = u32>) -> Vec<u32> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.peekable());
    let mut union = Vec::with_capacity(a.len() + b.size_hint().1.unwrap_or(0));
    while let (Some(&x), Some(&y)) = (a.peek(), b.peek()) {
        let next = x.min(y);
        a.next_if_eq(&next);
        b.next_if_eq(&next);
        union.push(next);
    }
    union.extend(a.chain(b));
    union
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ascending() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::btree_set(0u32..120, 0..80).prop_map(Vec::from_iter)
    }

    proptest! {
        #[test]
        fn sorted_lists_agree_with_sets(a in ascending(), b in ascending(), pivot in 0u32..130) {
            let (a_set, b_set) = (BTreeSet::from_iter(a.clone()), BTreeSet::from_iter(b.clone()));
            prop_assert!(skip_below(&a, pivot).iter().eq(a_set.range(pivot..)));
            prop_assert!(union(&a, b.iter().copied()).iter().eq(a_set.union(&b_set)));
            let outside: Vec<&u32> = b_set.difference(&a_set).collect();
            prop_assert_eq!(contains_all_but(&a, &b, pivot), outside.iter().all(|&&u| u == pivot));
            if let [only] = outside[..] {
                prop_assert!(contains_all_but(&a, &b, *only));
            }
        }

        #[test]
        fn scores_agree_with_all_pairs_of_neighbours(
            sizes in prop::collection::vec(1usize..9, 12),
            pairs in prop::collection::vec((0u32..12, 0u32..12), 0..60),
        ) {
            let domain = Domain::new(sizes.iter().enumerate().map(|(i, &n)| (i.to_string(), n)));
            let cliques: Vec<Clique> = pairs
                .iter()
                .map(|&(a, b)| Clique::new([AttributeId(a), AttributeId(b)]))
                .collect();
            let (graph, _) = Graph::of_cliques(&domain.unwrap(), &cliques);
            for v in graph.vertices() {
                let around = graph.neighbours(v);
                let size = |u: u32| graph.sizes[u as usize];
                let missing: Vec<f64> = around
                    .iter()
                    .flat_map(|&a| around.iter().map(move |&b| (a, b)))
                    .filter(|&(a, b)| a < b && !graph.neighbours(a).contains(&b))
                    .map(|(a, b)| size(a) * size(b))
                    .collect();
                prop_assert_eq!(graph.fill_cells(v), missing.iter().sum::<f64>());
                prop_assert_eq!(graph.is_simplicial(v), missing.is_empty());
                let message: f64 = around.iter().map(|&u| size(u)).product();
                prop_assert_eq!(graph.message_cells(v), message);
            }
        }
    }
}
