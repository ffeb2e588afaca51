//! The JSON schema of experiment files, for editors that complete and check them.
//!
//! The names of the keys are those of the parser's own types. What a key means and which values it
//! takes is read from the tables of docs/experiments.md, so that the reference, the schema and the
//! parser cannot differ: a test compares all keys.

use serde_json::{Map, Value, json};

use super::claim::Claim;
use super::command::EstimatorCommand;
use super::dataset::Chain;
use super::layers::EstimationLayer;
use super::raw::{
    ArmTable, DatasetTable, RawChanges, RawEvaluation, RawExperiment, RawFigure, RawLimits,
    RawMechanism, RawScaling,
};
use super::sweep::Sweep;
use super::workload::{RandomMarginals, Workload};
use crate::field_names::field_names;

const REFERENCE: &str = include_str!("../../docs/experiments.md");

/// A table of the file.
struct Section {
    /// In `$defs`.
    name: &'static str,
    keys: &'static [&'static str],
    /// The heading of its table in the reference, and which of the tables with a column `key`.
    table: (&'static str, usize),
    /// In front of its keys in the reference: `chain.`
    prefix: &'static str,
    required: &'static [&'static str],
}

/// A row of the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row<'a> {
    kind: &'a str,
    meaning: &'a str,
}

/// The schema of a file.
pub fn json_schema() -> Value {
    let sections = sections();
    let definitions: Map<String, Value> =
        sections.iter().map(|section| (section.name.to_string(), section.schema())).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Experiments of pgmbench",
        "$ref": "#/$defs/experiment",
        "$defs": definitions,
    })
}

fn sections() -> Vec<Section> {
    let section = |name, keys, table, required| Section { name, keys, table, prefix: "", required };
    vec![
        section("experiment", field_names::<RawExperiment>(), ("Top level", 0), &["name"]),
        section("dataset", field_names::<DatasetTable>(), ("Top level", 1), &["name"]),
        Section {
            prefix: "chain.",
            ..section("chain", field_names::<Chain>(), ("Top level", 1), &["attributes", "records"])
        },
        section("sweep", field_names::<Sweep>(), ("Sweeps", 0), &["parameter", "values"]),
        section("workload", field_names::<Workload>(), ("`[workload]`", 0), &[]),
        Section {
            prefix: "random.",
            ..section(
                "random",
                field_names::<RandomMarginals>(),
                ("`[workload]`", 0),
                &["marginals", "size"],
            )
        },
        section("estimation", field_names::<EstimationLayer>(), ("`[estimation]`", 0), &[]),
        section("limits", field_names::<RawLimits>(), ("`[limits]`", 0), &[]),
        section("evaluation", field_names::<RawEvaluation>(), ("`[evaluation]`", 0), &[]),
        section("mechanism", field_names::<RawMechanism>(), ("`[[mechanism]]`", 0), &["name"]),
        section("arm", field_names::<ArmTable>(), ("`[[mechanism]]`", 1), &["estimator"]),
        section(
            "estimator",
            field_names::<EstimatorCommand>(),
            ("`[[estimator]]`", 0),
            &["name", "command"],
        ),
        section(
            "scaling",
            field_names::<RawScaling>(),
            ("`[scaling]`", 0),
            &["attributes", "arms"],
        ),
        section("figure", field_names::<RawFigure>(), ("`[figure]`", 0), &["kind"]),
        section("quick", field_names::<RawChanges>(), ("`[quick]`", 0), &[]),
        section("claim", field_names::<Claim>(), ("`[[claim]]`", 0), &["says", "paper", "kind"]),
    ]
}

impl Section {
    fn schema(&self) -> Value {
        let property = |key: &&str| {
            let row = self.row(key);
            let mut schema = of_key(self.name, key).unwrap_or_else(|| of_kind(row.kind));
            schema["description"] = plain(row.meaning).into();
            (key.to_string(), schema)
        };
        json!({
            "type": "object",
            "properties": self.keys.iter().map(property).collect::<Map<_, _>>(),
            "required": self.required,
            "additionalProperties": false,
        })
    }

    /// Empty if the reference does not have the key, which a test excludes.
    fn row(&self, key: &str) -> Row<'static> {
        let name = format!("{}{key}", self.prefix);
        row(self.table, &name).unwrap_or(Row { kind: "", meaning: "" })
    }
}

/// The keys whose values have a schema of their own.
fn of_key(section: &str, key: &str) -> Option<Value> {
    let table = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let named = |name: &str| json!({ "anyOf": [{ "type": "string" }, table(name)] });
    let list = |items: Value| json!({ "type": "array", "items": items });
    Some(match (section, key) {
        (_, "datasets") => list(named("dataset")),
        // By the name of an arm.
        ("figure", "arms") => json!({ "type": "object" }),
        (_, "arms") => list(named("arm")),
        ("experiment", "mechanism" | "claim" | "estimator") => list(table(key)),
        (
            "experiment",
            "workload" | "limits" | "evaluation" | "scaling" | "figure" | "quick" | "sweep",
        ) => table(key),
        (_, "estimation") => table("estimation"),
        ("dataset", "chain") => table("chain"),
        ("workload", "random") => table("random"),
        (_, "command") => list(json!({ "type": "string" })),
        _ => return None,
    })
}

/// The schema of a value as the column "type" describes it. A kind that it does not know is any
/// value; the parser has the last word.
fn of_kind(kind: &str) -> Value {
    let of_word = |word: &str| match word {
        "string" | "name" | "path" => Some(json!({ "type": "string" })),
        "integer" => Some(json!({ "type": "integer", "minimum": 0 })),
        "boolean" => Some(json!({ "type": "boolean" })),
        "table" => Some(json!({ "type": "object" })),
        "list" => Some(json!({ "type": "array" })),
        _ if word.starts_with("list of") => Some(json!({ "type": "array" })),
        _ if word == "number" || word == "numbers" || word.starts_with("number in") => {
            Some(json!({ "type": "number" }))
        }
        _ => None,
    };
    let names: Vec<&str> = kind.split('"').skip(1).step_by(2).collect();
    if !names.is_empty() {
        return json!({ "enum": names });
    }
    match kind.split(" or ").map(of_word).collect::<Option<Vec<Value>>>() {
        Some(mut kinds) if kinds.len() == 1 => kinds.remove(0),
        Some(kinds) => json!({ "anyOf": kinds }),
        None => json!({}),
    }
}

/// The text without links: `[Sweeps](#sweeps)` becomes `Sweeps`.
fn plain(text: &str) -> String {
    let mut parts = text.split('[');
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once("](").and_then(|(name, rest)| Some((name, rest.split_once(')')?.1))) {
            Some((name, rest)) => plain += &format!("{name}{rest}"),
            None => plain += &format!("[{part}"),
        }
    }
    plain
}

/// The row of a key in one of the tables under a heading.
fn row((heading, place): (&str, usize), key: &str) -> Option<Row<'static>> {
    let under = |line: &&str| line.trim_start_matches('#').trim() == heading;
    let lines = REFERENCE.lines().skip_while(|line| !(line.starts_with("## ") && under(line)));
    let lines = lines.skip(1).take_while(|line| !line.starts_with("## "));
    let mut tables = 0;
    for line in lines {
        let cells: Vec<&str> =
            line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        if cells[0] == "key" {
            tables += 1;
        }
        let named: Vec<&str> = cells[0].split('`').skip(1).step_by(2).collect();
        if tables == place + 1 && named.contains(&key) {
            let meaning = if cells.len() > 4 { cells[3] } else { cells.get(2)? };
            return Some(Row { kind: cells.get(1)?, meaning });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_parser_is_in_the_reference() {
        for section in sections() {
            assert!(!section.keys.is_empty(), "{}", section.name);
            for key in section.keys.iter().chain(section.required) {
                assert!(section.keys.contains(key), "{}.{key} is no key", section.name);
                let name = format!("{}{key}", section.prefix);
                let found = row(section.table, &name);
                let is_section =
                    of_key(section.name, key).is_some() && section.name == "experiment";
                assert!(found.is_some() || is_section, "{}.{key} has no row", section.name);
            }
        }
    }

    #[test]
    fn kinds_and_links_are_understood() {
        assert_eq!(of_kind("integer")["type"], "integer");
        assert_eq!(of_kind("`\"a\"`, `\"b\"`"), json!({ "enum": ["a", "b"] }));
        assert_eq!(of_kind("number or list")["anyOf"].as_array().unwrap().len(), 2);
        assert_eq!(of_kind("see below"), json!({}));
        assert_eq!(plain("see [Sweeps](#sweeps), or [1]"), "see Sweeps, or [1]");
    }
}
