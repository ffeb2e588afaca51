use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::junction_tree::{JunctionTree, OrderSearch};

use crate::mechanism::support::bayesian_network::Family;

/// Limits the size of the graphical model of a network: decides which attributes may be the parents
/// of one child.
///
/// Families are cliques of the model, and small cliques do not imply a small junction tree. The
/// decision depends on the families selected before, which are published, and never on the data.
pub(super) struct ModelSize<'a> {
    domain: &'a Domain,
    tree: JunctionTree,
    cells: f64,
    limit: f64,
    /// Whether a pair of attributes may be in one clique.
    pairs: Vec<bool>,
}

impl<'a> ModelSize<'a> {
    /// For a network with these families and a junction tree of at most `limit` cells.
    ///
    /// Cost: a search in the junction tree per pair of attributes, unless the tree is so small that
    /// no pair can make it too large.
    pub(super) fn new(domain: &'a Domain, families: &[Family], limit: usize) -> Self {
        let cliques: Vec<Clique> = families.iter().map(Family::clique).collect();
        // Greedy orders only, because this is called at every step.
        let search = OrderSearch { restarts: 0, ..OrderSearch::default() };
        let tree = JunctionTree::with_search(domain, &cliques, &search);
        let cells = tree.size().cells;
        let limit = cells.max(limit as f64);
        let mut model =
            Self { domain, tree, cells, limit, pairs: vec![true; domain.len() * domain.len()] };
        for (place, one) in families.iter().enumerate() {
            for other in &families[..place] {
                let (a, b) = (one.child, other.child);
                let fits = model.fits(&[a, b]);
                model.pairs[a.index() * domain.len() + b.index()] = fits;
                model.pairs[b.index() * domain.len() + a.index()] = fits;
            }
        }
        model
    }

    /// Whether these attributes may be in one clique: each pair of them, and all together, without
    /// a junction tree larger than the limit. Attributes that are already in one clique always may.
    pub(super) fn allows(&self, set: &[AttributeId]) -> bool {
        let may =
            |a: AttributeId, b: AttributeId| self.pairs[a.index() * self.domain.len() + b.index()];
        let in_pairs = set.iter().enumerate().all(|(i, &a)| set[..i].iter().all(|&b| may(a, b)));
        in_pairs && (set.len() <= 2 || self.fits(set))
    }

    /// Whether the tree stays within the limit with the set in one clique.
    fn fits(&self, set: &[AttributeId]) -> bool {
        // No clique grows by more than the whole set.
        let sizes: f64 = set.iter().map(|&id| self.domain.size(id) as f64).product();
        self.cells * sizes <= self.limit || self.cells_with(set) <= self.limit
    }

    /// The cells of a junction tree with the set in one of its cliques, derived from this one.
    /// Starting at a clique that contains the attributes so far, every clique on the path to the
    /// next attribute takes it in. That preserves the running intersection property. The result
    /// need not be the smallest such tree.
    fn cells_with(&self, set: &[AttributeId]) -> f64 {
        let home = set.first().and_then(|&first| self.tree.containing(first).first());
        let Some(&(mut home)) = home else { return self.cells };
        let mut grown: Vec<(usize, f64)> = Vec::new();
        for (joined, &id) in set.iter().enumerate().skip(1) {
            let path = self.path(home, id);
            let together = |&index: &usize| {
                set[..joined].iter().all(|&other| self.tree.cliques()[index].contains(other))
            };
            // The last clique on the path that contains all attributes so far.
            let start = path.iter().rposition(together).unwrap_or(0);
            for &index in &path[start..] {
                if self.tree.cliques()[index].contains(id) {
                    continue;
                }
                let size = self.domain.size(id) as f64;
                match grown.iter_mut().find(|(other, _)| *other == index) {
                    Some((_, factor)) => *factor *= size,
                    None => grown.push((index, size)),
                }
            }
            home = path[start];
        }
        let more = grown.iter().map(|&(index, factor)| self.tree.cells(index) * (factor - 1.0));
        self.cells + more.sum::<f64>()
    }

    /// The cliques from `home` to the nearest one with the attribute. `home` alone if its component
    /// does not have the attribute.
    fn path(&self, home: usize, id: AttributeId) -> Vec<usize> {
        let mut reached: Vec<(usize, Option<usize>)> = vec![(home, None)];
        let mut next = 0;
        while let Some(&(clique, from)) = reached.get(next) {
            if self.tree.cliques()[clique].contains(id) {
                let back = std::iter::successors(Some(next), |&place| reached[place].1);
                let mut path: Vec<usize> = back.map(|place| reached[place].0).collect();
                path.reverse();
                return path;
            }
            let came_from = from.map(|place| reached[place].0);
            let onward = self.tree.neighbours(clique).iter().filter(|&&n| Some(n) != came_from);
            reached.extend(onward.map(|&neighbour| (neighbour, Some(next))));
            next += 1;
        }
        vec![home]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain a - b - c - d - e of pairs, and a separate f; all with 3 values.
    fn chain(limit: usize) -> (Domain, Vec<Family>, usize) {
        let domain = Domain::new(["a", "b", "c", "d", "e", "f"].map(|name| (name, 3))).unwrap();
        let ids: Vec<AttributeId> = domain.ids().collect();
        let family = |child: usize, parents: &[usize]| Family {
            child: ids[child],
            parents: parents.iter().map(|&parent| ids[parent]).collect(),
        };
        let families = vec![
            family(0, &[]),
            family(1, &[0]),
            family(2, &[1]),
            family(3, &[2]),
            family(4, &[3]),
            family(5, &[]),
        ];
        (domain, families, limit)
    }

    fn allows(limit: usize, set: &[usize]) -> bool {
        let (domain, families, limit) = chain(limit);
        let ids: Vec<AttributeId> = domain.ids().collect();
        let set: Vec<AttributeId> = set.iter().map(|&place| ids[place]).collect();
        ModelSize::new(&domain, &families, limit).allows(&set)
    }

    #[test]
    fn a_set_inside_a_clique_costs_nothing() {
        assert!(allows(0, &[]) && allows(0, &[3]) && allows(0, &[2, 3]));
        assert!(!allows(0, &[0, 2]) && !allows(0, &[2, 3, 4]));
    }

    #[test]
    fn the_ends_of_a_chain_are_joined_through_all_of_it() {
        // ab, bc, cd, de and f have 4 * 9 + 3 cells; e joins ab, bc and cd, three times 9 -> 27.
        assert!(allows(93, &[0, 4]) && !allows(92, &[0, 4]));
        // c joins ab.
        assert!(allows(57, &[0, 2]) && !allows(56, &[0, 2]));
        // a joins f, which is separate.
        assert!(allows(45, &[0, 5]) && !allows(44, &[0, 5]));
        // Three at once: c and d join ab, 9 -> 81, and d joins bc, 9 -> 27.
        assert!(allows(129, &[0, 2, 3]) && !allows(128, &[0, 2, 3]));
    }

    #[test]
    fn an_allowed_set_has_a_junction_tree_within_the_limit() {
        let (domain, mut families, limit) = chain(93);
        let ids: Vec<AttributeId> = domain.ids().collect();
        assert!(ModelSize::new(&domain, &families, limit).allows(&[ids[0], ids[4]]));
        families.push(Family { child: ids[0], parents: Clique::new([ids[4]]) });
        let cliques: Vec<Clique> = families.iter().map(Family::clique).collect();
        assert!(JunctionTree::new(&domain, &cliques).size().cells <= 93.0);
    }
}
