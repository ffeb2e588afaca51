use std::sync::Arc;
use std::time::Instant;

use crate::baselines::in_time;
use crate::domain::Clique;
use crate::factor::{CliqueLayout, Factor, Marginals, Potentials};
use crate::numeric::exp::{exp_all, maximum};
use crate::numeric::shift::add_rows;
use crate::numeric::strided::Projection;
use crate::oracle::MarginalOracle;

/// The marginal oracle of multiplicative weights: one dense joint table per component.
///
/// Cost of a call: two passes over the component's table per clique, and one for the exponentials.
pub(super) struct JointTables {
    layout: Arc<CliqueLayout>,
    components: Vec<Component>,
    /// The contribution to ln Z of the attributes in no component: the sum of ln n_i.
    log_uniform: f64,
    /// A single call can take minutes. After the deadline it stops early and returns NaN for ln Z.
    deadline: Option<Instant>,
}

struct Component {
    /// ln p up to a constant, or p up to a factor.
    table: Factor,
    /// The cliques of the component: their index in the layout, and the projection of the joint
    /// table onto their marginal.
    inside: Vec<(usize, Projection)>,
}

impl JointTables {
    /// Tables over `components`, which are disjoint. Each clique of the layout is a subset of one.
    pub(super) fn new(
        layout: Arc<CliqueLayout>,
        components: Vec<Clique>,
        deadline: Option<Instant>,
    ) -> Self {
        let domain = layout.domain();
        let mut placed = vec![false; layout.cliques().len()];
        let mut component = |clique: Clique| {
            let table = Factor::filled(domain, clique, 0.0);
            let mut inside = Vec::new();
            for (index, small) in layout.cliques().iter().enumerate() {
                if !placed[index] && small.is_subset(table.clique()) {
                    placed[index] = true;
                    inside.push((index, table.projection(small)));
                }
            }
            Component { table, inside }
        };
        let components: Vec<Component> = components.into_iter().map(&mut component).collect();
        let free = |id: &_| !components.iter().any(|part| part.table.clique().contains(*id));
        let log_uniform = domain.ids().filter(free).map(|id| (domain.size(id) as f64).ln()).sum();
        Self { layout, components, log_uniform, deadline }
    }

    /// The joint tables of the model with these potentials, each of which sums to `total`. `None`
    /// if the potentials make every record impossible.
    pub(super) fn into_tables(self, potentials: &Potentials, total: f64) -> Option<Vec<Factor>> {
        let table = |mut component: Component| {
            component.write_logarithms(potentials, None)?;
            let (sum, _) = component.exponentiate()?;
            Some(component.table.scaled(total / sum))
        };
        self.components.into_iter().map(table).collect()
    }
}

impl Component {
    /// Writes the sum of the potentials of each cell; `None` after the deadline.
    fn write_logarithms(
        &mut self,
        potentials: &Potentials,
        deadline: Option<Instant>,
    ) -> Option<()> {
        let cells = self.table.values_mut();
        cells.fill(0.0);
        for (index, projection) in &self.inside {
            in_time(deadline).then_some(())?;
            add_rows(projection, potentials.table(*index), cells);
        }
        in_time(deadline).then_some(())
    }

    /// Writes the marginals and returns the component's part of ln Z; `None` after the deadline.
    fn marginals(
        &mut self,
        potentials: &Potentials,
        total: f64,
        marginals: &mut Marginals,
        deadline: Option<Instant>,
    ) -> Option<f64> {
        self.write_logarithms(potentials, deadline)?;
        let Some((sum, shift)) = self.exponentiate() else { return Some(f64::NEG_INFINITY) };
        for (index, projection) in &self.inside {
            in_time(deadline).then_some(())?;
            let marginal = marginals.table_mut(*index);
            projection.sum(self.table.values(), marginal);
            marginal.iter_mut().for_each(|cell| *cell *= total / sum);
        }
        Some(shift + sum.ln())
    }

    /// Replaces logarithms x by exp(x - shift), where shift is their maximum. Returns the sum of
    /// the weights and the shift; `None` if all weights are 0.
    fn exponentiate(&mut self) -> Option<(f64, f64)> {
        let cells = self.table.values_mut();
        let shift = maximum(cells);
        if shift == f64::NEG_INFINITY {
            return None;
        }
        cells.iter_mut().for_each(|cell| *cell -= shift);
        exp_all(cells);
        Some((self.table.sum_in_blocks(), shift))
    }
}

impl MarginalOracle for JointTables {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    fn marginals(&mut self, potentials: &Potentials, total: f64, marginals: &mut Marginals) -> f64 {
        let mut log_z = self.log_uniform;
        for component in &mut self.components {
            log_z += component
                .marginals(potentials, total, marginals, self.deadline)
                .unwrap_or(f64::NAN);
            if !log_z.is_finite() {
                marginals.values_mut().fill(0.0);
                break;
            }
        }
        log_z
    }

    fn maximum(&mut self, potentials: &Potentials) -> Option<f64> {
        let largest = self.components.iter_mut().map(|component| {
            component.write_logarithms(potentials, self.deadline)?;
            Some(maximum(component.table.values()))
        });
        largest.sum()
    }

    fn is_exact(&self) -> bool {
        true
    }
}
