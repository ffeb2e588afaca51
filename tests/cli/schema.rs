//! The JSON schema of experiment files.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Session;

/// What a value breaks, as far as the schemas of `pgmbench schema` go; `None` if it fits.
fn mistake(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return mistake(root, root.pointer(&name[1..]).unwrap(), value);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices.iter().any(|choice| mistake(root, choice, value).is_none());
        return (!fits).then(|| format!("{value} fits none of {choices:?}"));
    }
    if let Some(names) = schema["enum"].as_array() {
        return (!names.contains(value)).then(|| format!("{value} is none of {names:?}"));
    }
    let is_right = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("an unknown type: {other}"),
        None => true,
    };
    if !is_right {
        return Some(format!("{value} is not of the type {}", schema["type"]));
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        return list.iter().find_map(|item| mistake(root, items, item));
    }
    let fields = schema["properties"].as_object().zip(value.as_object());
    let (properties, fields) = fields?;
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required.map(|key| key.as_str().unwrap()).find(|key| !fields.contains_key(*key));
    if let Some(key) = missing {
        return Some(format!("{key} is missing"));
    }
    fields.iter().find_map(|(key, value)| match properties.get(key) {
        Some(property) => mistake(root, property, value).map(|what| format!("{key}: {what}")),
        None => Some(format!("{key} is no key")),
    })
}

fn of_toml(root: &Value, text: &str) -> Option<String> {
    mistake(root, root, &serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap())
}

fn schema() -> Value {
    serde_json::from_str(&Session::new().run(["schema"]).succeeds()).unwrap()
}

#[test]
fn all_experiments_fit_the_schema() {
    let (schema, root) = (schema(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let mut files: Vec<_> =
        fs::read_dir(root.join("configs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(root.join("examples/commands/experiment.toml"));
    files.push(root.join("src/config/tests/everything.toml"));
    assert!(files.len() > 10);
    for file in files {
        let found = of_toml(&schema, &fs::read_to_string(&file).unwrap());
        assert_eq!(found, None, "{}", file.display());
    }
}

#[test]
fn mistakes_do_not_fit_the_schema() {
    let schema = schema();
    let good = "name = \"a\"\nepsilon = 1\ndatasets = [\"adult\", { name = \"b\" }]\n";
    assert_eq!(of_toml(&schema, good), None);
    for (more, expected) in [
        ("trails = 5", "trails is no key"),
        ("trials = \"five\"", "trials: "),
        ("neighbours = \"near\"", "is none of"),
        ("[limits]\nsecond = 1", "limits: second is no key"),
        ("[[mechanism]]\nlabel = \"x\"", "name is missing"),
        ("[[mechanism]]\nname = \"x\"\narms = [3]", "fits none"),
        ("[[mechanism]]\nname = \"x\"\nestimation = { loss = \"l3\" }", "is none of"),
        ("sweep = { parameter = \"delta\" }", "values is missing"),
        ("limits = [1, 2]", "is not of the type"),
    ] {
        let found = of_toml(&schema, &format!("{good}{more}\n")).unwrap_or_default();
        assert!(found.contains(expected), "{more}: {found}");
    }
}

#[test]
fn every_key_has_a_description() {
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        for (key, property) in definition["properties"].as_object().unwrap() {
            let text = property["description"].as_str().unwrap();
            let is_section = name == "experiment" && property.get("$ref").is_some()
                || property["items"].get("$ref").is_some();
            assert!(!text.is_empty() || is_section, "{name}.{key}");
        }
    }
}
