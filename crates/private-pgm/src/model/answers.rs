//! Factored queries (Algorithm 3 of the paper's supplement).

use super::InferenceError;
use super::calibration::Calibrated;
use super::marginals::Product;
use super::plan::Planner;
use super::region::{Input, Region};
use super::table::Table;
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::Factor;
use crate::query::QueryFactor;

impl Calibrated {
    /// The answers Q p times the total, for the Kronecker product Q of one factor for each listed
    /// attribute; all other attributes are summed out. Row-major in the order of the list.
    ///
    /// A factor with fewer rows than columns is a table Q_i(z_i, x_i) of the contraction, over the
    /// attribute and a new one, so that x_i is gone as soon as the order of the contraction allows,
    /// and a marginal on all listed attributes is never written down (Definition 4, Algorithm 3).
    /// Entries may be negative. Factors that do not shrink their attribute, such as prefixes, are
    /// applied to the answers of the others at the end.
    pub fn answer(&self, query: &[(AttributeId, QueryFactor)]) -> Result<Vec<f64>, InferenceError> {
        let rows = self.check_query(query)?;
        let augmented = Augmented::new(self.domain(), query);
        let mut planner = Planner::new(&augmented.domain, self.limit);
        let mut product = Product::new(&augmented.domain, self.total);
        let asked =
            query.iter().zip(&augmented.roles).filter(|(_, role)| **role != Role::SummedOut);
        for region in self.regions(&asked.map(|((id, _), _)| *id).collect()) {
            let Some(augmented_region) = augmented.region(region, query) else {
                return Ok(vec![0.0; rows]);
            };
            let (wanted, answers) = augmented_region.contract(&mut planner)?;
            product.multiply(wanted, answers);
        }
        Ok(augmented.expand(query, product.into_factor()))
    }

    /// Whether every factor fits its attribute and the answers fit the limit; their number.
    fn check_query(&self, query: &[(AttributeId, QueryFactor)]) -> Result<usize, InferenceError> {
        self.check_attributes(query.iter().map(|&(id, _)| id))?;
        let mut ids: Vec<AttributeId> = query.iter().map(|&(id, _)| id).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(InferenceError::RepeatedAttribute(pair[0]));
        }
        let (mut rows, mut largest) = (1.0, 1.0);
        for (id, factor) in query {
            let size = self.domain().size(*id);
            factor.check(size).map_err(|reason| InferenceError::Factor { id: *id, reason })?;
            let own_rows = factor.rows(size);
            rows *= own_rows as f64;
            if own_rows < size {
                // Written out as a table.
                largest = f64::max(largest, own_rows as f64 * size as f64);
            }
        }
        let cells = f64::max(rows, largest);
        match cells <= self.limit as f64 {
            true => Ok(rows as usize),
            false => Err(InferenceError::TooLarge { cells, limit: self.limit }),
        }
    }
}

/// What becomes of a listed attribute x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Its factor is 1: it need not be listed.
    SummedOut,
    /// Its factor is a table over it and the new attribute z, if there is more than one row.
    Inside { x: AttributeId, z: Option<AttributeId> },
    /// Its factor has no fewer rows than it has values, and is applied at the end.
    AtTheEnd { x: AttributeId },
}

impl Role {
    /// The axis that the attribute leaves in the result of the contraction.
    fn axis(self) -> Option<AttributeId> {
        match self {
            Self::SummedOut => None,
            Self::Inside { z, .. } => z,
            Self::AtTheEnd { x } => Some(x),
        }
    }
}

/// The domain with a new attribute for each factor that needs one.
struct Augmented {
    domain: Domain,
    /// The attributes of the original domain.
    attributes: Vec<AttributeId>,
    /// For each factor.
    roles: Vec<Role>,
}

/// A region with the factors of a query in it.
struct AugmentedRegion<'a> {
    region: Region<'a>,
    /// The region with the sums of the columns' magnitudes in place of the factors: its mass is
    /// the sum of all answers, up to signs.
    summed: Region<'a>,
    wanted: Clique,
    /// ln of what the tables of `region` and of `summed` are to be multiplied with.
    log_scale: f64,
    summed_log_scale: f64,
}

impl Augmented {
    fn new(original: &Domain, query: &[(AttributeId, QueryFactor)]) -> Self {
        let rows = |place: usize| query[place].1.rows(original.size(query[place].0));
        let new: Vec<usize> = (0..query.len())
            .filter(|&place| (2..original.size(query[place].0)).contains(&rows(place)))
            .collect();
        // Declared by ascending size, the original attributes keep their order.
        let names = original.ids().map(|id| (format!("x{}", id.0), original.size(id)));
        let new_names = new.iter().map(|&place| (format!("z{place}"), rows(place)));
        let domain = Domain::new(names.chain(new_names)).expect("names differ, sizes are positive");
        let (attributes, added) = domain.declared().split_at(original.len());
        let role = |(place, (id, factor)): (usize, &(AttributeId, QueryFactor))| {
            let x = attributes[id.index()];
            match factor {
                QueryFactor::Total => Role::SummedOut,
                _ if rows(place) >= original.size(*id) => Role::AtTheEnd { x },
                _ => Role::Inside { x, z: new.binary_search(&place).ok().map(|at| added[at]) },
            }
        };
        let roles = query.iter().enumerate().map(role).collect();
        Self { attributes: attributes.to_vec(), roles, domain }
    }

    /// Brings the factors that are about a region's attributes into it; `None` when one of them is
    /// zero.
    fn region<'a>(
        &self,
        mut region: Region<'a>,
        query: &[(AttributeId, QueryFactor)],
    ) -> Option<AugmentedRegion<'a>> {
        let here = region.attributes();
        region.rename(|id| self.attributes[id.index()]);
        let mut summed = region.clone();
        let (mut wanted, mut log_scale, mut summed_log_scale) = (Vec::new(), 0.0, 0.0);
        for ((id, factor), role) in query.iter().zip(&self.roles) {
            if !here.contains(*id) {
                continue;
            }
            wanted.extend(role.axis());
            if let Role::Inside { x, z } = *role {
                let dense = factor.to_dense(self.domain.size(x));
                // Q(z, x), or Q(x) for a factor of one row.
                let listed: Vec<AttributeId> = z.into_iter().chain([x]).collect();
                let table = Factor::from_listed(&self.domain, &listed, dense.values());
                let (table, scale) = Table::from_numbers(table.clique().clone(), table.values())?;
                let mut sums = vec![0.0; dense.cols()];
                for row in 0..dense.rows() {
                    sums.iter_mut().zip(dense.row(row)).for_each(|(sum, q)| *sum += q.abs());
                }
                let (sums, sums_scale) = Table::from_numbers(Clique::new([x]), &sums)?;
                region.add(&self.domain, x, Input::from(table));
                summed.add(&self.domain, x, Input::from(sums));
                log_scale += scale;
                summed_log_scale += sums_scale;
            }
        }
        let wanted = Clique::new(wanted);
        Some(AugmentedRegion { region, summed, wanted, log_scale, summed_log_scale })
    }

    /// Puts the axes in the order of the list, and applies the factors that were left for the end.
    fn expand(&self, query: &[(AttributeId, QueryFactor)], contracted: Factor) -> Vec<f64> {
        let listed: Vec<AttributeId> = self.roles.iter().filter_map(|role| role.axis()).collect();
        let mut answers = contracted.values_as_listed(&listed);
        let mut inner = 1;
        for ((_, factor), role) in query.iter().zip(&self.roles).rev() {
            match *role {
                Role::SummedOut => {}
                Role::Inside { z, .. } => inner *= z.map_or(1, |z| self.domain.size(z)),
                Role::AtTheEnd { x } => {
                    let size = self.domain.size(x);
                    let rows = factor.rows(size);
                    if *factor != QueryFactor::Identity {
                        let mut applied = vec![0.0; answers.len() / size * rows];
                        factor.apply(size, inner, &answers, &mut applied);
                        answers = applied;
                    }
                    inner *= rows;
                }
            }
        }
        answers
    }
}

impl AugmentedRegion<'_> {
    /// The part of the answers that the region gives, and its axes.
    fn contract(&self, planner: &mut Planner) -> Result<(Clique, Vec<f64>), InferenceError> {
        let log_sum = self.summed.log_sum(planner)? + self.summed_log_scale - self.log_scale;
        let answers = self.region.contract(planner, &self.wanted, log_sum)?;
        let scale = (answers.log_scale + self.log_scale - self.region.log_mass).exp();
        Ok((self.wanted.clone(), answers.values.iter().map(|v| v * scale).collect()))
    }
}
