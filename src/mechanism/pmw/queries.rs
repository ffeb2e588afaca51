use crate::data::{Dataset, MarginalTooLarge};
use crate::mechanism::MechanismError;
use crate::mechanism::support::counting_query::{self, CountingQuery};
use crate::workload::{SubWorkload, Workload};
use private_pgm::factor::{Factor, Projectable};

/// Estimates are rounded to multiples of 1 / GRID before they are compared with counts.
const GRID: f64 = (1 << 20) as f64;

/// The queries of a workload and their negations, with their true answers.
///
/// A query that counts every record or none is left out with its negation: it is never wrong. Which
/// these are depends on the workload alone.
pub(super) struct Queries<'a> {
    workload: &'a Workload,
    /// The sub-workload and the row of each query; negations are not listed.
    rows: Vec<(usize, usize)>,
    /// How many records each counts.
    counts: Vec<f64>,
    /// The number of records.
    records: f64,
}

/// What was chosen.
pub(super) struct Chosen {
    pub(super) query: CountingQuery,
    /// How many records it counts.
    pub(super) count: f64,
    /// q(p^), the share of the estimate that it counts.
    pub(super) estimate: f64,
}

impl<'a> Queries<'a> {
    /// Refuses queries that do more than count, and workloads without a query that could be wrong.
    pub(super) fn new(
        chooser: &str,
        workload: &'a Workload,
        data: &Dataset,
    ) -> Result<Self, MechanismError> {
        counting_query::check(chooser, workload.domain(), workload.parts())?;
        let mut rows = Vec::new();
        for (place, part) in workload.parts().iter().enumerate() {
            let cells = workload.domain().cells_f64(&part.clique);
            let counted = part.answers(&vec![1.0; part.query.cols()]);
            let can_be_wrong = |&(_, counted): &(usize, f64)| counted > 0.0 && counted < cells;
            let kept = counted.into_iter().enumerate().filter(can_be_wrong);
            rows.extend(kept.map(|(row, _)| (place, row)));
        }
        if rows.is_empty() {
            return Err(MechanismError::Unsuitable("there are no queries to choose from".into()));
        }
        let truth = truth(workload, data)?;
        let counts = rows.iter().map(|&(place, row)| truth[place][row]).collect();
        Ok(Self { workload, rows, counts, records: data.len() as f64 })
    }

    /// k, negations included.
    pub(super) fn len(&self) -> usize {
        2 * self.rows.len()
    }

    /// q(p^) for each query, without negations, from the marginals of p^ on the cliques of the
    /// workload.
    pub(super) fn estimates(&self, marginals: &[Factor]) -> Vec<f64> {
        let part = |(part, marginal): (&SubWorkload, &Factor)| part.answers(marginal.values());
        let answers: Vec<Vec<f64>> =
            self.workload.parts().iter().zip(marginals).map(part).collect();
        self.rows.iter().map(|&(place, row)| answers[place][row]).collect()
    }

    /// The scores in counts, n (q(p^) - q(p)): of all queries, then of their negations. `total` is n, or
    /// the noisy number of records where theirs is private.
    ///
    /// # Sensitivity
    ///
    /// 1 between neighbours of either kind, hence 1/n for q(p^) - q(p). p^ and the total are public:
    /// they depend on the data by way of what was paid for. A score moves as far as the count in it,
    /// c_q or, for a negation, n - c_q, both of which count records of certain values. One that is
    /// added or removed changes such a number by 1 or not at all. One that is replaced leaves it or
    /// enters it, both, or neither: it changes by 1, 0 or -1.
    ///
    /// Floating point adds nothing: counts are whole, what is public is rounded to multiples of 2^-20,
    /// and differences of such numbers are exact up to 2^32.
    pub(super) fn scores(&self, estimates: &[f64], total: f64) -> Vec<f64> {
        let score = |estimate: f64, count: f64| on_grid(total * estimate) - count;
        let pairs = || estimates.iter().zip(&self.counts);
        let queries = pairs().map(|(&estimate, &count)| score(estimate, count));
        let negations =
            pairs().map(|(&estimate, &count)| score(1.0 - estimate, self.records - count));
        queries.chain(negations).collect()
    }

    /// The candidate with this place among the scores.
    pub(super) fn chosen(&self, candidate: usize, estimates: &[f64]) -> Chosen {
        let index = candidate % self.rows.len();
        let (place, row) = self.rows[index];
        let domain = self.workload.domain();
        let query = CountingQuery::of_row(domain, &self.workload.parts()[place], row);
        let (count, estimate) = (self.counts[index], estimates[index]);
        match candidate < self.rows.len() {
            true => Chosen { query, count, estimate },
            false => Chosen {
                query: query.negated(domain),
                count: self.records - count,
                estimate: 1.0 - estimate,
            },
        }
    }
}

/// The true answers. Where the table of all possible records is smaller than the records themselves,
/// these are looked at once, and not once for each marginal.
fn truth(workload: &Workload, data: &Dataset) -> Result<Vec<Vec<f64>>, MarginalTooLarge> {
    let everything = data.domain().everything();
    match data.domain().cells(&everything) {
        Some(cells) if cells < data.len() => {
            let table = data.project(&everything)?;
            let answers = |part: &SubWorkload| part.answers(table.sum_onto(&part.clique).values());
            Ok(workload.parts().iter().map(answers).collect())
        }
        _ => workload.answers(data),
    }
}

fn on_grid(value: f64) -> f64 {
    (value * GRID).round() / GRID
}
