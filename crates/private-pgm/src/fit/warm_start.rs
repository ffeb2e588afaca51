use std::collections::HashMap;
use std::sync::Arc;

use crate::factor::Potentials;
use crate::model::Model;
use crate::numeric::strided::Projection;

/// Adds each of the model's tables to the first one of `start` that has all its attributes, where
/// it is finite.
///
/// Tables whose attributes no table of `start` has, in the same order and of the same sizes, are
/// left out. Without such tables and without zeros, the start is the model itself.
pub(super) fn start_from(model: &Model, start: &mut Potentials) {
    let layout = Arc::clone(start.layout());
    let mut having: HashMap<&str, Vec<usize>> = HashMap::new();
    for (table, clique) in layout.cliques().iter().enumerate() {
        for name in layout.domain().names(clique) {
            having.entry(name).or_default().push(table);
        }
    }
    for (index, clique) in model.layout().cliques().iter().enumerate() {
        let (names, shape) = (model.domain().names(clique), model.domain().shape(clique));
        let tables = names.first().and_then(|name| having.get(name)).into_iter().flatten();
        for &table in tables {
            let larger = &layout.cliques()[table];
            let (all, sizes) = (layout.domain().names(larger), layout.domain().shape(larger));
            let shared: Vec<bool> = all.iter().map(|name| names.contains(name)).collect();
            let kept = all.iter().zip(&sizes).zip(&shared).filter(|(_, shared)| **shared);
            // In the same order, too.
            if kept.map(|(attribute, _)| attribute).eq(names.iter().zip(&shape)) {
                let from = model.potentials().table(index);
                let add = |cell: &mut f64, potential: f64| {
                    *cell += if potential.is_finite() { potential } else { 0.0 };
                };
                Projection::new(&sizes, &shared).broadcast(from, start.table_mut(table), add);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Clique, Domain};
    use crate::factor::CliqueLayout;

    fn domain(attributes: &[(&str, usize)]) -> Domain {
        Domain::new(attributes.iter().map(|&(name, size)| (name.to_owned(), size))).unwrap()
    }

    fn potentials(domain: &Domain, cliques: &[&[&str]]) -> Potentials {
        let clique = |names: &&[&str]| -> Clique {
            names.iter().map(|name| domain.id(name).unwrap()).collect()
        };
        Potentials::zeros(&CliqueLayout::new(domain.clone(), cliques.iter().map(clique).collect()))
    }

    #[test]
    fn tables_begin_in_the_first_larger_one() {
        let old = domain(&[("a", 2), ("b", 2), ("c", 2), ("d", 3), ("e", 2)]);
        let mut was = potentials(&old, &[&["a", "b"], &["b", "c"], &["d"], &["e"]]);
        was.table_mut(0).copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        was.table_mut(1).copy_from_slice(&[10.0, 20.0, f64::NEG_INFINITY, 40.0]);
        was.table_mut(2).copy_from_slice(&[5.0, 6.0, 7.0]);
        was.table_mut(3).copy_from_slice(&[8.0, 9.0]);
        // Of d there is another number of values, and nothing is known of f.
        let new = domain(&[("a", 2), ("b", 2), ("c", 2), ("d", 2), ("f", 2)]);
        let mut start = potentials(&new, &[&["a", "b", "c"], &["b", "c", "d"], &["f"]]);
        start.table_mut(0)[7] = f64::NEG_INFINITY;
        start_from(&Model::new(1.0, was), &mut start);
        let expected = [11.0, 21.0, 2.0, 42.0, 13.0, 23.0, 4.0, f64::NEG_INFINITY];
        assert_eq!(start.table(0), expected);
        assert!(start.table(1).iter().chain(start.table(2)).all(|&cell| cell == 0.0));
    }

    #[test]
    fn attributes_in_another_order_are_left_out() {
        let was = domain(&[("b", 2), ("a", 2)]);
        let mut was = potentials(&was, &[&["b", "a"]]);
        was.table_mut(0).copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        let mut start = potentials(&domain(&[("a", 2), ("b", 2)]), &[&["a", "b"]]);
        start_from(&Model::new(1.0, was), &mut start);
        assert_eq!(start.table(0), [0.0; 4]);
    }
}
