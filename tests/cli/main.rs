//! The program from outside: arguments in, text, files and exit codes out.

mod audit;
mod budget_files;
mod budgets;
mod chain;
mod damaged_models;
mod estimate;
mod experiments;
mod golden;
mod hostile;
mod limits;
mod outputs;
mod overwriting;
mod own_data;
mod predict;
mod query;
mod readme;
mod refused_problems;
mod releases;
mod report;
mod shards;
mod status;
mod survive;
mod synth;
mod terminal;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

/// A valid problem.
pub(crate) const GOOD: &str = r#"{
    "domain": {"age": 3, "sex": 2, "hrs": 4},
    "total": 60.0,
    "measurements": [
        {"attrs": ["age", "sex"], "query": ["identity", "identity"],
         "y": [9, 11, 10.5, 9.5, 12, 8], "stddev": 1.0},
        {"attrs": ["hrs"], "query": ["prefix"], "y": [14, 31, 44, 61], "stddev": 2.0}]
}"#;

/// A temporary folder in which the program runs.
pub(crate) struct Session {
    folder: TempDir,
}

/// Exit code and output of a run of the program.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With the valid problem and its model.
    pub(crate) fn with_model() -> Self {
        let session = Self::new();
        session.file("problem.json", GOOD);
        session.run(["estimate", "problem.json", "--out", "model"]).succeeds();
        session
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(Path::new(env!("CARGO_BIN_EXE_pgmbench")));
        command.current_dir(self.folder.path());
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Said {
        let Output { status, stdout, stderr } = self.command().args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Said {
    #[track_caller]
    pub(crate) fn succeeds(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self.stdout
    }

    /// Exit code 0; notes are allowed.
    #[track_caller]
    pub(crate) fn works(self) -> Said {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Exit code 2 and an error, on one or several lines, that contains all of `parts`.
    #[track_caller]
    pub(crate) fn complains(self, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
    }

    /// Exit code 2 and one line that contains all of `parts`.
    #[track_caller]
    pub(crate) fn refuses(self, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
    }
}
