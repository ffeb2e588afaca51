//! From settings as typed to settings that agree with each other.

use std::collections::HashMap;

use super::raw::{RawAttribute, RawKind, RawWorkload};
use super::{
    AttributeKind, AttributeProblem, AttributeSchema, MAX_BINS, Missing, Outside, SchemaError,
    TripleWorkload,
};
use private_pgm::domain::{Clique, Domain};

/// The attribute that these settings describe, if they agree with each other.
pub(super) fn validate_attribute(
    raw: RawAttribute,
    missing_texts: &[String],
) -> Result<AttributeSchema, AttributeProblem> {
    if raw.missing == Missing::Error && raw.outside == Outside::Missing {
        return Err(AttributeProblem::OutsideMissing);
    }
    if raw.missing == Missing::Error && raw.missing_when.is_some() {
        return Err(AttributeProblem::MissingWhen);
    }
    let kind = match raw.kind {
        RawKind::Numeric => numeric(&raw)?,
        RawKind::Categorical => categorical(&raw)?,
    };
    Ok(AttributeSchema {
        column: raw.column.unwrap_or_else(|| raw.name.clone()),
        name: raw.name,
        kind,
        missing: raw.missing,
        outside: raw.outside,
        missing_when: raw.missing_when,
        missing_texts: missing_texts.to_vec(),
        strip_suffix: raw.strip_suffix,
        remove_spaces: raw.remove_spaces,
        keep: raw.keep,
    })
}

/// The bins of a numeric attribute.
fn numeric(raw: &RawAttribute) -> Result<AttributeKind, AttributeProblem> {
    let needs = |needs| AttributeProblem::Needs { kind: "numeric", needs };
    let not_for = |setting| AttributeProblem::NotForKind { kind: "numeric", setting };
    if raw.values.is_some() {
        return Err(not_for("values"));
    }
    if raw.spellings.is_some() {
        return Err(not_for("spellings"));
    }
    let bins = raw.bins.ok_or(needs("'bins', their number"))?;
    if !(1..=MAX_BINS).contains(&bins) {
        return Err(AttributeProblem::Bins(bins));
    }
    let low = raw.low.ok_or(needs("'low', the smallest value"))?;
    let end = match (raw.high, raw.below) {
        (Some(high), None) => high + 1.0,
        (None, Some(below)) => below,
        _ => return Err(needs("either 'high', the largest integer, or 'below', the open end")),
    };
    let width = (end - low) / f64::from(bins);
    if !(width.is_finite() && width > 0.0 && low + width > low) {
        return Err(AttributeProblem::Bounds { low, end });
    }
    Ok(AttributeKind::Numeric { low, end, bins })
}

/// The list of a categorical attribute, with the code of every spelling.
fn categorical(raw: &RawAttribute) -> Result<AttributeKind, AttributeProblem> {
    let not_for = |setting| AttributeProblem::NotForKind { kind: "categorical", setting };
    let numeric_settings = [
        ("bins", raw.bins.is_some()),
        ("low", raw.low.is_some()),
        ("high", raw.high.is_some()),
        ("below", raw.below.is_some()),
        ("outside = \"clamp\"", raw.outside == Outside::Clamp),
    ];
    if let Some(&(setting, _)) = numeric_settings.iter().find(|(_, present)| *present) {
        return Err(not_for(setting));
    }
    let values =
        raw.values.clone().filter(|values| !values.is_empty()).ok_or(AttributeProblem::Needs {
            kind: "categorical",
            needs: "'values', the list of values",
        })?;
    let mut codes = HashMap::with_capacity(values.len());
    for (code, value) in (0..).zip(&values) {
        if codes.insert(value.clone(), code).is_some() {
            return Err(AttributeProblem::DuplicateValue(value.clone()));
        }
    }
    for spellings in raw.spellings.iter().flatten() {
        let Some((value, others)) = spellings.split_first() else { continue };
        let code =
            *codes.get(value).ok_or_else(|| AttributeProblem::SpellingOfNoValue(value.clone()))?;
        for other in others {
            if codes.insert(other.clone(), code).is_some() {
                return Err(AttributeProblem::DuplicateValue(other.clone()));
            }
        }
    }
    Ok(AttributeKind::Categorical { values, codes })
}

/// The workload with its names looked up.
pub(super) fn resolve_workload(
    raw: RawWorkload,
    domain: &Domain,
) -> Result<TripleWorkload, SchemaError> {
    let clique = |names: &[String]| {
        names
            .iter()
            .map(|name| domain.id(name).ok_or_else(|| SchemaError::UnknownAttribute(name.clone())))
            .collect::<Result<Clique, _>>()
    };
    let mut triples = Vec::with_capacity(raw.triples.len());
    for names in raw.triples {
        let triple = clique(&names)?;
        if triple.len() != 3 {
            return Err(SchemaError::NotATriple(names));
        }
        triples.push(triple);
    }
    Ok(TripleWorkload { triples, prefix: clique(&raw.prefix)? })
}
