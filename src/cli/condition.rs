//! Conditions on records, such as `age >= 50 and sex = "F"`.

use private_pgm::domain::{AttributeId, Domain, Labels};

/// Values that a message names at most.
const NAMED: usize = 12;

/// The values of an attribute that satisfy a condition, in ascending order.
pub(crate) type Restriction = (AttributeId, Vec<usize>);

/// Parses conditions joined by `and`. Several on one attribute must hold together.
pub(crate) fn parse(text: &str, domain: &Domain) -> Result<Vec<Restriction>, String> {
    let tokens = tokens(text)?;
    let mut found: Vec<Restriction> = Vec::new();
    let is_and = |token: &Token| token.is_word("and");
    for condition in tokens.split(is_and) {
        let (id, values) = parse_one(condition, domain)?;
        match found.iter_mut().find(|(other, _)| *other == id) {
            Some((_, earlier)) => earlier.retain(|value| values.contains(value)),
            None => found.push((id, values)),
        }
    }
    match found.iter().find(|(_, values)| values.is_empty()) {
        Some((id, _)) => Err(format!("no value of {:?} satisfies it", domain.name(*id))),
        None => Ok(found),
    }
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
                false => "; compare numbers with <, <=, > and >=",
            };
            format!("expected a value of {name:?} ({known}{more}), found {text:?}{hint}")
        }),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name, a value or a keyword.
    Word(String),
    /// A name or a value in quotes.
    Quoted(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

const SIGNS: [&str; 10] = ["!=", "<=", ">=", "==", "=", "<", ">", "(", ")", ","];

impl Token {
    fn is_word(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Quoted(text) => Some(text),
            Self::Sign(_) => None,
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else if matches!(first, '"' | '\'' | '`') {
            let end = rest[1..].find(first).ok_or("a quotation mark is not closed")?;
            tokens.push(Token::Quoted(rest[1..=end].into()));
            rest = &rest[end + 2..];
        } else {
            let ends = |c: char| c.is_whitespace() || "=<>!(),\"'`".contains(c);
            let end = rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
            tokens.push(Token::Word(rest[..end].into()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

const EXPECTED: &str = "expected conditions such as age >= 50 and sex = \"F\", or town in (Bath, \
                        Ely); names with spaces are in quotes";

fn parse_one(condition: &[Token], domain: &Domain) -> Result<Restriction, String> {
    if condition.iter().any(|token| token.is_word("or") || token.is_word("not")) {
        return Err("'or' and 'not' are not supported; several values of one attribute are \
                    written as town in (Bath, Ely), all others as town != Bath"
            .into());
    }
    let [name, operator, values @ ..] = condition else { return Err(EXPECTED.into()) };
    let name = name.text().ok_or(EXPECTED)?;
    let id = domain.id(name).ok_or_else(|| {
        let names: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
        let known = names[..names.len().min(NAMED)].join(", ");
        let more = if names.len() > NAMED { ", ..." } else { "" };
        format!("expected an attribute of the model ({known}{more}), found {name:?}")
    })?;
    if operator.is_word("in") {
        return Ok((id, listed(values, domain, id)?));
    }
    let ([token], Token::Sign(operator)) = (values, operator) else { return Err(EXPECTED.into()) };
    let text = token.text().ok_or(EXPECTED)?;
    let all = 0..domain.size(id);
    let chosen = match *operator {
        "=" | "==" => vec![value(domain, id, text)?],
        "!=" => {
            let excluded = value(domain, id, text)?;
            all.filter(|&value| value != excluded).collect()
        }
        comparison => compared(domain, id, comparison, text)?,
    };
    Ok((id, chosen))
}

/// The values in a list in brackets.
fn listed(tokens: &[Token], domain: &Domain, id: AttributeId) -> Result<Vec<usize>, String> {
    let [Token::Sign("("), inner @ .., Token::Sign(")")] = tokens else {
        return Err(EXPECTED.into());
    };
    let mut values = Vec::new();
    for part in inner.split(|token| *token == Token::Sign(",")) {
        let [token] = part else { return Err(EXPECTED.into()) };
        values.push(value(domain, id, token.text().ok_or(EXPECTED)?)?);
    }
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

/// The values that are below or above a number. Bins must be on one side of it.
fn compared(
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
        "<" | ">" | "<=" | ">=" => number,
        _ => return Err(EXPECTED.into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn domain() -> Domain {
        let ages = Labels::new(["young", "middle", "old", "missing"]).unwrap();
        let ages = ages.with_edges(vec![0.0, 20.0, 50.0, 100.0]).unwrap();
        let towns = Labels::new(["Bath", "Ely, UK", "and"]).unwrap();
        let domain = Domain::new([("age", 4), ("home town", 3), ("code", 5)]).unwrap();
        let domain = domain.with_labels("age", ages).unwrap();
        domain.with_labels("home town", towns).unwrap()
    }

    fn values(text: &str) -> Result<Vec<(String, Vec<usize>)>, String> {
        let domain = domain();
        let found = parse(text, &domain)?;
        Ok(found.into_iter().map(|(id, values)| (domain.name(id).into(), values)).collect())
    }

    #[test]
    fn conditions_select_values() {
        for (text, name, expected) in [
            ("age >= 50", "age", &[2][..]),
            ("age<50", "age", &[0, 1]),
            ("age <= 49", "age", &[0, 1]),
            ("age > 19 AND age < 50", "age", &[1]),
            ("age = old", "age", &[2]),
            ("age != missing", "age", &[0, 1, 2]),
            ("age >= -5", "age", &[0, 1, 2]),
            ("`home town` = 'Ely, UK'", "home town", &[1]),
            ("\"home town\" in (Bath, \"and\")", "home town", &[0, 2]),
            ("code > 2", "code", &[3, 4]),
            ("code = 0", "code", &[0]),
        ] {
            assert_eq!(values(text).unwrap(), [(name.to_string(), expected.to_vec())], "{text}");
        }
        assert_eq!(values("age >= 50 and code in (1, 0)").unwrap().len(), 2);
    }

    #[test]
    fn conditions_without_a_meaning_are_refused_with_the_reason() {
        for (text, expected) in [
            ("", "expected conditions such as"),
            ("age", "expected conditions such as"),
            ("age >= 50 and", "expected conditions such as"),
            ("age ~ 5", "expected conditions such as"),
            ("age >= 50 or code = 1", "'or' and 'not' are not supported"),
            ("size = 1", "expected an attribute of the model (age, home town, code), found"),
            ("age >= 30", "cuts the bin [20, 50) of \"age\"; compare with 20 or 50"),
            ("age <= 50", "cuts the bin [50, 100)"),
            ("age > many", "expected a number"),
            ("age = 30", "compare numbers with <"),
            ("`home town` > 3", "has no order"),
            ("`home town` = bath", "expected a value of \"home town\" (Bath, Ely, UK, and)"),
            ("age > 100", "no value of \"age\" satisfies it"),
            ("code = 1 and code = 2", "no value of \"code\""),
            ("code = 7", "below 5"),
            ("age = 'old", "not closed"),
            ("code in 1, 2", "expected conditions such as"),
        ] {
            let found = values(text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
