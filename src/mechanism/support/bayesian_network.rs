//! Bayesian networks with noisy tables. Records are sampled attribute by attribute.

use rand::{Rng, RngExt};

use crate::data::{Dataset, Provenance};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Diagnostics, Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed,
};
use private_pgm::loss::Measurement;

/// An attribute X and its parents P, on which its distribution is conditioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) child: AttributeId,
    /// Without the child.
    pub(crate) parents: Clique,
}

impl Family {
    /// X and P.
    pub(crate) fn clique(&self) -> Clique {
        Clique::new(self.parents.iter().chain([self.child]))
    }
}

/// A Bayesian network. Parents come before their children in the list of families.
///
/// The estimator needs the noisy table of each family. It sets negative counts to 0 and normalises
/// each table to Pr(X | P), uniform where all counts of a combination of parents are 0. Then it
/// samples N records from the product of these conditionals, as PrivBayes does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BayesianNetwork {
    pub(crate) families: Vec<Family>,
}

impl Estimator for BayesianNetwork {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        context: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        let Observed::Answers(answers) = evidence.observed else {
            return Err(EstimatorError::Unsupported(
                "a Bayesian network needs noisy tables, found a likelihood".into(),
            ));
        };
        let domain = evidence.domain;
        let tables: Vec<Conditional> = self
            .families
            .iter()
            .map(|family| Conditional::new(domain, family, table_of(domain, family, answers)?))
            .collect::<Result<_, _>>()?;
        let records = evidence.total.round().max(0.0) as usize;
        let bytes = 4.0 * records as f64 * domain.len() as f64;
        if bytes > context.memory_limit as f64 {
            let message = format!("{records} records of {} attributes", domain.len());
            return Err(EstimatorError::Infeasible { bytes, message });
        }
        let codes = draw(domain, &tables, records, context.rng);
        let drawn = Dataset::from_codes("drawn", domain, &codes, Provenance::default())
            .map_err(|error| EstimatorError::Unsupported(error.to_string()))?;
        let diagnostics = Diagnostics {
            bytes: Some(bytes),
            message: format!("{records} records drawn from the network"),
            ..Diagnostics::default()
        };
        Ok(Estimated { answers: Box::new(drawn), model: None, diagnostics })
    }
}

fn table_of<'a>(
    domain: &Domain,
    family: &Family,
    answers: &'a [Measurement],
) -> Result<&'a Measurement, EstimatorError> {
    let clique = family.clique();
    let of_family = |answer: &&Measurement| answer.clique == clique && answer.query.is_identity();
    answers.iter().find(of_family).ok_or_else(|| {
        let names = domain.names(&clique).join(" x ");
        EstimatorError::Unsupported(format!("the network needs the whole table of {names}"))
    })
}

/// Pr(X | P) as cumulative sums.
struct Conditional {
    child: AttributeId,
    parents: Clique,
    /// A row per combination of the parents' values, row-major. A row has the cumulative sums of
    /// the weights of the values of X.
    cumulative: Vec<f64>,
}

impl Conditional {
    fn new(domain: &Domain, family: &Family, answer: &Measurement) -> Result<Self, EstimatorError> {
        answer.check(domain).map_err(|error| EstimatorError::Unsupported(error.to_string()))?;
        let table = Factor::new(domain, answer.clique.clone(), answer.y.clone());
        let listed: Vec<AttributeId> = family.parents.iter().chain([family.child]).collect();
        let mut cumulative = table.values_as_listed(&listed);
        for row in cumulative.chunks_exact_mut(domain.size(family.child)) {
            row.iter_mut().for_each(|weight| *weight = weight.max(0.0));
            if row.iter().sum::<f64>() == 0.0 {
                row.fill(1.0);
            }
            let mut sum = 0.0;
            for weight in row {
                sum += *weight;
                *weight = sum;
            }
        }
        Ok(Self { child: family.child, parents: family.parents.clone(), cumulative })
    }

    /// Samples a value of X given the row of the parents' values.
    fn draw(&self, row: usize, size: usize, rng: &mut (dyn Rng + Send)) -> u32 {
        let cumulative = &self.cumulative[row * size..][..size];
        let total = cumulative[size - 1];
        let point = rng.random::<f64>() * total;
        let value = cumulative.partition_point(|&sum| sum <= point);
        // The product may be rounded up to the total. Values of weight 0 are never sampled.
        value.min(cumulative.partition_point(|&sum| sum < total)) as u32
    }
}

/// Samples records, attribute by attribute in the order of the network. Returns columns in declared
/// order. An attribute without a table is 0.
fn draw(
    domain: &Domain,
    tables: &[Conditional],
    records: usize,
    rng: &mut (dyn Rng + Send),
) -> Vec<Vec<u32>> {
    let mut columns: Vec<Vec<u32>> = vec![vec![0; records]; domain.len()];
    for table in tables {
        let mut drawn = vec![0; records];
        for (record, value) in drawn.iter_mut().enumerate() {
            let row = table.parents.iter().fold(0, |row, parent| {
                row * domain.size(parent) + columns[parent.index()][record] as usize
            });
            *value = table.draw(row, domain.size(table.child), rng);
        }
        columns[table.child.index()] = drawn;
    }
    domain.declared().iter().map(|id| std::mem::take(&mut columns[id.index()])).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use private_pgm::fit::Progress;
    use private_pgm::query::QueryMatrix;

    /// The joint table of records sampled from tables over a(2), b(3), c(2): a, b given a, c given
    /// a and b. Cells in declared order.
    fn drawn(records: f64, tables: [&[f64]; 3], seed: u64) -> Result<Vec<f64>, EstimatorError> {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 2)]).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| domain.id(name).unwrap());
        let listed: [&[AttributeId]; 3] = [&[a], &[a, b], &[a, b, c]];
        let families = listed
            .iter()
            .map(|ids| Family {
                child: ids[ids.len() - 1],
                parents: Clique::new(ids[..ids.len() - 1].iter().copied()),
            })
            .collect();
        let answers: Vec<Measurement> = listed
            .iter()
            .zip(tables)
            .map(|(ids, table)| {
                let table = Factor::from_listed(&domain, ids, table);
                let query = QueryMatrix::identity(&domain, table.clique()).unwrap();
                let clique = table.clique().clone();
                Measurement { clique, query, y: table.into_values(), stddev: 1.0 }
            })
            .collect();
        let observed = Observed::Answers(&answers);
        let evidence = Evidence { domain: &domain, total: records, observed, zeros: &[] };
        let mut context = EstimatorContext {
            memory_limit: 1 << 20,
            deadline: None,
            warm_start: None,
            rng: &mut ChaCha20Rng::seed_from_u64(seed),
            observer: &mut |_: &Progress<'_>| {},
        };
        let estimated = BayesianNetwork { families }.estimate(&evidence, &mut context)?;
        let marginal = estimated.answers.marginals(&[domain.everything()]).unwrap().remove(0);
        Ok(marginal.values_as_listed(&[a, b, c]))
    }

    const OF_A: [f64; 2] = [30.0, 10.0];
    const OF_B: [f64; 6] = [4.0, 3.0, 1.0, 2.0, 0.0, 6.0];
    const OF_C: [f64; 12] = [1.0, 9.0, 5.0, 5.0, 8.0, 2.0, 3.0, 7.0, 1.0, 1.0, 6.0, 4.0];

    #[test]
    fn records_follow_the_conditional_tables() {
        let records = 40_000.0;
        let found = drawn(records, [&OF_A, &OF_B, &OF_C], 1).unwrap();
        assert_eq!(found.iter().sum::<f64>(), records);
        let mut chi_squared = 0.0;
        for a in 0..2 {
            for b in 0..3 {
                for c in 0..2 {
                    let given_a = OF_B[3 * a + b] / OF_B[3 * a..3 * a + 3].iter().sum::<f64>();
                    let row = &OF_C[6 * a + 2 * b..6 * a + 2 * b + 2];
                    let expected =
                        records * OF_A[a] / 40.0 * given_a * row[c] / row.iter().sum::<f64>();
                    let count = found[6 * a + 2 * b + c];
                    match expected > 0.0 {
                        true => chi_squared += (count - expected).powi(2) / expected,
                        false => assert_eq!(count, 0.0),
                    }
                }
            }
        }
        // Ten possible cells, nine degrees of freedom: below 27.9 with probability 0.999.
        assert!(chi_squared < 27.9, "{chi_squared}");
    }

    #[test]
    fn negatives_are_never_drawn_and_rows_without_mass_are_uniform() {
        let of_b = [-4.0, 3.0, 0.0, -1.0, -2.0, 0.0];
        let found = drawn(40_000.0, [&OF_A, &of_b, &OF_C], 2).unwrap();
        assert_eq!(found[..2], [0.0, 0.0]);
        assert_eq!(found[4..6], [0.0, 0.0]);
        let of_a: f64 = found[6..].iter().sum();
        for b in 0..3 {
            let share = found[6 + 2 * b..8 + 2 * b].iter().sum::<f64>() / of_a;
            // About 10,000 records: five standard deviations.
            assert!((share - 1.0 / 3.0).abs() < 5.0 * (2.0 / 9.0 / of_a).sqrt(), "{share}");
        }
    }

    #[test]
    fn the_same_generator_draws_the_same_records() {
        let draw = |seed| drawn(1000.0, [&OF_A, &OF_B, &OF_C], seed).unwrap();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn more_records_than_fit_are_refused_with_their_size() {
        let refused = drawn(1e6, [&OF_A, &OF_B, &OF_C], 1);
        assert!(matches!(refused, Err(EstimatorError::Infeasible { bytes, .. }) if bytes == 1.2e7));
    }
}
