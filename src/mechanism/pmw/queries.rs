use crate::data::Dataset;
use crate::mechanism::MechanismError;
use crate::mechanism::support::counting_query::{self, CountingQuery};
use crate::mechanism::support::score_grid::on_grid;
use crate::workload::{SubWorkload, Workload};
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// The queries of a workload and their negations, with their exact answers.
///
/// A query that counts every record or none is omitted, because it is always answered exactly.
/// These queries depend on the workload only.
pub(super) struct Queries<'a> {
    workload: &'a Workload,
    /// The sub-workload and the row of each query, without negations.
    rows: Vec<(usize, usize)>,
    /// The exact answers.
    counts: Vec<f64>,
    records: f64,
}

pub(super) struct Selected {
    pub(super) query: CountingQuery,
    /// The number of records that it counts.
    pub(super) count: f64,
    /// q(p^).
    pub(super) estimate: f64,
}

impl<'a> Queries<'a> {
    /// Refuses queries that are no counts, and workloads in which all queries are omitted.
    pub(super) fn new(
        mechanism: &str,
        workload: &'a Workload,
        data: &Dataset,
    ) -> Result<Self, MechanismError> {
        counting_query::check(mechanism, workload.domain(), workload.parts())?;
        let mut rows = Vec::new();
        for (part_index, part) in workload.parts().iter().enumerate() {
            let cells = workload.domain().cells_f64(&part.clique);
            let counted = part.answers(&vec![1.0; part.query.cols()]);
            let is_nontrivial = |&(_, counted): &(usize, f64)| counted > 0.0 && counted < cells;
            let kept = counted.into_iter().enumerate().filter(is_nontrivial);
            rows.extend(kept.map(|(row, _)| (part_index, row)));
        }
        if rows.is_empty() {
            return Err(MechanismError::Unsuitable("there are no queries to choose from".into()));
        }
        let truth = truth(workload, data)?;
        let counts = rows.iter().map(|&(part_index, row)| truth[part_index][row]).collect();
        Ok(Self { workload, rows, counts, records: data.len() as f64 })
    }

    /// k, negations included.
    pub(super) fn len(&self) -> usize {
        2 * self.rows.len()
    }

    /// q(p^) for each query without negations, from the marginals of p^ on the cliques of the
    /// workload.
    pub(super) fn estimates(&self, marginals: &[Factor]) -> Vec<f64> {
        let part = |(part, marginal): (&SubWorkload, &Factor)| part.answers(marginal.values());
        let answers: Vec<Vec<f64>> =
            self.workload.parts().iter().zip(marginals).map(part).collect();
        self.rows.iter().map(|&(part_index, row)| answers[part_index][row]).collect()
    }

    /// The scores in counts, n (q(p^) - q(p)), of all queries and then of their negations. `total`
    /// is n, or the noisy number of records where n is private.
    ///
    /// # Sensitivity
    ///
    /// 1 between neighbours of either kind, hence 1/n for q(p^) - q(p). p^ and the total are the
    /// same for both tables: they depend on published values only. A score changes by as much as
    /// the count in it. That is c_q, or n - c_q for a negation; both are numbers of records with
    /// certain values. An added or removed record changes such a number by at most 1. So does a
    /// replaced record: the old one may leave it, the new one may enter it, and the change is -1, 0
    /// or 1.
    ///
    /// Rounding does not increase this. Counts are integers, public values are rounded to multiples
    /// of 2^-20, and differences of such numbers are exact up to 2^32.
    pub(super) fn scores(&self, estimates: &[f64], total: f64) -> Vec<f64> {
        let score = |estimate: f64, count: f64| on_grid(total * estimate) - count;
        let pairs = || estimates.iter().zip(&self.counts);
        let queries = pairs().map(|(&estimate, &count)| score(estimate, count));
        let negations =
            pairs().map(|(&estimate, &count)| score(1.0 - estimate, self.records - count));
        queries.chain(negations).collect()
    }

    /// The candidate with this index among the scores.
    pub(super) fn selected(&self, candidate: usize, estimates: &[f64]) -> Selected {
        let index = candidate % self.rows.len();
        let (part_index, row) = self.rows[index];
        let domain = self.workload.domain();
        let query = CountingQuery::of_row(domain, &self.workload.parts()[part_index], row);
        let (count, estimate) = (self.counts[index], estimates[index]);
        match candidate < self.rows.len() {
            true => Selected { query, count, estimate },
            false => Selected {
                query: query.negated(domain),
                count: dp::sabotage!(self.records - count, "pmw-negation-counts-twice", {
                    2.0 * (self.records - count)
                }),
                estimate: 1.0 - estimate,
            },
        }
    }
}

/// The exact answers. If the table of all possible records is smaller than the data, the data is
/// read once instead of once per marginal.
fn truth(workload: &Workload, data: &Dataset) -> Result<Vec<Vec<f64>>, MarginalError> {
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
