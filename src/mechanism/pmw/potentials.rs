use crate::mechanism::support::counting_query::CountingQuery;
use private_pgm::domain::Domain;
use private_pgm::factor::Potentials;
use private_pgm::numeric::strided::Projection;

/// The update U(q, p^) in the log domain. p^ is proportional to exp(sum over C of theta_C(x_C)),
/// and exp(-eta q) is a factor on the query's clique. So the potentials of a clique that contains
/// it decrease by eta in the cells that the query counts. Marginals are normalised when they are
/// computed.
///
/// # Panics
/// If no clique of the layout contains the query's.
pub(super) fn update(
    domain: &Domain,
    potentials: &mut Potentials,
    query: &CountingQuery,
    eta: f64,
) {
    let index = potentials.layout().covering(&query.clique).expect("the query's clique is covered");
    let clique = potentials.layout().cliques()[index].clone();
    let kept: Vec<bool> = clique.iter().map(|id| query.clique.contains(id)).collect();
    let projection = Projection::new(&domain.shape(&clique), &kept);
    let mut steps = vec![0.0; projection.small_len()];
    query.cells.iter().for_each(|&cell| steps[cell] = -eta);
    projection.broadcast(&steps, potentials.table_mut(index), |theta, step| *theta += step);
}
