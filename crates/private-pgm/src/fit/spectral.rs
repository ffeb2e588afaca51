//! The constant that the paper gives Algorithm 2.

use crate::domain::{Clique, Domain};
use crate::junction_tree::JunctionTree;
use crate::loss::Measurement;
use crate::numeric::eigen::largest_eigenvalue;
use crate::numeric::memory;
use crate::numeric::strided::Projection;

/// The largest eigenvalue of Q^T Q over the concatenated marginals of the junction tree's cliques,
/// each measurement (divided by its standard deviation) belonging to the smallest clique that
/// contains it.
///
/// Q^T Q has one block a clique c: the sum over its measurements of P_i^T Q_i^T Q_i P_i, where P_i
/// sums the clique's table to that of C_i. The eigenvalues other than 0 are those of the matrix
/// with blocks Q_i P_i P_j^T Q_j^T over the answers, and P_i P_j^T never visits the table of c:
/// it sums a table over C_j onto the attributes that both have, spreads that over C_i, and
/// multiplies it by the number of combinations of the attributes that neither has.
pub(super) fn spectral_constant(
    domain: &Domain,
    tree: &JunctionTree,
    measurements: &[Measurement],
) -> f64 {
    let mut of_clique: Vec<Vec<&Measurement>> = vec![Vec::new(); tree.len()];
    for measurement in measurements {
        if let Some(index) = tree.covering(&measurement.clique) {
            of_clique[index].push(measurement);
        }
    }
    let groups = tree.cliques().iter().zip(&of_clique).filter(|(_, group)| !group.is_empty());
    let largest =
        groups.map(|(clique, group)| Block::new(domain, clique, group).largest_eigenvalue());
    largest.fold(0.0, f64::max)
}

/// The measurements of one clique.
struct Block<'a> {
    group: &'a [&'a Measurement],
    /// For i and j: onto the shared attributes from C_j, and to C_i; the factor of both.
    links: Vec<Vec<(Projection, Projection, f64)>>,
}

impl<'a> Block<'a> {
    fn new(domain: &Domain, clique: &Clique, group: &'a [&'a Measurement]) -> Self {
        let cells = domain.cells_f64(clique);
        let onto = |from: &Clique, shared: &Clique| {
            let kept: Vec<bool> = from.iter().map(|id| shared.contains(id)).collect();
            Projection::new(&domain.shape(from), &kept)
        };
        let link = |i: &&Measurement, j: &&Measurement| {
            let shared = i.clique.intersection(&j.clique);
            let together = domain.cells_f64(&i.clique) * domain.cells_f64(&j.clique)
                / domain.cells_f64(&shared);
            (onto(&j.clique, &shared), onto(&i.clique, &shared), cells / together)
        };
        let links = group.iter().map(|i| group.iter().map(|j| link(i, j)).collect()).collect();
        Self { group, links }
    }

    fn largest_eigenvalue(&self) -> f64 {
        let answers: usize = self.group.iter().map(|m| m.y.len()).sum();
        largest_eigenvalue(answers, |y, out| self.product(y, out))
    }

    /// out_i = Q_i sum over j of P_i P_j^T Q_j^T y_j.
    fn product(&self, y: &[f64], out: &mut [f64]) {
        let mut tables = Vec::with_capacity(self.group.len());
        let mut rest = y;
        for measurement in self.group {
            let (mine, others) = rest.split_at(measurement.y.len());
            rest = others;
            let mut table = memory::zeros(measurement.query.cols());
            let mut scratch = vec![0.0; measurement.query.scratch_len()];
            measurement.query.apply_transpose(mine, &mut table, &mut scratch);
            table.iter_mut().for_each(|cell| *cell /= measurement.stddev);
            tables.push(table);
        }
        let mut rest = out;
        for (measurement, links) in self.group.iter().zip(&self.links) {
            let mut sum = memory::zeros(measurement.query.cols());
            for (table, (down, up, factor)) in tables.iter().zip(links) {
                let mut shared = memory::zeros(down.small_len());
                down.sum(table, &mut shared);
                up.broadcast(&shared, &mut sum, |cell, value| *cell += factor * value);
            }
            sum.iter_mut().for_each(|cell| *cell /= measurement.stddev);
            let (mine, others) = rest.split_at_mut(measurement.y.len());
            rest = others;
            let mut scratch = vec![0.0; measurement.query.scratch_len()];
            measurement.query.apply(&sum, mine, &mut scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::QueryFactor;
    use crate::query::QueryMatrix;

    /// By the definition, on a clique that is small enough to write Q out.
    #[test]
    fn the_constant_is_that_of_the_matrix_written_out() {
        let domain = Domain::new([("a", 3), ("b", 2), ("c", 4), ("d", 2)]).unwrap();
        let ids = |names: &[&str]| -> Vec<_> {
            names.iter().map(|name| domain.id(name).unwrap()).collect()
        };
        let measure = |names: &[&str], factors: Vec<QueryFactor>, stddev: f64| {
            let listed = ids(names);
            let (query, _) = QueryMatrix::kronecker(&domain, &listed, factors).unwrap();
            let y = vec![0.0; query.rows()];
            Measurement { clique: Clique::new(listed), query, y, stddev }
        };
        use QueryFactor::{Identity, Prefix};
        let measurements = [
            measure(&["a", "b"], vec![Prefix, Identity], 2.0),
            measure(&["b", "c"], vec![Identity, Prefix], 1.0),
            measure(&["c", "a"], vec![Identity, Identity], 0.5),
            measure(&["c"], vec![Prefix], 3.0),
            measure(&["d"], vec![Identity], 0.9),
        ];
        let cliques: Vec<Clique> = measurements.iter().map(|m| m.clique.clone()).collect();
        let tree = JunctionTree::new(&domain, &cliques);
        let abc = Clique::new(ids(&["a", "b", "c"]));
        assert!(tree.cliques().contains(&abc));
        let expected = largest_eigenvalue(24, |x, out| {
            out.fill(0.0);
            for measurement in &measurements[..4] {
                let kept: Vec<bool> =
                    abc.iter().map(|id| measurement.clique.contains(id)).collect();
                let projection = Projection::new(&domain.shape(&abc), &kept);
                let mut table = vec![0.0; projection.small_len()];
                projection.sum(x, &mut table);
                let q = &measurement.query;
                let (mut answers, mut scratch) = (vec![0.0; q.rows()], vec![0.0; q.scratch_len()]);
                q.apply(&table, &mut answers, &mut scratch);
                q.apply_transpose(&answers, &mut table, &mut scratch);
                let weight = 1.0 / measurement.stddev.powi(2);
                projection.broadcast(&table, out, |cell, value| *cell += weight * value);
            }
        });
        let found = spectral_constant(&domain, &tree, &measurements);
        assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
    }
}
