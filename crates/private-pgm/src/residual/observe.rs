use std::collections::BTreeMap;

use super::closure::{cells_outside, masked, varying};
use super::error::ResidualError;
use super::residuals::{Residual, Residuals};
use super::transform::split_answers;
use crate::domain::{Clique, Domain};
use crate::loss::Measurement;
use crate::query::QueryFactor;

/// A sum of measurements of one residual, weighted by their inverse variances.
#[derive(Default)]
struct Average {
    weighted: Vec<f64>,
    precision: f64,
}

impl Residuals {
    /// The best linear unbiased estimate of all residuals that these measurements determine:
    /// GReM-MLE. Queries are identities, totals and contrasts; other kinds are an error.
    ///
    /// With a `total`, the number of records is known and fixed. Without one it is estimated like
    /// the other residuals.
    ///
    /// Cost: a constant times the answers.
    pub fn estimate(
        domain: &Domain,
        measurements: &[Measurement],
        total: Option<f64>,
    ) -> Result<Self, ResidualError> {
        for (index, measurement) in measurements.iter().enumerate() {
            check(domain, index, measurement)?;
        }
        let mut averages: BTreeMap<Clique, Average> = BTreeMap::new();
        for measurement in measurements {
            observe(domain, measurement, &mut averages);
        }
        let parts = averages.into_iter().map(|(clique, Average { mut weighted, precision })| {
            weighted.iter_mut().for_each(|cell| *cell /= precision);
            (clique, Residual { table: weighted, variance: Some(precision.recip()) })
        });
        let mut parts: BTreeMap<Clique, Residual> = parts.collect();
        if let Some(total) = total {
            let fixed = Residual { table: vec![total], variance: Some(0.0) };
            parts.insert(Clique::empty(), fixed);
        }
        if !parts.contains_key(&Clique::empty()) {
            return Err(ResidualError::NoTotal);
        }
        Ok(Self::new(domain, parts))
    }
}

/// An error unless the measurement is valid and decomposes into residuals.
fn check(domain: &Domain, index: usize, measurement: &Measurement) -> Result<(), ResidualError> {
    measurement.check(domain).map_err(|reason| ResidualError::Measurement { index, reason })?;
    let factors = measurement.query.factors();
    // A single factor over several attributes is a matrix over all cells of the marginal.
    let decomposes = |factor: &&QueryFactor| {
        factors.len() == measurement.clique.len()
            && matches!(factor, QueryFactor::Identity | QueryFactor::Total | QueryFactor::Contrasts)
    };
    match factors.iter().find(|factor| !decomposes(factor)) {
        Some(other) => Err(ResidualError::Queries { index, found: other.name() }),
        None => Ok(()),
    }
}

/// Adds the residuals of one measurement to the averages.
fn observe(domain: &Domain, measurement: &Measurement, averages: &mut BTreeMap<Clique, Average>) {
    let clique = varying(domain, &measurement.clique);
    let shape = domain.shape(&clique);
    let axes = measurement.clique.iter().zip(measurement.query.factors());
    let factors: Vec<QueryFactor> =
        axes.filter(|(id, _)| clique.contains(*id)).map(|(_, factor)| factor.clone()).collect();
    // Sums over the values of a total were taken before the noise.
    let noisy: Vec<usize> = shape
        .iter()
        .zip(&factors)
        .map(|(&n, factor)| if *factor == QueryFactor::Identity { n } else { 1 })
        .collect();
    let variance = measurement.stddev * measurement.stddev;
    let tables = split_answers(&shape, &factors, &measurement.y);
    for (mask, table) in tables.into_iter().enumerate() {
        let Some(mut table) = table else { continue };
        let precision = (variance * cells_outside(&noisy, mask)).recip();
        let average = averages.entry(masked(&clique, mask)).or_default();
        average.precision += precision;
        if average.weighted.is_empty() {
            table.iter_mut().for_each(|cell| *cell *= precision);
            average.weighted = table;
        } else {
            let sums = average.weighted.iter_mut().zip(&table);
            sums.for_each(|(sum, cell)| *sum += precision * cell);
        }
    }
}
