//! Where results came from: enough for a stranger to get the same numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::machine::Machine;
use super::shard::Shard;
use super::timestamp::rfc3339;
use crate::storage::NewFile;

const FILE: &str = "manifest.json";

/// The notice of every experiment.
pub const NOTICE: &str = "not for release: errors are measured against true answers, checksums are \
                          of true records, and the noise is seeded, so that it can be computed again";

/// The manifest of an experiment, `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the experiment.
    pub name: String,
    /// What may be done with the results.
    #[serde(default)]
    pub notice: String,
    /// The configuration as it was given.
    pub configuration_text: String,
    /// The configuration with its defaults filled in.
    pub configuration: serde_json::Value,
    /// [`configuration_hash`] of it.
    pub configuration_blake3: String,
    /// The data.
    pub datasets: Vec<DatasetFacts>,
    /// The workload of each dataset, written out.
    pub workloads: BTreeMap<String, serde_json::Value>,
    /// The keys of all rows that the configuration asks for, in its order. Rows with other keys
    /// are stale, and keys without a row are still to do.
    pub keys: Vec<String>,
    /// Which arm each key is of. Empty in manifests of before there was such a list.
    #[serde(default)]
    pub arms: BTreeMap<String, ArmFacts>,
    /// The runs that made the results, the first one first: there are several when a run was
    /// stopped and started again.
    pub runs: Vec<Run>,
}

/// Which data an experiment used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetFacts {
    /// Its name.
    pub name: String,
    /// The checksum of its records.
    pub blake3: String,
    /// The number of records.
    pub records: usize,
    /// The number of attributes. Earlier manifests do not have it, and neither what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<usize>,
    /// The number of possible records, to one digit: `1e19`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The number of queries that the workload asks, in all cases together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<usize>,
    /// Whether made-up records stand in for it.
    pub standin: bool,
}

/// Which arm a key is of, and how long it will probably take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmFacts {
    /// The name of the data.
    pub dataset: String,
    /// The case of the data; empty where there is one only.
    #[serde(default)]
    pub case: String,
    /// The label of the mechanism.
    pub mechanism: String,
    /// The name of the arm.
    pub arm: String,
    /// The budget.
    pub epsilon: f64,
    /// The trial, counted from 0.
    pub trial: usize,
    /// What the size of its model lets one expect, with its share of the mechanism's own time.
    pub predicted_seconds: f64,
}

impl fmt::Display for ArmFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dataset, case, mechanism, arm, epsilon, trial, .. } = self;
        write!(f, "{dataset} ")?;
        if !case.is_empty() {
            write!(f, "({case}) ")?;
        }
        write!(f, "{mechanism} {arm}, epsilon {epsilon}, trial {}", trial + 1)
    }
}

/// What the program was built from. What the builder did not know is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The version of the program.
    pub version: String,
    /// The commit.
    pub commit: Option<Commit>,
    /// The checksum of `Cargo.lock`.
    pub cargo_lock_blake3: Option<String>,
    /// The compiler, as `rustc --version` has it.
    pub rustc: Option<String>,
}

/// A commit, and whether the program was built from it and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Whether there were no changes beside it.
    pub is_clean: bool,
}

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program.
    pub build: Build,
    /// The machine.
    pub machine: Machine,
    /// The threads that it used.
    pub threads: usize,
    /// The bytes that arms could use where the configuration sets no limit.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// The words of the command line.
    pub command_line: Vec<String>,
    /// When it started, as RFC 3339 in UTC.
    pub start: String,
    /// When it ended; none while it runs, and for a run that was killed.
    pub end: Option<String>,
    /// The seconds from start to end.
    pub wall_seconds: Option<f64>,
}

impl Run {
    /// A run on this machine that starts now.
    pub fn start(build: Build, threads: usize, command_line: Vec<String>) -> Self {
        Self {
            build,
            machine: Machine::here(),
            threads,
            memory_limit: None,
            command_line,
            start: rfc3339(SystemTime::now()),
            end: None,
            wall_seconds: None,
        }
    }

    /// Ends the run now, `elapsed` after it started by a clock that nobody sets.
    pub fn finish(&mut self, elapsed: Duration) {
        self.end = Some(rfc3339(SystemTime::now()));
        self.wall_seconds = Some(elapsed.as_secs_f64());
    }
}

/// Why a manifest could not be read or written.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// The system refused.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is not a manifest of this version.
    #[error("{}: not a manifest that this version of pgmbench can read: {error}", .file.display())]
    Json {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

impl Manifest {
    /// Writes the manifest into the folder of the results, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), ManifestError> {
        self.write_part(folder, None)
    }

    /// The same, where a shard keeps its own.
    pub fn write_part(&self, folder: &Path, shard: Option<Shard>) -> Result<(), ManifestError> {
        let file = folder.join(file_name(shard));
        let write = || -> io::Result<()> {
            let mut new = NewFile::create(&file)?;
            serde_json::to_writer_pretty(&mut new, self)?;
            new.write_all(b"\n")?;
            new.commit()
        };
        write().map_err(|error| ManifestError::Io { file: file.clone(), error })
    }

    /// Reads the manifest of the results in this folder. Where shards have left theirs, the one
    /// whose last run began last counts, with the runs of all that ask for the same rows.
    pub fn read(folder: &Path) -> Result<Self, ManifestError> {
        let shards = shards(folder).unwrap_or_default();
        let mut all = Vec::new();
        if shards.is_empty() || folder.join(FILE).exists() {
            all.push(Self::read_part(folder, None)?);
        }
        for shard in shards {
            all.push(Self::read_part(folder, Some(shard))?);
        }
        // There is one: without shards the whole was read, or we would not be here.
        Self::newest(all).map_or_else(|| Self::read_part(folder, None), Ok)
    }

    /// Of several manifests the one whose last run began last, with the runs of all that ask for
    /// the same rows.
    pub fn newest(mut all: Vec<Self>) -> Option<Self> {
        all.sort_by_key(|manifest| manifest.runs.last().map(|run| run.start.clone()));
        let mut last = all.pop()?;
        for run in all.into_iter().filter(|other| other.keys == last.keys).flat_map(|m| m.runs) {
            if !last.runs.contains(&run) {
                last.runs.push(run);
            }
        }
        last.runs.sort_by(|a, b| a.start.cmp(&b.start));
        Some(last)
    }

    /// Reads the manifest of the whole, or of one shard.
    pub fn read_part(folder: &Path, shard: Option<Shard>) -> Result<Self, ManifestError> {
        let file = folder.join(file_name(shard));
        let text = fs::read_to_string(&file)
            .map_err(|error| ManifestError::Io { file: file.clone(), error })?;
        serde_json::from_str(&text).map_err(|error| ManifestError::Json { file, error })
    }

    /// Removes what shards have left, once it is part of the whole.
    pub fn remove_shards(folder: &Path) -> Result<(), ManifestError> {
        for shard in shards(folder).unwrap_or_default() {
            let file = folder.join(file_name(Some(shard)));
            fs::remove_file(&file).map_err(|error| ManifestError::Io { file, error })?;
        }
        Ok(())
    }
}

fn file_name(shard: Option<Shard>) -> String {
    shard.map_or(FILE.into(), |shard| shard.file_name(FILE))
}

/// The shards with a manifest in this folder, in their order.
fn shards(folder: &Path) -> io::Result<Vec<Shard>> {
    let mut shards = Vec::new();
    for entry in fs::read_dir(folder)? {
        shards.extend(Shard::of_file(&entry?.file_name().to_string_lossy(), FILE));
    }
    shards.sort();
    Ok(shards)
}

/// The checksum of a configuration with its defaults filled in. It does not depend on the order of
/// keys, on comments, or on whether a default was spelled out.
pub fn configuration_hash(configuration: &serde_json::Value) -> String {
    // Objects are sorted by their keys, so equal values have equal texts.
    blake3::hash(configuration.to_string().as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> Manifest {
        let configuration = json!({"name": "fig1", "epsilon": [0.1, 1.0], "trials": 5});
        let commit = Some(Commit { id: "abc".into(), is_clean: false });
        let build = Build { version: "0.1.0".into(), commit, cargo_lock_blake3: None, rustc: None };
        Manifest {
            name: "fig1".into(),
            notice: NOTICE.into(),
            configuration_text: "name = 'fig1' # with \"quotes\"\n".into(),
            configuration_blake3: configuration_hash(&configuration),
            configuration,
            datasets: vec![DatasetFacts {
                name: "loans".into(),
                blake3: "00ff".into(),
                records: 42535,
                attributes: Some(3),
                domain: Some("2e4".into()),
                queries: None,
                standin: true,
            }],
            workloads: [("loans".to_string(), json!([["a", "b", "c"]]))].into(),
            keys: vec!["k1".into(), "k0".into()],
            arms: BTreeMap::new(),
            runs: vec![Run::start(build, 2, vec!["pgmbench".into(), "run".into()])],
        }
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = manifest();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        manifest.runs[0].finish(Duration::from_millis(1500));
        manifest.write(folder.path()).unwrap();
        let read = Manifest::read(folder.path()).unwrap();
        assert_eq!(read, manifest);
        assert_eq!(read.runs[0].wall_seconds, Some(1.5));
        assert!(read.runs[0].end.as_ref().unwrap() >= &read.runs[0].start);
    }

    #[test]
    fn the_runs_of_shards_are_those_of_the_whole_and_an_older_configuration_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |start: &str, keys: &[&str]| {
            let mut manifest = manifest();
            manifest.runs[0].start = start.into();
            manifest.keys = keys.iter().map(ToString::to_string).collect();
            manifest
        };
        let shard = |index| Some(Shard::new(index, 2).unwrap());
        at("2019-01-01", &["old"]).write(folder.path()).unwrap();
        at("2019-01-03", &["new"]).write_part(folder.path(), shard(1)).unwrap();
        at("2019-01-02", &["new"]).write_part(folder.path(), shard(2)).unwrap();
        let read = Manifest::read(folder.path()).unwrap();
        assert_eq!(read.keys, ["new"]);
        let starts: Vec<&str> = read.runs.iter().map(|run| &*run.start).collect();
        assert_eq!(starts, ["2019-01-02", "2019-01-03"]);
        Manifest::remove_shards(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap().keys, ["old"]);
    }

    #[test]
    fn the_hash_sees_values_and_not_their_order() {
        let hash = |text: &str| configuration_hash(&serde_json::from_str(text).unwrap());
        assert_eq!(
            hash(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#),
            hash(r#"{"b":{"d":3,"c":2},"a":1}"#)
        );
        assert_ne!(hash(r#"{"a": 1}"#), hash(r#"{"a": 2}"#));
        assert_ne!(hash(r#"{"a": [1, 2]}"#), hash(r#"{"a": [2, 1]}"#));
    }

    #[test]
    fn what_is_not_a_manifest_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Manifest::read(folder.path()).unwrap_err();
        assert!(matches!(missing, ManifestError::Io { .. }), "{missing}");
        fs::write(folder.path().join(FILE), "{\"name\": 3}").unwrap();
        let wrong = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(wrong.contains("manifest.json: not a manifest"), "{wrong}");
    }
}
