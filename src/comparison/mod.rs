//! How far synthetic records are from what they stand for: the data, or a model.

mod association;
mod chart;
mod page;

pub use association::Association;
pub use chart::chart;
pub use page::page;

use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use serde::Serialize;
use thiserror::Error;

use crate::evaluation::workload_error;

/// Attributes of a marginal at most.
pub const LARGEST: usize = 3;

/// Sets of one size that are compared at most (our choice).
const MOST_SETS: usize = 5000;

/// Cells of a marginal at most (our choice).
const MOST_CELLS: usize = 1 << 22;

/// What synthetic records are compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    pub name: String,
    /// The number of records, or the total of a model.
    pub records: f64,
    /// Whether the comparison shows facts about true records.
    pub is_true_data: bool,
}

/// A marginal that the data or the model cannot give, with the reason.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct NoMarginal(pub String);

/// A source of marginals in counts.
pub type Marginals<'a> = &'a dyn Fn(&Clique) -> Result<Factor, NoMarginal>;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What the page may be used for.
    pub notice: String,
    pub synthetic: String,
    pub synthetic_records: usize,
    pub reference: Reference,
    /// By size, from 1.
    pub sizes: Vec<SizeSummary>,
    /// The mean over the workload of |W mu - W mu^|_1 / (2 |W mu|_1), of counts scaled to the
    /// records of the reference.
    pub workload_error: f64,
    /// What the workload is.
    pub workload: String,
    /// From the largest distance.
    pub marginals: Vec<Distance>,
    /// From the largest difference; pairs only.
    pub associations: Vec<Association>,
}

/// The distances of all marginals of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeSummary {
    pub attributes: usize,
    pub compared: usize,
    /// With those that are too large or too many.
    pub sets: f64,
    pub mean: f64,
    pub largest: f64,
}

/// The total variation distance of a marginal: half the sum of the absolute differences of all
/// probabilities, between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distance {
    pub attributes: Vec<String>,
    pub distance: f64,
}

/// Compares the marginals on all sets of up to [`LARGEST`] attributes, evenly spaced ones if there
/// are more than 5000 of a size, and the workload on `workload`.
pub fn compare(
    domain: &Domain,
    (synthetic, synthetic_records, found): (&str, usize, Marginals),
    (reference, expected): (Reference, Marginals),
    (workload, cliques): (&str, &[Clique]),
) -> Result<Comparison, NoMarginal> {
    let (mut sizes, mut marginals, mut associations) = (Vec::new(), Vec::new(), Vec::new());
    for size in 1..=LARGEST.min(domain.len()) {
        let (sets, chosen) = chosen_sets(domain, size);
        let (mut sum, mut largest, mut compared) = (0.0, 0f64, 0);
        for clique in chosen {
            if domain.cells(&clique).is_none_or(|cells| cells > MOST_CELLS) {
                continue;
            }
            let (found, expected) = (found(&clique)?, expected(&clique)?);
            let distance = total_variation(found.values(), expected.values());
            if size == 2 {
                associations.push(Association::of(domain, &found, &expected));
            }
            (sum, largest, compared) = (sum + distance, largest.max(distance), compared + 1);
            let attributes = names(domain, &clique);
            marginals.push(Distance { attributes, distance });
        }
        let mean = if compared == 0 { 0.0 } else { sum / compared as f64 };
        sizes.push(SizeSummary { attributes: size, compared, sets, mean, largest });
    }
    marginals.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    associations.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let scale = reference.records / synthetic_records as f64;
    let truth = answers(cliques, expected, 1.0)?;
    let workload_error = workload_error(&truth, &answers(cliques, found, scale)?);
    Ok(Comparison {
        notice: notice(&reference),
        synthetic: synthetic.into(),
        synthetic_records,
        reference,
        sizes,
        workload_error,
        workload: workload.into(),
        marginals,
        associations,
    })
}

fn notice(reference: &Reference) -> String {
    match reference.is_true_data {
        true => "not for release: the distances were computed from the true records and protect \
                 no record"
            .into(),
        false => {
            "computed from the synthetic records and a model alone, without true records".into()
        }
    }
}

/// In declared order.
fn names(domain: &Domain, clique: &Clique) -> Vec<String> {
    let declared = domain.declared().iter().filter(|id| clique.contains(**id));
    declared.map(|&id| domain.name(id).to_string()).collect()
}

/// The number of sets of this size, and those to compare.
fn chosen_sets(domain: &Domain, size: usize) -> (f64, Vec<Clique>) {
    let sets = (0..size).fold(1.0, |sets, i| sets * (domain.len() - i) as f64 / (i + 1) as f64);
    let all = domain.everything().subsets(size);
    let step = all.len().div_ceil(MOST_SETS).max(1);
    (sets, all.into_iter().step_by(step).collect())
}

fn answers(cliques: &[Clique], of: Marginals, scale: f64) -> Result<Vec<Vec<f64>>, NoMarginal> {
    let answer = |clique: &Clique| {
        Ok(of(clique)?.values().iter().map(|count| count * scale).collect::<Vec<f64>>())
    };
    cliques.iter().map(answer).collect()
}

fn total_variation(one: &[f64], other: &[f64]) -> f64 {
    let (sum, other_sum): (f64, f64) = (one.iter().sum(), other.iter().sum());
    let difference = |(a, b): (&f64, &f64)| (a / sum - b / other_sum).abs();
    one.iter().zip(other).map(difference).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain() -> Domain {
        Domain::new([("a", 2), ("b", 2), ("c", 3)]).unwrap()
    }

    /// The marginal of a table over all attributes, in axis order.
    fn marginals(table: Vec<f64>) -> impl Fn(&Clique) -> Result<Factor, NoMarginal> {
        let domain = domain();
        let all = Factor::new(&domain, domain.everything(), table);
        move |clique| Ok(all.sum_onto(clique))
    }

    fn comparison(synthetic: Vec<f64>, reference: Vec<f64>) -> Comparison {
        let records = reference.iter().sum();
        let count = synthetic.iter().sum::<f64>() as usize;
        let facts = Reference { name: "data".into(), records, is_true_data: true };
        let (found, expected) = (marginals(synthetic), marginals(reference));
        let pairs = domain().everything().subsets(2);
        compare(&domain(), ("new", count, &found), (facts, &expected), ("pairs", &pairs)).unwrap()
    }

    #[test]
    fn equal_distributions_have_no_distance_whatever_the_number_of_records() {
        let table: Vec<f64> = (1..=12).map(f64::from).collect();
        let doubled = table.iter().map(|count| 2.0 * count).collect();
        let same = comparison(doubled, table);
        assert!(same.marginals.iter().all(|marginal| marginal.distance < 1e-12));
        assert!(same.associations.iter().all(|pair| pair.difference() < 1e-12));
        assert!(same.workload_error < 1e-12);
        let compared: Vec<usize> = same.sizes.iter().map(|size| size.compared).collect();
        assert_eq!(compared, [3, 3, 1]);
    }

    #[test]
    fn the_worst_marginals_come_first_and_contain_the_difference() {
        // a is always 0 in the synthetic records, and uniform in the data.
        let reference = vec![1.0; 12];
        let synthetic: Vec<f64> = (0..12).map(|cell| if cell < 6 { 2.0 } else { 0.0 }).collect();
        let found = comparison(synthetic, reference);
        assert!((found.marginals[0].distance - 0.5).abs() < 1e-12);
        let of = |names: &[&str]| {
            found.marginals.iter().find(|m| m.attributes == names).unwrap().distance
        };
        let is = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(is(of(&["a"]), 0.5) && is(of(&["b"]), 0.0) && is(of(&["a", "c"]), 0.5));
        assert!(is(found.workload_error, 1.0 / 3.0));
        assert!(found.notice.starts_with("not for release"));
    }
}
