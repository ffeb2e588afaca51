use std::collections::HashSet;

use crate::domain::Clique;

/// Finds the cliques that contain a given one without scanning all of them.
pub(super) struct CliqueIndex<'a> {
    cliques: &'a [Clique],
    /// For each attribute, the cliques that contain it, ascending.
    by_attribute: Vec<Vec<usize>>,
}

impl<'a> CliqueIndex<'a> {
    pub(super) fn new(cliques: &'a [Clique]) -> Self {
        let mut by_attribute: Vec<Vec<usize>> = Vec::new();
        for (index, clique) in cliques.iter().enumerate() {
            for id in clique.iter() {
                if by_attribute.len() <= id.index() {
                    by_attribute.resize_with(id.index() + 1, Vec::new);
                }
                by_attribute[id.index()].push(index);
            }
        }
        Self { cliques, by_attribute }
    }

    /// The cliques that contain `clique`, ascending. Scans the cliques that contain its rarest
    /// attribute.
    pub(super) fn containing(&self, clique: &Clique) -> Vec<usize> {
        let contains = |index: &usize| clique.is_subset(&self.cliques[*index]);
        if clique.is_empty() {
            return (0..self.cliques.len()).collect();
        }
        let lists = clique.iter().map(|id| self.by_attribute.get(id.index()));
        let rarest = lists.min_by_key(|list| list.map_or(0, Vec::len)).flatten();
        rarest.into_iter().flatten().copied().filter(contains).collect()
    }
}

/// The cliques that no other clique contains, without repetition, in the order of their first
/// appearance: the smallest collection whose marginals determine those of all `cliques`.
pub fn maximal_cliques<'a>(cliques: impl IntoIterator<Item = &'a Clique>) -> Vec<Clique> {
    let mut seen = HashSet::new();
    let distinct: Vec<Clique> =
        cliques.into_iter().filter(|&clique| seen.insert(clique)).cloned().collect();
    let index = CliqueIndex::new(&distinct);
    // Every clique contains the empty one, which the index would return in full.
    let is_maximal = |clique: &&Clique| match clique.is_empty() {
        true => distinct.len() == 1,
        false => index.containing(clique).len() == 1,
    };
    distinct.iter().filter(is_maximal).cloned().collect()
}
