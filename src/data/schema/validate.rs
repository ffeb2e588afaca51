//! From settings as typed to settings that agree with each other.

use std::collections::HashMap;

use super::bins::Bins;
use super::date::DatePattern;
use super::raw::{RawAttribute, RawKind, RawPart, RawWorkload, Spacing};
use super::{
    AttributeKind, AttributeProblem, AttributeSchema, DatePart, Missing, NumberFormat, Outside,
    SchemaError, TripleWorkload,
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
    refuse_settings_of_other_kinds(&raw)?;
    let kind = match raw.kind {
        RawKind::Numeric => {
            let format = raw.number.clone().unwrap_or_default();
            if let Some(problem) = format.problem() {
                return Err(AttributeProblem::Number(problem));
            }
            // `high` says that the numbers are integers.
            let digits = format.digits.or(raw.high.map(|_| 0));
            let format = NumberFormat { digits, ..format };
            AttributeKind::Numeric { bins: bins(&raw, "numeric")?, format }
        }
        RawKind::Date => date(&raw)?,
        RawKind::Categorical => categorical(&raw)?,
    };
    Ok(AttributeSchema {
        column: raw.column.unwrap_or_else(|| raw.name.clone()),
        name: raw.name,
        kind,
        missing: raw.missing,
        outside: raw.outside,
        missing_when: raw.missing_when,
        missing_texts: raw.missing_texts.unwrap_or_else(|| missing_texts.to_vec()),
        strip_suffix: raw.strip_suffix,
        remove_spaces: raw.remove_spaces,
        keep: raw.keep,
    })
}

/// Settings of numbers and of the years of dates.
fn bin_settings(raw: &RawAttribute) -> [(&'static str, bool); 9] {
    [
        ("bins", raw.bins.is_some()),
        ("width", raw.width.is_some()),
        ("edges", raw.edges.is_some()),
        ("spacing", raw.spacing.is_some()),
        ("labels", raw.labels.is_some()),
        ("low", raw.low.is_some()),
        ("high", raw.high.is_some()),
        ("below", raw.below.is_some()),
        ("outside = \"clamp\"", raw.outside == Outside::Clamp),
    ]
}

fn refuse_settings_of_other_kinds(raw: &RawAttribute) -> Result<(), AttributeProblem> {
    use RawKind::{Categorical, Date, Numeric};
    let kind = match raw.kind {
        Numeric => "numeric",
        Date => "date",
        Categorical => "categorical",
    };
    let others = [
        ("number", raw.number.is_some(), Numeric),
        ("date", raw.date.is_some(), Date),
        ("part", raw.part.is_some(), Date),
        ("values", raw.values.is_some(), Categorical),
        ("spellings", raw.spellings.is_some(), Categorical),
        ("other", raw.other.is_some(), Categorical),
    ];
    let mut settings: Vec<(&'static str, bool)> =
        others.iter().map(|&(name, given, of)| (name, given && of != raw.kind)).collect();
    if raw.kind == Categorical {
        settings.extend(bin_settings(raw));
    }
    match settings.iter().find(|(_, given)| *given) {
        Some(&(setting, _)) => Err(AttributeProblem::NotForKind { kind, setting }),
        None => Ok(()),
    }
}

/// The bins of numbers: by their number, their width or their edges.
fn bins(raw: &RawAttribute, kind: &'static str) -> Result<Bins, AttributeProblem> {
    let needs = |needs| AttributeProblem::Needs { kind, needs };
    let both = |one, other| Err(AttributeProblem::Both { one, other });
    let bins = match (&raw.edges, raw.bins, raw.width) {
        (Some(_), Some(_), _) => return both("edges", "bins"),
        (Some(_), _, Some(_)) => return both("edges", "width"),
        (None, Some(_), Some(_)) => return both("bins", "width"),
        (Some(edges), None, None) => {
            let bounds = [("low", raw.low), ("high", raw.high), ("below", raw.below)];
            if let Some((bound, _)) = bounds.iter().find(|(_, value)| value.is_some()) {
                return both("edges", bound);
            }
            if raw.spacing.is_some() {
                return both("edges", "spacing");
            }
            Bins::listed(edges.clone())
        }
        (None, None, None) => {
            return Err(needs("'bins' (their number), 'width' (of each) or 'edges' (a list)"));
        }
        (None, count, width) => {
            let low = raw.low.ok_or(needs("'low', the smallest value"))?;
            let end = match (raw.high, raw.below) {
                (Some(high), None) => high + 1.0,
                (None, Some(below)) => below,
                _ => {
                    return Err(needs(
                        "either 'high', the largest integer, or 'below', the open end",
                    ));
                }
            };
            match (count, width, raw.spacing) {
                (_, Some(_), Some(_)) => return both("width", "spacing"),
                (_, Some(width), None) => Bins::of_width(low, end, width),
                (count, None, Some(Spacing::Log)) => {
                    Bins::log_spaced(low, end, count.unwrap_or(0), raw.high.is_some())
                }
                (count, None, _) => Bins::equal(low, end, count.unwrap_or(0)),
            }
        }
    };
    let bins = bins.map_err(AttributeProblem::from)?;
    let Some(labels) = &raw.labels else { return Ok(bins) };
    if labels.len() != bins.len() {
        let (labels, bins) = (labels.len(), bins.len());
        return Err(AttributeProblem::Labels { labels, bins });
    }
    match labels.iter().enumerate().find(|(at, label)| labels[..*at].contains(label)) {
        Some((_, label)) => Err(AttributeProblem::DuplicateValue(label.clone())),
        None => Ok(bins.with_labels(labels.clone())),
    }
}

fn date(raw: &RawAttribute) -> Result<AttributeKind, AttributeProblem> {
    let needs = |needs| AttributeProblem::Needs { kind: "date", needs };
    let text = raw.date.as_ref().ok_or(needs("'date', a pattern such as \"YYYY-MM-DD\""))?;
    let pattern =
        DatePattern::new(text).ok_or_else(|| AttributeProblem::DatePattern(text.clone()))?;
    let part = match raw.part.ok_or(needs("'part': \"year\", \"month\" or \"weekday\""))? {
        RawPart::Year => DatePart::Year(bins(raw, "year")?),
        part => {
            if let Some(&(setting, _)) = bin_settings(raw).iter().find(|(_, given)| *given) {
                let kind = "month and weekday";
                return Err(AttributeProblem::NotForKind { kind, setting });
            }
            if part == RawPart::Month { DatePart::Month } else { DatePart::Weekday }
        }
    };
    Ok(AttributeKind::Date { pattern, part })
}

/// The list of a categorical attribute, with the code of every spelling.
fn categorical(raw: &RawAttribute) -> Result<AttributeKind, AttributeProblem> {
    let mut values =
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
    let mut other = None;
    if let Some(label) = &raw.other {
        if raw.outside == Outside::Missing {
            return Err(AttributeProblem::OtherAndMissing);
        }
        let code = *codes.entry(label.clone()).or_insert(values.len() as u32);
        if code as usize == values.len() {
            values.push(label.clone());
        }
        other = Some(code);
    }
    Ok(AttributeKind::Categorical { values, codes, other })
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
    for names in &raw.triples {
        let triple = clique(names)?;
        if triple.len() != 3 {
            return Err(SchemaError::NotATriple(names.clone()));
        }
        triples.push(triple);
    }
    let RawWorkload { published, origin, prefix, .. } = &raw;
    let (published, origin) = (*published, origin.clone());
    Ok(TripleWorkload { triples, prefix: clique(prefix)?, published, origin })
}
