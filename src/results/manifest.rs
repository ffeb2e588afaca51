//! The provenance of results: everything needed to reproduce the numbers.

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
use crate::atomic_file::NewFile;
use crate::config::Experiment;
use crate::limits;
use private_pgm::numeric::memory::read_at_most;
use std::fs::File;

const FILE: &str = "manifest.json";

/// The notice of every experiment.
pub const NOTICE: &str = "not for release: errors are measured against true answers, checksums \
                          are of true records, and the noise is seeded, so that it can be \
                          computed again";

/// The manifest of an experiment, `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The conditions of use of the results.
    pub notice: String,
    /// The configuration as it was given.
    pub configuration_text: String,
    /// The experiment that was run: the configuration with defaults and command-line options
    /// applied.
    pub experiment: Experiment,
    /// [`configuration_hash`] of `experiment`.
    pub configuration_blake3: String,
    /// The largest iteration limit of an estimate in the file, without command-line options.
    pub full_iterations: usize,
    pub datasets: Vec<DatasetFacts>,
    /// The rows of the experiment, in compressed form ([`Manifest::arms`]).
    pub schedule: Vec<Block>,
    /// The runs that produced the results, in order: several if a run was interrupted and resumed.
    pub runs: Vec<Run>,
}

/// A dataset of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetFacts {
    pub name: String,
    /// The checksum of its records.
    pub blake3: String,
    pub records: usize,
    pub attributes: usize,
    /// The number of possible records, to one digit: `1e19`.
    pub domain: String,
    /// The number of queries of the workload, summed over the cases.
    pub queries: usize,
    /// Whether the data is a stand-in.
    pub standin: bool,
    /// Where the workload comes from, if the experiment or the schema say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_origin: Option<OriginFacts>,
    /// The table of all attributes, for tables of at most a million cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableFacts>,
    /// The errors that ResidualPlanner would have, for sizes without data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<PredictionFacts>,
    /// The workload of each case. Empty for chains of attributes, which their name determines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseFacts>,
}

/// The counts of a full contingency table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFacts {
    pub cells: usize,
    /// Cells without a record.
    pub zeros: usize,
    pub smallest: u64,
    pub largest: u64,
}

impl TableFacts {
    /// In percent of the cells.
    pub fn sparsity(&self) -> f64 {
        100.0 * self.zeros as f64 / self.cells as f64
    }
}

/// The errors of ResidualPlanner on all marginals of some numbers of attributes, at a privacy cost
/// of 1 (rho 1/2) under add or remove.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionFacts {
    pub ways: Vec<usize>,
    /// With the least sum of variances.
    pub root_mean_squared_error: f64,
    /// With the least largest variance.
    pub largest_stddev: f64,
}

/// Where queries come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginFacts {
    /// Whether a publication has them.
    pub published: bool,
    /// A phrase for notes: `drawn by us`.
    pub note: String,
}

/// The workload of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseFacts {
    /// Empty if there is only one case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub workload: Vec<PartFacts>,
}

/// A sub-workload, by the names of its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PartFacts {
    /// The Kronecker product of one query per attribute.
    Product(BTreeMap<String, String>),
    /// Queries on the table of these attributes.
    Whole { attributes: Vec<String>, queries: usize },
}

/// The sources of the program. `None` for what was unknown at build time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub version: String,
    pub commit: Option<Commit>,
    /// The checksum of `Cargo.lock`.
    pub cargo_lock_blake3: Option<String>,
    /// The compiler, as `rustc --version` has it.
    pub rustc: Option<String>,
}

impl Build {
    /// For another program that uses the library: only the version is known.
    pub fn of_library() -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { version, commit: None, cargo_lock_blake3: None, rustc: None }
    }
}

/// A commit, and whether the program was built from exactly its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub id: String,
    /// Whether there were no uncommitted changes.
    pub is_clean: bool,
}

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub build: Build,
    pub machine: Machine,
    pub threads: usize,
    /// The bytes per arm if the configuration sets no limit.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    pub command_line: Vec<String>,
    /// RFC 3339 in UTC.
    pub start: String,
    /// RFC 3339 in UTC; `None` while it runs, and for a run that was killed.
    pub end: Option<String>,
    pub wall_seconds: Option<f64>,
}

impl Run {
    /// Starts a run on this machine now.
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

    /// Ends the run now. `elapsed` is the time since its start by a monotonic clock.
    pub fn finish(&mut self, elapsed: Duration) {
        self.end = Some(rfc3339(SystemTime::now()));
        self.wall_seconds = Some(elapsed.as_secs_f64());
    }
}

/// Why a manifest could not be read or written.
#[derive(Debug, Error)]
pub enum ManifestError {
    #[error("{}: {error}", .file.display())]
    Io { file: PathBuf, error: io::Error },
    /// The file is not a manifest of this version.
    #[error(
        "{}: not a manifest that this version of pgmbench can read: {error}; run the experiment \
         again, or read it with the version that wrote it",
        .file.display()
    )]
    Json { file: PathBuf, error: serde_json::Error },
}

impl Manifest {
    pub fn name(&self) -> &str {
        self.experiment.name.as_ref()
    }

    /// The arms of the experiment, in the order of its results. Rows with other keys are stale, and
    /// arms without a row are yet to run.
    pub fn arms(&self) -> Vec<ScheduledArm> {
        let epsilons: Vec<f64> = self.experiment.epsilon.iter().map(|e| *e.as_ref()).collect();
        schedule::arms(&self.schedule, &epsilons, self.experiment.trials)
    }

    /// The keys of the rows of the experiment, in the order of its results.
    pub fn keys(&self) -> Vec<String> {
        self.arms().into_iter().map(|arm| arm.key).collect()
    }

    /// Whether both schedules have the same rows.
    pub fn asks_for_the_rows_of(&self, other: &Self) -> bool {
        self.keys() == other.keys()
    }

    /// Writes the manifest into the folder of the results, atomically.
    pub fn write(&self, folder: &Path) -> Result<(), ManifestError> {
        self.write_part(folder, None)
    }

    /// Like [`Manifest::write`]; a shard has its own file.
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

    /// Reads the manifest of the results in this folder. If there are manifests of shards,
    /// [`Manifest::newest`] combines them.
    pub fn read(folder: &Path) -> Result<Self, ManifestError> {
        let shards = shards(folder).unwrap_or_default();
        let mut all = Vec::new();
        if shards.is_empty() || folder.join(FILE).exists() {
            all.push(Self::read_part(folder, None)?);
        }
        for shard in shards {
            all.push(Self::read_part(folder, Some(shard))?);
        }
        // `all` is not empty: without shards the manifest of the whole results was read above.
        Self::newest(all).map_or_else(|| Self::read_part(folder, None), Ok)
    }

    /// The manifest whose last run started last, with the runs of all manifests with the same rows.
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

    /// Reads the manifest of the whole results, or of one shard.
    pub fn read_part(folder: &Path, shard: Option<Shard>) -> Result<Self, ManifestError> {
        let file = folder.join(file_name(shard));
        let text = File::open(&file)
            .and_then(|open| read_at_most(open, limits::JSON))
            .map_err(|error| ManifestError::Io { file: file.clone(), error })?;
        serde_json::from_slice(&text).map_err(|error| ManifestError::Json { file, error })
    }

    /// Removes the manifests of shards, after they were merged.
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

/// The shards with a manifest in this folder, in order.
fn shards(folder: &Path) -> io::Result<Vec<Shard>> {
    let mut shards = Vec::new();
    for entry in fs::read_dir(folder)? {
        shards.extend(Shard::of_file(&entry?.file_name().to_string_lossy(), FILE));
    }
    shards.sort();
    Ok(shards)
}

/// The checksum of an experiment. Independent of comments, of the order of keys in its file, and of
/// whether a default is spelt out.
pub fn configuration_hash(experiment: &Experiment) -> String {
    // Never fails: all maps of an experiment have string keys.
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
