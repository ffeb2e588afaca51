//! EFPA: measures the lowest Fourier coefficients of a marginal as a histogram. Their number is
//! chosen privately (Acs, Castelluccia, Chen, "Differentially private histogram publishing through
//! lossy compression", ICDM 2012).
//!
//! The basis is the orthonormal real Fourier basis, and the noise is calibrated to the L1
//! sensitivity of its coefficients. A transform that is not normalised, or coefficients whose
//! phases are published without noise, would break the guarantee.

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Deserialize;

use super::{
    CostModel, GuaranteeKind, Mechanism, MechanismError, MechanismSpec, Release, Task,
    WorkloadDependence, parse,
};
use crate::numeric::fourier::{real_fourier, real_fourier_inverse};
use dp::sensitivity::LInfinity;
use dp::{Budget, L1, Neighbours, NoiseSource, Scores, Sensitivity, Share};
use private_pgm::baselines::AsMeasured;
use private_pgm::loss::Measurement;
use private_pgm::query::QueryMatrix;

pub(super) static EFPA: MechanismSpec = MechanismSpec {
    name: "efpa",
    title: "EFPA",
    summary: "measures the lowest Fourier coefficients of each marginal of the workload, with \
              Laplace noise",
    reference: "Acs, Castelluccia, Chen, ICDM 2012",
    guarantee: GuaranteeKind::Pure,
    own_estimator: "the inverse transform",
    workload_dependence: WorkloadDependence::Cliques,
    has_rounds: false,
    cost_model: CostModel::NEGLIGIBLE,
    extra_estimators: &[],
    parameters: &[],
    build: |table| Ok(Box::new(parse::<Efpa>(table)?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Efpa {}

/// The L1 sensitivity of the first `kept` of n coefficients.
///
/// The first coefficient has entries 1/sqrt(n). A pair of cosine and sine has sqrt(2/n) (|cos| +
/// |sin|), which is at most 2/sqrt(n) because |cos| + |sin| <= sqrt(2). The single cosine at the
/// end has at most sqrt(1/n), less than a pair. So with p = kept/2 pairs, rounded down, a column
/// has an L1 norm of at most (1 + 2p)/sqrt(n). Replacing a record changes two columns.
///
/// The allowance for rounding: a coefficient is computed in log2(n) stages, and the error of each
/// is a few units in the last place of a value of at most N.
fn sensitivity(
    kept: usize,
    n: usize,
    records: f64,
    neighbours: Neighbours,
) -> Result<Sensitivity<L1>, MechanismError> {
    let pairs = (kept / 2) as f64;
    let norm = (1.0 + 2.0 * pairs) / (n as f64).sqrt();
    let norm = dp::sabotage!(norm, "efpa-l2-norm", ((1.0 + 2.0 * pairs) / n as f64).sqrt());
    let allowance = 16.0 * f64::EPSILON * (n.ilog2() + 1) as f64 * records * kept as f64;
    Ok(Sensitivity::<L1>::linear(norm, neighbours)?.enlarged(allowance)?)
}

/// The sensitivity of the L2 norm of the omitted coefficients, as a score.
///
/// The transform is orthonormal. A record is a vector of length 1, and two records are sqrt(2)
/// apart. The allowance for rounding: the root of a sum of n squares has an error of at most n/2
/// units in the last place, for each of two tables. Twice that includes the transform. The expected
/// noise is the same for both tables; adding it rounds once more.
fn score_sensitivity(
    records: f64,
    n: usize,
    noise: f64,
    neighbours: Neighbours,
) -> Result<Sensitivity<LInfinity>, MechanismError> {
    let sensitivity = match neighbours {
        Neighbours::AddRemove => 1.0,
        Neighbours::Replace => {
            dp::sabotage!(std::f64::consts::SQRT_2.next_up(), "efpa-score-as-added", 1.0)
        }
    };
    let allowance = f64::EPSILON * (n as f64 * records + 2.0 * (records + noise));
    Ok(Sensitivity::<LInfinity>::new(sensitivity, neighbours)?.enlarged(allowance)?)
}

impl Mechanism for Efpa {
    /// Each marginal has an equal share of the budget. Half of the share is for the number of
    /// coefficients.
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let began = Instant::now();
        let neighbours = budget.neighbours();
        let domain = task.workload.domain();
        let answers = task.measure_each(budget, |clique, cells, share| {
            let names = domain.names(&clique).join(", ");
            let (y, stddev) = compress(cells, &names, task, share, source)?;
            let query = QueryMatrix::identity(domain, &clique)?;
            Ok(Measurement { clique, query, y, stddev })
        })?;
        let total = match task.public_records(neighbours) {
            Some(records) => records as f64,
            None => {
                let sum = |measured: &Measurement| measured.y.iter().sum::<f64>();
                (answers.iter().map(sum).sum::<f64>() / answers.len() as f64).max(1.0)
            }
        };
        Ok(Release::of_answers(total, answers, Box::new(AsMeasured), began))
    }
}

/// The cells reconstructed from their lowest coefficients, and the standard deviation of the noise
/// per cell. The latter is the noise of the coefficients spread evenly; the error of the omission
/// is unknown.
fn compress(
    cells: &[f64],
    names: &str,
    task: &Task<'_>,
    share: Share,
    source: &mut NoiseSource,
) -> Result<(Vec<f64>, f64), MechanismError> {
    let neighbours = share.neighbours();
    let records = task.records_bound(neighbours);
    let n = cells.len().next_power_of_two();
    let mut padded = cells.to_vec();
    padded.resize(n, 0.0);
    let mut coefficients = real_fourier(&padded);
    let mut halves = share.split(2)?.into_iter();
    let (Some(for_number), Some(for_coefficients)) = (halves.next(), halves.next()) else {
        return Err(MechanismError::Unsuitable("the budget cannot be halved".into()));
    };
    let epsilon = for_coefficients.guarantee().pure_epsilon()?.get();
    // Complete pairs: 1, 3, 5, ... coefficients, and all of them.
    let candidates: Vec<usize> = (1..n).step_by(2).chain((n > 1).then_some(n)).collect();
    let candidates = if n == 1 { vec![1] } else { candidates };
    let mut left_out: Vec<f64> = coefficients
        .iter()
        .rev()
        .scan(0.0, |sum, c| {
            *sum += c * c;
            Some(*sum)
        })
        .collect();
    left_out.reverse();
    left_out.push(0.0);
    let mut scores = Vec::with_capacity(candidates.len());
    let mut most_noise: f64 = 0.0;
    for &kept in &candidates {
        let scale = sensitivity(kept, n, records, neighbours)?.get() / epsilon;
        let noise = scale * (2.0 * kept as f64).sqrt();
        let error = left_out[kept].sqrt();
        let error = dp::sabotage!(error, "efpa-score-squared", left_out[kept]);
        scores.push(-(error + noise));
        most_noise = most_noise.max(noise);
    }
    let label = format!("number of Fourier coefficients of {names}");
    let of_scores = score_sensitivity(records, n, most_noise, neighbours)?;
    let chosen = dp::sabotage!(
        for_number.select(label, &scores, of_scores, Scores::General, source)?,
        "efpa-chooses-without-paying",
        crate::mechanism::sabotaged::largest(&scores)
    );
    let kept = candidates[chosen];
    let of_coefficients = sensitivity(kept, n, records, neighbours)?;
    let line = task.noise.real(of_coefficients, kept);
    let label = format!("Fourier coefficients of {names}");
    let noisy =
        for_coefficients.laplace(label, &coefficients[..kept], of_coefficients, line, source)?;
    coefficients.fill(0.0);
    coefficients[..kept].copy_from_slice(&noisy.values);
    let mut reconstructed = real_fourier_inverse(&coefficients);
    reconstructed.truncate(cells.len());
    let stddev = noisy.noise_stddev * (kept as f64 / n as f64).sqrt();
    Ok((reconstructed, stddev))
}
