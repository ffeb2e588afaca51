//! Conditions on records, such as `age >= 50 and (sex = "F" or town in (Bath, Ely))`.

mod formula;
mod parser;
mod tokens;
mod values;

use std::ops::Range;

use private_pgm::domain::Domain;

pub(crate) use formula::Block;
use parser::Parser;
pub(crate) use values::{attribute, value};

/// Each block is a query of its own.
const MOST_BLOCKS: usize = 1000;

/// What is wrong with a condition, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConditionError {
    /// In bytes of the condition; empty at its end.
    at: Range<usize>,
    problem: String,
}

type Found<T> = Result<T, ConditionError>;

/// The records that satisfy a condition, as disjoint blocks.
pub(crate) fn parse(text: &str, domain: &Domain) -> Result<Vec<Block>, ConditionError> {
    let mut parser = Parser::new(text, domain)?;
    let formula = parser.whole()?;
    let of_all = |problem: String| ConditionError { at: 0..text.len(), problem };
    let blocks = formula.blocks(domain, MOST_BLOCKS).ok_or_else(|| {
        of_all(format!(
            "expected a condition with at most {MOST_BLOCKS} cases; ask for its parts on their own"
        ))
    })?;
    match (blocks.is_empty(), parser.never) {
        (false, _) => Ok(blocks),
        (true, Some((id, at))) => {
            let problem = format!("no value of {:?} satisfies it", domain.name(id));
            Err(ConditionError { at, problem })
        }
        (true, None) => Err(of_all("no record can satisfy it".into())),
    }
}

impl ConditionError {
    /// The message with the condition and a mark under the place.
    pub(crate) fn shown(&self, condition: &str) -> String {
        // One column per character.
        let line = condition.replace(|c: char| c.is_whitespace() || c.is_control(), " ");
        let before = condition[..self.at.start].chars().count();
        let marked = condition[self.at.clone()].chars().count().max(1);
        let (margin, marks) = (" ".repeat(before), "^".repeat(marked));
        format!("character {}: {}\n    {line}\n    {margin}{marks}", before + 1, self.problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::domain::Labels;

    fn domain() -> Domain {
        let ages = Labels::new(["young", "middle", "old", "missing"]).unwrap();
        let ages = ages.with_edges(vec![0.0, 20.0, 50.0, 100.0]).unwrap();
        let towns = Labels::new(["Bath", "Ely, UK", "and"]).unwrap();
        let domain = Domain::new([("age", 4), ("home town", 3), ("code", 5)]).unwrap();
        let domain = domain.with_labels("age", ages).unwrap();
        domain.with_labels("home town", towns).unwrap()
    }

    /// The values by attribute if there is one block.
    fn values(text: &str) -> Vec<(String, Vec<usize>)> {
        let domain = domain();
        let blocks = parse(text, &domain).unwrap();
        let [block] = &blocks[..] else { panic!("{text}: {blocks:?}") };
        let named = block.iter().map(|(id, values)| (domain.name(*id).into(), values.clone()));
        named.collect()
    }

    #[test]
    fn conditions_select_values() {
        for (text, name, expected) in [
            ("age >= 50", "age", &[2][..]),
            ("age<50", "age", &[0, 1]),
            ("age <= 49", "age", &[0, 1]),
            ("age > 19 AND age < 50", "age", &[1]),
            ("age = old", "age", &[2]),
            ("age = old or age=young", "age", &[0, 2]),
            ("age != missing", "age", &[0, 1, 2]),
            ("age >= -5", "age", &[0, 1, 2]),
            ("`home town` = 'Ely, UK'", "home town", &[1]),
            ("\"home town\" in (Bath, \"and\")", "home town", &[0, 2]),
            ("code > 2", "code", &[3, 4]),
            ("((code = 0))", "code", &[0]),
        ] {
            assert_eq!(values(text), [(name.to_string(), expected.to_vec())], "{text}");
        }
        assert_eq!(values("age >= 50 and code in (1, 0)").len(), 2);
    }

    #[test]
    fn and_binds_more_tightly_than_or_and_brackets_bind_first() {
        let same = |a: &str, b: &str| {
            assert_eq!(parse(a, &domain()).unwrap(), parse(b, &domain()).unwrap(), "{a}, {b}");
        };
        let parts = ["age = old", "code = 1", "code = 2"];
        let [a, b, c] = parts;
        same(&format!("{a} or {b} and {c} or {c}"), &format!("{a} or ({b} and {c}) or {c}"));
        assert_ne!(
            parse(&format!("({a} or {b}) and {c}"), &domain()).unwrap(),
            parse(&format!("{a} or {b} and {c}"), &domain()).unwrap_or_default()
        );
    }

    #[test]
    fn conditions_without_a_meaning_are_refused_at_their_place_with_the_reason() {
        for (text, place, expected) in [
            ("", "", "expected a comparison such as age >= 50, found the end"),
            ("age", "", "expected =, !=, <, <=, >, >= or 'in', found the end"),
            ("age >= 50 and", "", "expected a comparison such as"),
            ("age >= 50 or or code = 1", "or", "in quotes"),
            ("age ~ 5", "~", "expected =, !="),
            ("age = and", "and", "expected a value, found \"and\"; a name or value like that"),
            ("not age = 1", "not", "'not' is not supported"),
            ("size = 1", "size", "expected one of the attributes (age, home town, code), f"),
            ("home town = Bath", "home", "names with spaces are in quotes"),
            ("age >= 30", "age >= 30", "cuts the bin [20, 50) of \"age\"; compare with 20 or 50"),
            ("code=1 or age <= 50", "age <= 50", "cuts the bin [50, 100)"),
            ("age > many", "age > many", "expected a number"),
            ("age = 30", "30", "compares numbers with <"),
            ("`home town` > 3", "`home town` > 3", "has no order"),
            ("'home town' = bath", "bath", "expected a value of \"home town\" (Bath, Ely, UK,"),
            ("code=1 and age > 100", "age > 100", "no value of \"age\" satisfies it"),
            ("code = 1 and code = 2", "code = 1 and code = 2", "no record can satisfy it"),
            ("code = 7", "7", "below 5"),
            ("age = 'old", "'", "this quotation mark is not closed"),
            ("code in 1, 2", "1", "expected a list such as (Bath, Ely)"),
            ("code in (1 2)", "2", "expected a comma or )"),
            ("code in ()", ")", "expected a value"),
            ("(age = old or code = 1", "(", "this bracket is not closed"),
            ("age = old)", ")", "this bracket closes none"),
            ("age = old code = 1", "code", "expected 'and', 'or' or the end of the condition"),
            (&"(".repeat(100_000), "(", "at most 50 brackets in brackets"),
        ] {
            let error = parse(text, &domain()).unwrap_err();
            assert_eq!(&text[error.at.clone()], place, "{text}: {error:?}");
            assert!(error.problem.contains(expected), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_mark_shows_the_place() {
        let text = "`home town` = \"Ely, UK\"\nor age = ött";
        let shown = parse(text, &domain()).unwrap_err().shown(text);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("character 34: expected a value of \"age\""), "{shown}");
        assert_eq!(lines[1], "    `home town` = \"Ely, UK\" or age = ött");
        assert_eq!(lines[2].find('^'), Some(4 + 33), "{shown}");
        assert!(lines[2].ends_with(" ^^^"), "{shown}");
    }
}
