//! Factored queries: Definition 4 and Algorithm 3 of the supplement of McKenna, Sheldon, Miklau,
//! ICML 2019.

use super::InferenceError;
use super::calibration::Calibrated;
use super::marginals::DisjointProduct;
use super::plan::Planner;
use super::region::{Input, Region};
use super::scaled_table::ScaledTable;
use crate::domain::{AttributeId, Clique, Domain};
use crate::factor::Factor;
use crate::numeric::memory;
use crate::query::QueryFactor;

impl Calibrated {
    /// The answers N Q p, where Q is the Kronecker product of one factor per listed attribute. All
    /// other attributes are summed out. The answers are row-major in the order of `query`.
    ///
    /// A factor with fewer rows than columns becomes a table Q_i(z_i, x_i) of the contraction, over
    /// its attribute x_i and a new attribute z_i. The contraction sums x_i out early and never
    /// forms the marginal on all listed attributes. Entries may be negative. Factors that do not
    /// shrink their attribute, such as prefixes, are applied to the result of the contraction.
    pub fn answer(&self, query: &[(AttributeId, QueryFactor)]) -> Result<Vec<f64>, InferenceError> {
        let rows = self.check_query(query)?;
        let augmented = AugmentedDomain::new(self.domain(), query);
        let mut planner = Planner::new(&augmented.domain, self.limit);
        let mut product = DisjointProduct::new(&augmented.domain, self.total);
        let contracted =
            query.iter().zip(&augmented.roles).filter(|(_, role)| **role != Role::SummedOut);
        for region in self.regions(&contracted.map(|((id, _), _)| *id).collect()) {
            let Some(augmented_region) = augmented.region(region, query) else {
                return Ok(vec![0.0; rows]);
            };
            let (wanted, answers) = augmented_region.contract(&mut planner)?;
            product.multiply(wanted, answers);
        }
        Ok(augmented.expand(query, product.into_factor()))
    }

    /// The number of answers. An error if a factor does not fit its attribute, or if the answers or
    /// a factor exceed the cell limit.
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
                // The factor becomes a dense table.
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

/// How the factor of a listed attribute x enters the computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The factor is a row of ones, the same as no factor.
    SummedOut,
    /// The factor is a table over x and a new attribute z, or over x alone if it has one row.
    Contracted { x: AttributeId, z: Option<AttributeId> },
    /// The factor has at least as many rows as columns and is applied after the contraction.
    Deferred { x: AttributeId },
}

impl Role {
    /// The axis of the contraction's result that belongs to the attribute.
    fn axis(self) -> Option<AttributeId> {
        match self {
            Self::SummedOut => None,
            Self::Contracted { z, .. } => z,
            Self::Deferred { x } => Some(x),
        }
    }
}

/// The domain with a new attribute z for each [`Role::Contracted`] factor of several rows.
struct AugmentedDomain {
    domain: Domain,
    /// The new id of each attribute of the original domain.
    attributes: Vec<AttributeId>,
    /// One per factor of the query.
    roles: Vec<Role>,
}

/// A region with the factors of a query as further tables.
struct AugmentedRegion<'a> {
    region: Region<'a>,
    /// The region with sum over z of |Q(z, x)| in place of each factor. Its mass is the sum of the
    /// answers' magnitudes, which detects underflow.
    summed: Region<'a>,
    wanted: Clique,
    /// ln of the scale that was divided out of the factors of `region` and of `summed`.
    log_scale: f64,
    summed_log_scale: f64,
}

impl AugmentedDomain {
    fn new(original: &Domain, query: &[(AttributeId, QueryFactor)]) -> Self {
        let rows = |position: usize| query[position].1.rows(original.size(query[position].0));
        let new: Vec<usize> = (0..query.len())
            .filter(|&position| (2..original.size(query[position].0)).contains(&rows(position)))
            .collect();
        // The original attributes are declared by ascending size, so they keep their order.
        let names = original.ids().map(|id| (format!("x{}", id.0), original.size(id)));
        let new_names = new.iter().map(|&position| (format!("z{position}"), rows(position)));
        let domain = Domain::new(names.chain(new_names)).expect("names differ, sizes are positive");
        let (attributes, added) = domain.declared().split_at(original.len());
        let role = |(position, (id, factor)): (usize, &(AttributeId, QueryFactor))| {
            let x = attributes[id.index()];
            match factor {
                QueryFactor::Total => Role::SummedOut,
                _ if rows(position) >= original.size(*id) => Role::Deferred { x },
                _ => {
                    let z = new.binary_search(&position).ok().map(|index| added[index]);
                    Role::Contracted { x, z }
                }
            }
        };
        let roles = query.iter().enumerate().map(role).collect();
        Self { attributes: attributes.to_vec(), roles, domain }
    }

    /// Adds the factors of a region's attributes to the region. `None` if a factor is zero, which
    /// makes all answers zero.
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
            if let Role::Contracted { x, z } = *role {
                let dense = factor.to_dense(self.domain.size(x));
                // Q(z, x), or Q(x) if the factor has one row.
                let listed: Vec<AttributeId> = z.into_iter().chain([x]).collect();
                let table = Factor::from_listed(&self.domain, &listed, dense.values());
                let (table, scale) =
                    ScaledTable::from_numbers(table.clique().clone(), table.values())?;
                let mut sums = memory::zeros(dense.cols());
                for row in 0..dense.rows() {
                    sums.iter_mut().zip(dense.row(row)).for_each(|(sum, q)| *sum += q.abs());
                }
                let (sums, sums_scale) = ScaledTable::from_numbers(Clique::new([x]), &sums)?;
                region.add(&self.domain, x, Input::from(table));
                summed.add(&self.domain, x, Input::from(sums));
                log_scale += scale;
                summed_log_scale += sums_scale;
            }
        }
        let wanted = Clique::new(wanted);
        Some(AugmentedRegion { region, summed, wanted, log_scale, summed_log_scale })
    }

    /// Permutes the axes to the order of `query` and applies the deferred factors.
    fn expand(&self, query: &[(AttributeId, QueryFactor)], contracted: Factor) -> Vec<f64> {
        let listed: Vec<AttributeId> = self.roles.iter().filter_map(|role| role.axis()).collect();
        let mut answers = contracted.values_as_listed(&listed);
        let mut inner = 1;
        for ((_, factor), role) in query.iter().zip(&self.roles).rev() {
            match *role {
                Role::SummedOut => {}
                Role::Contracted { z, .. } => inner *= z.map_or(1, |z| self.domain.size(z)),
                Role::Deferred { x } => {
                    let size = self.domain.size(x);
                    let rows = factor.rows(size);
                    if *factor != QueryFactor::Identity {
                        let mut applied = memory::zeros(answers.len() / size * rows);
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
    /// The region's axes of the answers, and their values.
    fn contract(&self, planner: &mut Planner) -> Result<(Clique, Vec<f64>), InferenceError> {
        let log_sum = self.summed.log_sum(planner)? + self.summed_log_scale - self.log_scale;
        let answers = self.region.contract(planner, &self.wanted, log_sum)?;
        let scale = (answers.log_scale + self.log_scale - self.region.log_mass).exp();
        Ok((self.wanted.clone(), answers.values.iter().map(|v| v * scale).collect()))
    }
}
