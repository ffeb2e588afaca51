use private_pgm::domain::{AttributeId, Domain, Labels};

/// Values and attributes that a message names at most.
const NAMED: usize = 12;

pub(crate) fn attribute(domain: &Domain, name: &str) -> Result<AttributeId, String> {
    domain.id(name).ok_or_else(|| {
        let names: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
        let known = names[..names.len().min(NAMED)].join(", ");
        let more = if names.len() > NAMED { ", ..." } else { "" };
        format!("expected one of the attributes ({known}{more}), found {name:?}")
    })
}

/// The value of an attribute that a text names: its label, or its number if it has no labels.
pub(crate) fn value(domain: &Domain, id: AttributeId, text: &str) -> Result<usize, String> {
    let (name, size) = (domain.name(id), domain.size(id));
    match domain.labels(id) {
        None => text
            .parse()
            .ok()
            .filter(|&value: &usize| value < size)
            .ok_or_else(|| format!("expected a value of {name:?} below {size}, found {text:?}")),
        Some(labels) => labels.find(text).ok_or_else(|| {
            let names = labels.names();
            let known = names[..names.len().min(NAMED)].join(", ");
            let more = if names.len() > NAMED { ", ..." } else { "" };
            let hint = match labels.edges().is_empty() || text.parse::<f64>().is_err() {
                true => "",
                false => "; --where compares numbers with <, <=, > and >=",
            };
            format!("expected a value of {name:?} ({known}{more}), found {text:?}{hint}")
        }),
    }
}

/// The values that are below or above a number (`<`, `<=`, `>` or `>=`). Bins must be on one side
/// of it.
pub(super) fn compared(
    domain: &Domain,
    id: AttributeId,
    comparison: &str,
    text: &str,
) -> Result<Vec<usize>, String> {
    let name = domain.name(id);
    let number: f64 = text
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("expected a number to compare {name:?} with, found {text:?}"))?;
    let intervals: Vec<Option<(f64, f64)>> = match domain.labels(id) {
        None => {
            (0..domain.size(id)).map(|value| Some((value as f64, value as f64 + 1.0))).collect()
        }
        Some(labels) if labels.edges().is_empty() => {
            return Err(format!(
                "{name:?} has names and no numbers, so that it has no order; write {name} in \
                 ({}, ...)",
                labels.names().first().map_or("", String::as_str)
            ));
        }
        Some(labels) => (0..domain.size(id)).map(|value| labels.interval(value)).collect(),
    };
    let whole = domain.labels(id).is_none_or(has_whole_edges) && number.fract() == 0.0;
    // Whole numbers up to 49 are those below 50.
    let cut = match comparison {
        "<=" | ">" if whole => number + 1.0,
        _ => number,
    };
    let is_below = comparison.starts_with('<');
    let mut chosen = Vec::new();
    for (value, interval) in intervals.iter().enumerate() {
        let Some((low, end)) = *interval else { continue };
        if low < cut && cut < end {
            return Err(format!(
                "{comparison} {text} cuts the bin [{low}, {end}) of {name:?}; compare with {low} \
                 or {end}"
            ));
        }
        if (end <= cut) == is_below {
            chosen.push(value);
        }
    }
    Ok(chosen)
}

fn has_whole_edges(labels: &Labels) -> bool {
    labels.edges().iter().all(|edge| edge.fract() == 0.0)
}
