use rand::{Rng, RngExt};

use super::order::Order;
use super::payoff::Payoff;
use super::record::Ties;
use private_pgm::domain::{Clique, Domain};
use private_pgm::junction_tree::{JunctionTree, OrderSearch};
use private_pgm::numeric::strided::{Projection, for_each_offset, row_major_strides};

/// Max-sum variable elimination with traceback.
///
/// The upward pass over the junction tree of the payoff's cliques sends, from each clique to its
/// parent, the largest payoff below it for every value of the separator, and the number of
/// assignments that attain it (counted in values, not in classes). The downward pass samples the
/// cell of each clique in proportion to these numbers. The result is uniform over all records of
/// the largest payoff, for any tree.
///
/// Payoffs are sums of integers, so ties are exact. The cost is a few passes over the cells of the
/// tree, and 16 bytes per cell. [`Ties::First`] repeats the passes for each group of attributes
/// ([`Order`]).
pub(super) struct Elimination<'a> {
    payoff: &'a Payoff,
    tree: JunctionTree,
}

/// Every round has a new, small tree that is used once. Our choice: a tenth of the default search.
const SEARCH: OrderSearch = OrderSearch { seed: 0, restarts: 20, work: 400_000 };

impl<'a> Elimination<'a> {
    /// `None` if the tables need more than `memory_limit` bytes.
    pub(super) fn new(payoff: &'a Payoff, memory_limit: u64) -> Option<Self> {
        let cliques: Vec<Clique> = payoff.tables.iter().map(|(clique, _)| clique.clone()).collect();
        let tree = JunctionTree::with_search(&payoff.domain, &cliques, &SEARCH);
        (3.0 * tree.size().bytes() <= memory_limit as f64).then_some(Self { payoff, tree })
    }

    /// A class per attribute, of the largest payoff.
    pub(super) fn run(&self, ties: Ties, rng: &mut impl Rng) -> Vec<usize> {
        match ties {
            Ties::Random => self.draw_all(&[], rng),
            Ties::First => {
                let mut order = Order::new(self.payoff);
                let mut chosen = self.draw_all(&order.preferences(), rng);
                while order.hold(&chosen) {
                    chosen = self.draw_all(&order.preferences(), rng);
                }
                chosen
            }
        }
    }

    /// Samples among the best by the sum of the payoff and `preferred`, tables over single
    /// attributes.
    fn draw_all(&self, preferred: &[(Clique, Vec<f64>)], rng: &mut impl Rng) -> Vec<usize> {
        let ways = self.upwards(preferred);
        let mut chosen = vec![0; self.payoff.domain.len()];
        for index in (0..self.tree.len()).rev() {
            self.draw(index, &ways[index], &mut chosen, rng);
        }
        chosen
    }

    /// For each clique and cell: the number of assignments below it, if it attains the best among
    /// the cells that agree with it on the separator to the parent, otherwise 0. Up to a factor per
    /// clique.
    fn upwards(&self, preferred: &[(Clique, Vec<f64>)]) -> Vec<Vec<f64>> {
        let domain = &self.payoff.domain;
        let cells = |index: usize| self.tree.cells(index) as usize;
        let mut best: Vec<Vec<f64>> =
            (0..self.tree.len()).map(|index| vec![0.0; cells(index)]).collect();
        let mut ways: Vec<Vec<f64>> = best.iter().map(|table| vec![1.0; table.len()]).collect();
        for (clique, table) in self.payoff.tables.iter().chain(preferred) {
            let holds = |index: &usize| clique.is_subset(&self.tree.cliques()[*index]);
            let index = (0..self.tree.len()).find(holds).expect("the tree covers every clique");
            let projection = onto(domain, &self.tree.cliques()[index], clique);
            projection.broadcast(table, &mut best[index], |sum, payoff| *sum += payoff);
        }
        for index in 0..self.tree.len() {
            let clique = &self.tree.cliques()[index];
            let parent = self.tree.parent(index);
            let shared =
                parent.map_or_else(Clique::empty, |parent| self.tree.separator(index, parent));
            for id in clique.minus(&shared).iter() {
                let sizes: Vec<f64> = self.payoff.class_sizes(id).collect();
                let projection = onto(domain, clique, &Clique::new([id]));
                projection.broadcast(&sizes, &mut ways[index], |ways, size| *ways *= size);
            }
            let projection = onto(domain, clique, &shared);
            let mut largest = vec![0.0; projection.small_len()];
            projection.max(&best[index], &mut largest);
            // The difference from the best. Cells below the best count 0.
            projection.broadcast(&largest, &mut best[index], |payoff, largest| *payoff -= largest);
            for (ways, lack) in ways[index].iter_mut().zip(std::mem::take(&mut best[index])) {
                *ways = if lack == 0.0 { *ways } else { 0.0 };
            }
            let Some(parent) = parent else { continue };
            let mut together = vec![0.0; largest.len()];
            projection.sum(&ways[index], &mut together);
            // Only proportions matter. Without scaling, long chains of large attributes would
            // overflow.
            let most = together.iter().copied().fold(0.0, f64::max);
            together.iter_mut().for_each(|ways| *ways /= most);
            let upper = onto(domain, &self.tree.cliques()[parent], &shared);
            upper.broadcast(&largest, &mut best[parent], |payoff, message| *payoff += message);
            upper.broadcast(&together, &mut ways[parent], |ways, message| *ways *= message);
        }
        ways
    }

    /// Samples a cell of a clique among those that agree with the choice of its parent, in
    /// proportion to `ways`.
    fn draw(&self, index: usize, ways: &[f64], chosen: &mut [usize], rng: &mut impl Rng) {
        let domain = &self.payoff.domain;
        let clique = &self.tree.cliques()[index];
        let (shape, strides) = (domain.shape(clique), row_major_strides(&domain.shape(clique)));
        let shared = self
            .tree
            .parent(index)
            .map_or_else(Clique::empty, |parent| self.tree.separator(index, parent));
        let is_free = |axis: &usize| !shared.contains(clique.as_slice()[*axis]);
        let free: Vec<usize> = (0..clique.len()).filter(is_free).collect();
        let fixed: usize = (0..clique.len())
            .filter(|axis| !is_free(axis))
            .map(|axis| strides[axis] * chosen[clique.as_slice()[axis].index()])
            .sum();
        let free_shape: Vec<usize> = free.iter().map(|&axis| shape[axis]).collect();
        let free_strides: Vec<usize> = free.iter().map(|&axis| strides[axis]).collect();
        let mut total = 0.0;
        for_each_offset(&free_shape, &free_strides, |_, offset| total += ways[fixed + offset]);
        let mut left = total * rng.random::<f64>();
        let mut drawn = None;
        for_each_offset(&free_shape, &free_strides, |_, offset| {
            let here = ways[fixed + offset];
            // After rounding, some weight may remain at the end. Then the last possible cell is
            // taken.
            if here > 0.0 && left >= 0.0 {
                left -= here;
                drawn = Some(fixed + offset);
            }
        });
        let drawn = drawn.expect("some cell attains the best");
        for axis in free {
            chosen[clique.as_slice()[axis].index()] = drawn / strides[axis] % shape[axis];
        }
    }
}

/// The projection from a table over `clique` to one over its subset `kept`.
fn onto(domain: &Domain, clique: &Clique, kept: &Clique) -> Projection {
    let kept: Vec<bool> = clique.iter().map(|id| kept.contains(id)).collect();
    Projection::new(&domain.shape(clique), &kept)
}
