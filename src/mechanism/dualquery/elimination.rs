use rand::{Rng, RngExt};

use super::order::Order;
use super::payoff::Payoff;
use super::record::Ties;
use private_pgm::domain::{Clique, Domain};
use private_pgm::junction_tree::{JunctionTree, OrderSearch};
use private_pgm::numeric::strided::{Projection, for_each_offset, row_major_strides};

/// Max-sum variable elimination, with traceback.
///
/// Upwards over the junction tree of the payoff's cliques, each clique tells its parent the largest
/// payoff below it for every value of what they share, and in how many ways it is attained (in real
/// values, not in classes). Downwards each clique draws its cell among those that attain it, by
/// their ways, so that the result is uniform over all records of the largest payoff, whatever the
/// tree.
///
/// Payoffs are sums of whole numbers, so that ties are exact. Costs a few passes over the cells of
/// the tree, twice 8 bytes each; the first of all records takes them again for every so many
/// attributes ([`Order`]).
pub(super) struct Elimination<'a> {
    payoff: &'a Payoff,
    tree: JunctionTree,
}

/// A new tree in each round, small and used once: our choice, a tenth of the usual search.
const SEARCH: OrderSearch = OrderSearch { seed: 0, restarts: 20, work: 400_000 };

impl<'a> Elimination<'a> {
    /// The elimination, unless its tables take more than `memory_limit` bytes.
    pub(super) fn new(payoff: &'a Payoff, memory_limit: u64) -> Option<Self> {
        let cliques: Vec<Clique> = payoff.tables.iter().map(|(clique, _)| clique.clone()).collect();
        let tree = JunctionTree::with_search(&payoff.domain, &cliques, &SEARCH);
        (3.0 * tree.size().bytes() <= memory_limit as f64).then_some(Self { payoff, tree })
    }

    /// A class for each attribute, of the largest payoff.
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

    /// Any of the best by the payoff and what is preferred beside it, tables over single attributes.
    fn draw_all(&self, preferred: &[(Clique, Vec<f64>)], rng: &mut impl Rng) -> Vec<usize> {
        let ways = self.upwards(preferred);
        let mut chosen = vec![0; self.payoff.domain.len()];
        for index in (0..self.tree.len()).rev() {
            self.draw(index, &ways[index], &mut chosen, rng);
        }
        chosen
    }

    /// For each clique, in how many ways each cell attains the best of those that agree with it on
    /// what the clique shares with its parent; up to a factor, and 0 where it does not.
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
            // What each cell lacks of the best; those that lack something have no ways.
            projection.broadcast(&largest, &mut best[index], |payoff, largest| *payoff -= largest);
            for (ways, lack) in ways[index].iter_mut().zip(std::mem::take(&mut best[index])) {
                *ways = if lack == 0.0 { *ways } else { 0.0 };
            }
            let Some(parent) = parent else { continue };
            let mut together = vec![0.0; largest.len()];
            projection.sum(&ways[index], &mut together);
            // Only proportions matter; long chains of large attributes would overflow.
            let most = together.iter().copied().fold(0.0, f64::max);
            together.iter_mut().for_each(|ways| *ways /= most);
            let upper = onto(domain, &self.tree.cliques()[parent], &shared);
            upper.broadcast(&largest, &mut best[parent], |payoff, message| *payoff += message);
            upper.broadcast(&together, &mut ways[parent], |ways, message| *ways *= message);
        }
        ways
    }

    /// Draws a cell of a clique, by its ways, among those that agree with what its parent chose.
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
            // The last cell with any ways is taken when rounding leaves something over.
            if here > 0.0 && left >= 0.0 {
                left -= here;
                drawn = Some(fixed + offset);
            }
        });
        let drawn = drawn.expect("the best is attained somewhere");
        for axis in free {
            chosen[clique.as_slice()[axis].index()] = drawn / strides[axis] % shape[axis];
        }
    }
}

/// From a table over `clique` to one over its subset `kept`.
fn onto(domain: &Domain, clique: &Clique, kept: &Clique) -> Projection {
    let kept: Vec<bool> = clique.iter().map(|id| kept.contains(id)).collect();
    Projection::new(&domain.shape(clique), &kept)
}
