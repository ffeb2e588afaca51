//! Where results came from: enough for a stranger to get the same numbers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::machine::Machine;
use super::schedule::{self, Block, ScheduledArm};
use super::shard::Shard;
use super::timestamp::rfc3339;
use crate::config::Experiment;
use crate::storage::NewFile;

const FILE: &str = "manifest.json";

/// The notice of every experiment.
pub const NOTICE: &str = "not for release: errors are measured against true answers, checksums are \
                          of true records, and the noise is seeded, so that it can be computed again";

/// The manifest of an experiment, `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What may be done with the results.
    pub notice: String,
    /// The configuration as it was given.
    pub configuration_text: String,
    /// What was run: the configuration with its defaults, and what the command line replaced.
    pub experiment: Experiment,
    /// [`configuration_hash`] of it.
    pub configuration_blake3: String,
    /// The most iterations of an estimate as the file has it, whatever the command line said.
    pub full_iterations: usize,
    /// The data.
    pub datasets: Vec<DatasetFacts>,
    /// Which rows the experiment asks for ([`Manifest::arms`]).
    pub schedule: Vec<Block>,
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
    /// The number of attributes.
    pub attributes: usize,
    /// The number of possible records, to one digit: `1e19`.
    pub domain: String,
    /// The number of queries that the workload asks, in all cases together.
    pub queries: usize,
    /// Whether made-up records stand in for it.
    pub standin: bool,
    /// What is asked of it, case by case. Chains of attributes have none: their name says it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseFacts>,
}

/// What is asked of some data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseFacts {
    /// Empty where there is one case only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its sub-workloads.
    pub workload: Vec<PartFacts>,
}

/// A sub-workload, written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PartFacts {
    /// The product of a query for each attribute.
    Product(BTreeMap<String, String>),
    /// Queries on the table of these attributes.
    Whole {
        /// The attributes.
        attributes: Vec<String>,
        /// The number of queries.
        queries: usize,
    },
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

impl Build {
    /// Of a program of somebody else's that uses the library: the version is all that is known.
    pub fn of_library() -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { version, commit: None, cargo_lock_blake3: None, rustc: None }
    }
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
    #[error(
        "{}: not a manifest that this version of pgmbench can read: {error}; run the experiment \
         again, or read it with the version that wrote it",
        .file.display()
    )]
    Json {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

impl Manifest {
    /// The name of the experiment.
    pub fn name(&self) -> &str {
        self.experiment.name.as_ref()
    }

    /// The arms that the experiment asks for, in the order of its results. Rows with other keys are
    /// stale, and arms without a row are still to do.
    pub fn arms(&self) -> Vec<ScheduledArm> {
        let epsilons: Vec<f64> = self.experiment.epsilon.iter().map(|e| *e.as_ref()).collect();
        schedule::arms(&self.schedule, &epsilons, self.experiment.trials)
    }

    /// The keys of the rows that the experiment asks for, in the order of its results.
    pub fn keys(&self) -> Vec<String> {
        self.arms().into_iter().map(|arm| arm.key).collect()
    }

    /// Whether both ask for the same rows.
    pub fn asks_for_the_rows_of(&self, other: &Self) -> bool {
        self.keys() == other.keys()
    }

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
        let same = all.into_iter().filter(|other| other.asks_for_the_rows_of(&last));
        for run in same.flat_map(|manifest| manifest.runs).collect::<Vec<_>>() {
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

/// The checksum of an experiment. It does not depend on the order of keys in its file, on comments,
/// or on whether a default was spelled out.
pub fn configuration_hash(experiment: &Experiment) -> String {
    // No map of an experiment has keys that JSON does not take.
    let text = serde_json::to_string(experiment).unwrap_or_default();
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::super::schedule::BlockCase;
    use super::*;
    use crate::config::Source;

    fn manifest() -> Manifest {
        let commit = Some(Commit { id: "abc".into(), is_clean: false });
        let build = Build { version: "0.1.0".into(), commit, cargo_lock_blake3: None, rustc: None };
        Manifest {
            runs: vec![Run::start(build, 2, vec!["pgmbench".into(), "run".into()])],
            ..examples::manifest(&["loans"], &["own", "pgm"])
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
        let at = |start: &str, name: &str| {
            let mut manifest = manifest();
            manifest.runs[0].start = start.into();
            manifest.schedule[0].cases = vec![BlockCase { name: name.into(), hash: name.into() }];
            manifest
        };
        let case = |manifest: &Manifest| manifest.schedule[0].cases[0].name.clone();
        let shard = |index| Some(Shard::new(index, 2).unwrap());
        at("2019-01-01", "old").write(folder.path()).unwrap();
        at("2019-01-03", "new").write_part(folder.path(), shard(1)).unwrap();
        at("2019-01-02", "new").write_part(folder.path(), shard(2)).unwrap();
        let read = Manifest::read(folder.path()).unwrap();
        assert_eq!(case(&read), "new");
        let starts: Vec<&str> = read.runs.iter().map(|run| &*run.start).collect();
        assert_eq!(starts, ["2019-01-02", "2019-01-03"]);
        Manifest::remove_shards(folder.path()).unwrap();
        assert_eq!(case(&Manifest::read(folder.path()).unwrap()), "old");
    }

    #[test]
    fn the_hash_sees_values_and_not_how_they_are_written() {
        let hash = |text: &str| {
            let source = Source { path: "mine.toml".into(), text: text.into() };
            configuration_hash(&source.parse().unwrap())
        };
        let mechanism = "[[mechanism]]\nname = 'hdmm'\n";
        let one = format!("name = 'a'\nepsilon = 1\ndatasets = ['adult']\n{mechanism}");
        let same = format!(
            "# the same\ndatasets = ['adult']\ntrials = 5\nepsilon = [1.0]\nname = 'a'\n{mechanism}"
        );
        assert_eq!(hash(&one), hash(&same));
        assert_ne!(hash(&one), hash(&one.replace("= 1", "= 2")));
        assert_ne!(hash(&one.replace("= 1", "= [1, 2]")), hash(&one.replace("= 1", "= [2, 1]")));
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
