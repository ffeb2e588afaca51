//! From the syntax of a file to a problem: resolves names to ids, permutes answers to the axis
//! order, and checks the parts against each other.

use std::collections::HashSet;

use super::answers::{self, Answers};
use super::labels::labelled;
use super::query::RawQuery;
use super::raw::{RawMeasurement, RawProblem, RawZeros};
use super::{Problem, ProblemError, StructuralZeros};
use crate::domain::{AttributeId, Clique, Domain, DomainError};
use crate::loss::{Measurement, MeasurementError, estimate_total};
use crate::numeric::strided::row_major_strides;
use crate::query::{MAX_CELLS, QueryError, QueryFactor};

type Result<T> = std::result::Result<T, ProblemError>;

impl RawProblem {
    /// Checks and resolves the parts, in the order of the format's description.
    pub(super) fn resolve(self) -> Result<Problem> {
        let attributes = required(self.domain, "domain", "an object of attributes")?.0;
        if attributes.is_empty() {
            return Err(ProblemError::field("domain", "at least one attribute", "none"));
        }
        let domain = Domain::new(attributes).map_err(|error| match error {
            DomainError::DuplicateAttribute(name) => ProblemError::field(
                format!("domain.{}", name.escape_debug()),
                "every attribute once",
                "it again",
            ),
            DomainError::EmptyAttribute(name) => ProblemError::field(
                format!("domain.{}", name.escape_debug()),
                "at least one value",
                0,
            ),
        })?;
        let domain =
            labelled(domain, self.labels.unwrap_or_default(), self.edges.unwrap_or_default())?;
        let stated = self.total.flatten();
        if let Some(total) = stated.filter(|&total| total <= 0.0) {
            return Err(ProblemError::field("total", "a positive number", total));
        }
        let measurements = required(self.measurements, "measurements", "a list")?;
        let resolved = measurements.into_iter().enumerate();
        let measurements: Vec<Measurement> = resolved
            .map(|(index, raw)| raw.resolve(&domain, &format!("measurements[{index}]")))
            .collect::<Result<_>>()?;
        let zeros = self.zeros.unwrap_or_default().into_iter().enumerate();
        let zeros = zeros
            .map(|(index, raw)| raw.resolve(&domain, &format!("zeros[{index}]")))
            .collect::<Result<_>>()?;
        let total = stated.map_or_else(|| total_from(&measurements), Ok)?;
        Ok(Problem { domain, total, total_is_estimated: stated.is_none(), measurements, zeros })
    }
}

pub(super) fn total_from(measurements: &[Measurement]) -> Result<f64> {
    let expected = "a positive number, or measurements that determine it";
    match estimate_total(measurements) {
        Some(total) if total > 0.0 && total.is_finite() => Ok(total),
        Some(total) => Err(ProblemError::field(
            "total",
            expected,
            format_args!("no number, and measurements that estimate {total}"),
        )),
        None => Err(ProblemError::field(
            "total",
            expected,
            "no number, and no measurement whose queries determine it",
        )),
    }
}

impl RawMeasurement {
    fn resolve(self, domain: &Domain, field: &str) -> Result<Measurement> {
        let attrs = required(self.attrs, &format!("{field}.attrs"), "a list of attributes")?;
        let listed = attributes(domain, &attrs, field)?;
        let identity = || RawQuery::Kronecker(vec![QueryFactor::Identity; listed.len()]);
        let raw_query = self.query.unwrap_or_else(identity);
        let answers = required(self.y, &format!("{field}.y"), "a list of numbers")?;
        let stddev = required(self.stddev, &format!("{field}.stddev"), "a positive number")?;
        let rows = described(domain, &listed, &raw_query);
        let y =
            flat(domain, &listed, &raw_query, answers, &rows).map_err(|(expected, found)| {
                ProblemError::field(format!("{field}.y"), expected, found)
            })?;
        let refused = |part: &str| format!("{field}.{part}");
        Measurement::assemble(domain, listed, raw_query, y, stddev).map_err(|reason| match reason {
            MeasurementError::Query(reason) => {
                let place = match reason {
                    QueryError::Factor { position: Some(position), .. } => format!("[{position}]"),
                    _ => String::new(),
                };
                ProblemError::Query { field: format!("{field}.query{place}"), reason }
            }
            MeasurementError::Answers { expected, found } => {
                let numbers = if expected == 1 { "number" } else { "numbers" };
                let expected = format!("{expected} {numbers} ({rows})");
                ProblemError::field(refused("y"), expected, found)
            }
            MeasurementError::Stddev(_) => {
                ProblemError::Measurement { field: refused("stddev"), reason }
            }
            MeasurementError::NotFinite { .. } | MeasurementError::Shape { .. } => {
                ProblemError::Measurement { field: refused("y"), reason }
            }
            MeasurementError::Cells { .. } => {
                ProblemError::Measurement { field: refused("query"), reason }
            }
            MeasurementError::NoSuchAttribute(_) => {
                ProblemError::Measurement { field: refused("attrs"), reason }
            }
        })
    }
}

/// The answers as one list. Nested lists must have one level per attribute, and as many elements as
/// the query has rows along it; otherwise the error is what was expected and found.
fn flat(
    domain: &Domain,
    listed: &[AttributeId],
    query: &RawQuery,
    answers: Answers,
    rows: &str,
) -> std::result::Result<Vec<f64>, (String, String)> {
    let found = || answers::described(&answers.shape);
    match (&answers.shape[..], query) {
        ([] | [_], _) => Ok(answers.values),
        (shape, RawQuery::Kronecker(factors)) => {
            let along = factors.iter().zip(listed);
            let along = along.map(|(factor, &id)| factor.rows(domain.size(id)));
            match along.clone().eq(shape.iter().copied()) {
                true => Ok(answers.values),
                false => {
                    let expected: Vec<usize> = along.collect();
                    Err((format!("{} ({rows})", answers::described(&expected)), found()))
                }
            }
        }
        _ => Err(("one list of numbers (the rows of the matrix)".into(), found())),
    }
}

/// As in "12 prefix x 2 identity".
fn described(domain: &Domain, listed: &[AttributeId], query: &RawQuery) -> String {
    let RawQuery::Kronecker(factors) = query else { return "the rows of the matrix".into() };
    let parts: Vec<String> = factors
        .iter()
        .zip(listed)
        .map(|(factor, &id)| format!("{} {}", factor.rows(domain.size(id)), factor.name()))
        .collect();
    if parts.is_empty() { "the total".into() } else { parts.join(" x ") }
}

impl RawZeros {
    pub(super) fn resolve(self, domain: &Domain, field: &str) -> Result<StructuralZeros> {
        let attrs = required(self.attrs, &format!("{field}.attrs"), "a list of attributes")?;
        let listed = attributes(domain, &attrs, field)?;
        if listed.is_empty() {
            return Err(ProblemError::field(format!("{field}.attrs"), "at least one", "none"));
        }
        let raw_cells = required(self.cells, &format!("{field}.cells"), "a list of cells")?;
        let clique = Clique::new(listed.iter().copied());
        let size = domain.cells(&clique).filter(|&cells| cells <= MAX_CELLS).ok_or_else(|| {
            let expected = format!("attributes with at most {MAX_CELLS} combinations");
            let found = format!("{:.4e}", domain.cells_f64(&clique));
            ProblemError::field(format!("{field}.attrs"), expected, found)
        })?;
        let axis_strides = row_major_strides(&domain.shape(&clique));
        let stride_of = |id: &AttributeId| clique.axis(*id).map_or(0, |axis| axis_strides[axis]);
        let strides: Vec<usize> = listed.iter().map(stride_of).collect();
        let mut cells = Vec::with_capacity(raw_cells.len());
        for (index, values) in raw_cells.iter().enumerate() {
            let field = format!("{field}.cells[{index}]");
            if values.len() != listed.len() {
                let expected = format!("{} values, one per attribute", listed.len());
                return Err(ProblemError::field(field, expected, values.len()));
            }
            for (axis, (&value, &id)) in values.iter().zip(&listed).enumerate() {
                if value >= domain.size(id) {
                    let expected =
                        format!("a value of {:?} below {}", domain.name(id), domain.size(id));
                    return Err(ProblemError::field(format!("{field}[{axis}]"), expected, value));
                }
            }
            cells.push(values.iter().zip(&strides).map(|(value, stride)| value * stride).sum());
        }
        cells.sort_unstable();
        cells.dedup();
        if cells.len() == size {
            let field = format!("{field}.cells");
            return Err(ProblemError::field(field, "some combination left possible", "all listed"));
        }
        Ok(StructuralZeros { clique, cells })
    }
}

pub(super) fn attributes(
    domain: &Domain,
    names: &[String],
    field: &str,
) -> Result<Vec<AttributeId>> {
    let mut seen = HashSet::new();
    let listed = names.iter().enumerate().map(|(index, name)| {
        let field = || format!("{field}.attrs[{index}]");
        let id = domain.id(name).ok_or_else(|| {
            ProblemError::field(field(), "an attribute of the domain", format_args!("{name:?}"))
        })?;
        match seen.insert(id) {
            true => Ok(id),
            false => Err(ProblemError::field(
                field(),
                "every attribute once",
                format_args!("{name:?} again"),
            )),
        }
    });
    listed.collect()
}

pub(super) fn required<T>(value: Option<T>, field: &str, expected: &str) -> Result<T> {
    value.ok_or_else(|| ProblemError::field(field, expected, "nothing"))
}
