use super::raw::RawZeros;
use super::resolve::total_from;
use super::{Problem, ProblemError};
use crate::domain::Domain;
use crate::loss::Measurement;

/// Collects the parts of a [`Problem`].
///
/// ```
/// use private_pgm::{Domain, Measurement, Problem};
///
/// let domain = Domain::new([("age", 3), ("sex", 2)])?;
/// let noisy = [11.0, 21.0, 14.0, 26.0, 18.0, 13.0];
/// let problem = Problem::builder(domain.clone())
///     .measure(Measurement::marginal(&domain, &["age", "sex"], &noisy, 2.0)?)
///     .zeros(&["age", "sex"], &[&[0, 1]])
///     .build()?;
/// assert!((problem.total - 103.0).abs() < 1e-9, "estimated, as no total was given");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "there is no problem before `build`"]
pub struct ProblemBuilder {
    domain: Domain,
    total: Option<f64>,
    measurements: Vec<Measurement>,
    zeros: Vec<(Vec<String>, Vec<Vec<usize>>)>,
}

impl ProblemBuilder {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain, total: None, measurements: Vec::new(), zeros: Vec::new() }
    }

    /// The number of records, positive. Default: estimated from the measurements.
    pub fn total(self, total: impl Into<Option<f64>>) -> Self {
        Self { total: total.into(), ..self }
    }

    /// Adds a measurement on the same domain.
    pub fn measure(mut self, measurement: Measurement) -> Self {
        self.measurements.push(measurement);
        self
    }

    /// Adds several measurements.
    pub fn measure_all(mut self, measurements: impl IntoIterator<Item = Measurement>) -> Self {
        self.measurements.extend(measurements);
        self
    }

    /// Adds combinations of values that no record has: for each, a value per listed attribute.
    pub fn zeros(mut self, attributes: &[impl AsRef<str>], cells: &[impl AsRef<[usize]>]) -> Self {
        let names = attributes.iter().map(|name| name.as_ref().to_string()).collect();
        self.zeros.push((names, cells.iter().map(|cell| cell.as_ref().to_vec()).collect()));
        self
    }

    /// The problem, if its parts fit each other.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let Self { domain, total, measurements, zeros } = self;
        if domain.is_empty() {
            return Err(ProblemError::field("domain", "at least one attribute", "none"));
        }
        if let Some(total) = total.filter(|total| !(*total > 0.0 && total.is_finite())) {
            return Err(ProblemError::field("total", "a positive number", total));
        }
        for (index, measurement) in measurements.iter().enumerate() {
            measurement.check(&domain).map_err(|reason| ProblemError::Measurement {
                field: format!("measurements[{index}]"),
                reason,
            })?;
        }
        let zeros = zeros.into_iter().enumerate().map(|(index, (attrs, cells))| {
            let written = RawZeros { attrs: Some(attrs), cells: Some(cells) };
            written.resolve(&domain, &format!("zeros[{index}]"))
        });
        let zeros = zeros.collect::<Result<_, _>>()?;
        let total_is_estimated = total.is_none();
        let total = total.map_or_else(|| total_from(&measurements), Ok)?;
        Ok(Problem { domain, total, total_is_estimated, measurements, zeros })
    }
}
