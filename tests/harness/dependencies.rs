//! The licences and sources of all dependencies, compared with `deny.toml`, and their features.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Cargo's metadata of the workspace and of all packages that are built on this machine.
fn metadata() -> Value {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    serde_json::from_slice(&cargo.stdout).unwrap()
}

fn packages() -> Vec<Value> {
    let packages = metadata()["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 20);
    packages
}

fn lists() -> toml::Table {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deny.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn texts(value: &toml::Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Whether an SPDX expression is satisfied by these licences: one side of an OR, both sides of an
/// AND. A slash is the older spelling of OR.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut place = 0;
    let whole = either(&words, &mut place, allowed);
    whole && place == words.len()
}

fn either(words: &[&str], place: &mut usize, allowed: &[&str]) -> bool {
    let mut any = both(words, place, allowed);
    while words.get(*place) == Some(&"OR") {
        *place += 1;
        any |= both(words, place, allowed);
    }
    any
}

fn both(words: &[&str], place: &mut usize, allowed: &[&str]) -> bool {
    let mut all = single(words, place, allowed);
    while words.get(*place) == Some(&"AND") {
        *place += 1;
        all &= single(words, place, allowed);
    }
    all
}

fn single(words: &[&str], place: &mut usize, allowed: &[&str]) -> bool {
    let Some(&word) = words.get(*place) else { return false };
    *place += 1;
    if word == "(" {
        let inner = either(words, place, allowed);
        *place += 1;
        return inner;
    }
    match (words.get(*place), words.get(*place + 1)) {
        (Some(&"WITH"), Some(exception)) => {
            *place += 2;
            allowed.contains(&format!("{word} WITH {exception}").as_str())
        }
        _ => allowed.contains(&word),
    }
}

#[test]
fn every_licence_is_allowed() {
    let lists = lists();
    let allowed = texts(&lists["licenses"]["allow"]);
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(satisfied(licence, &allowed), "{}: {licence}", package["name"]);
    }
}

#[test]
fn every_crate_is_ours_or_from_the_registry_and_none_is_banned() {
    let lists = lists();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let registries = texts(&lists["sources"]["allow-registry"]);
    let banned: Vec<&str> = lists["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["crate"].as_str().unwrap())
        .collect();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.contains(&name), "{name}");
        match package["source"].as_str() {
            None => {
                let manifest = package["manifest_path"].as_str().unwrap();
                assert!(Path::new(manifest).starts_with(root), "{name} is outside the workspace");
            }
            Some(source) => {
                let address = source.strip_prefix("registry+").unwrap_or(source);
                assert!(registries.contains(&address), "{name}: {source}");
            }
        }
    }
}

/// A program that releases data must not contain planted privacy bugs (docs/sabotage.md).
#[test]
fn planted_bugs_are_compiled_into_nothing_by_default() {
    const { assert!(!dp::PLANTED_BUGS, "this build has the feature \"sabotage\"") };
    let metadata = metadata();
    let mut with_the_feature = 0;
    for package in metadata["packages"].as_array().unwrap() {
        with_the_feature += usize::from(package["features"].get("sabotage").is_some());
        for dependency in package["dependencies"].as_array().unwrap() {
            let features = dependency["features"].as_array().unwrap();
            assert!(!features.iter().any(|feature| feature == "sabotage"), "{}", package["name"]);
        }
    }
    assert_eq!(with_the_feature, 2, "dp has it, and pgmbench passes it on");
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let features = node["features"].as_array().unwrap();
        assert!(!features.iter().any(|feature| feature == "sabotage"), "{}", node["id"]);
    }
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    for good in [
        "MIT",
        "MIT/GPL-3.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-3.0) AND Apache-2.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
    ] {
        assert!(satisfied(good, &allowed), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "GPL-3.0 WITH LLVM-exception", "", "none", "MIT MIT"]
    {
        assert!(!satisfied(bad, &allowed), "{bad}");
    }
}
