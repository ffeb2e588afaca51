use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::de::DeserializeOwned;

use super::check::{complete, experiment};
use super::error::{ConfigError, Mistake, printable};
use super::experiment::Experiment;
use super::raw::RawExperiment;
use crate::did_you_mean::{in_words, unknown_key};
use crate::field_names::field_names;
use crate::limits;
use private_pgm::numeric::memory::read_at_most;

/// The text of an experiment file, kept to show its lines in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

impl Source {
    /// Reads the file. If it does not exist, the error lists the TOML files in its folder.
    pub fn read(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        let read = File::open(&path).and_then(|file| read_at_most(file, limits::TEXT));
        let not_utf8 = |_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text");
        match read.and_then(|bytes| String::from_utf8(bytes).map_err(not_utf8)) {
            Ok(text) => Ok(Self { path, text }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let existing = configurations(parent(&path));
                Err(ConfigError::Missing { path, existing })
            }
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        }
    }

    /// The experiment with all defaults filled in.
    ///
    /// Checks everything that depends on the file alone.
    pub fn parse(&self) -> Result<Experiment, ConfigError> {
        experiment(self, self.deserialize()?)
    }

    /// Like [`Source::parse`], for an experiment that the program stored itself: settings that its
    /// kind does not use are allowed.
    pub(super) fn parse_stored(&self) -> Result<Experiment, ConfigError> {
        complete(self, self.deserialize()?)
    }

    /// Resolves a path in the file, which is relative to the folder of the file.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        parent(&self.path).join(path)
    }

    /// An error at a range of bytes; `help` says what to write instead.
    pub fn error(
        &self,
        span: Range<usize>,
        message: impl AsRef<str>,
        help: Option<&str>,
    ) -> ConfigError {
        ConfigError::Invalid(Box::new(Mistake {
            path: self.path.clone(),
            text: self.text.clone(),
            span: self.within_a_line(span),
            message: printable(message.as_ref()),
            help: help.map(printable),
        }))
    }

    fn deserialize<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let (message, help) = in_words(error.message());
            let help = unknown_key(error.message()).and_then(of_the_whole_file).or(help);
            self.error(error.span().unwrap_or_default(), message, help.as_deref())
        })
    }

    /// The part of the span on its first line, clamped to character boundaries of the text.
    fn within_a_line(&self, span: Range<usize>) -> Range<usize> {
        let boundary = |mut at: usize| {
            at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(span.start);
        let line = self.text[start..].lines().next().unwrap_or_default();
        start..boundary(span.end).clamp(start, start + line.len())
    }
}

/// Help for a key of the top level that is written in a section, as every key below a line such as
/// `[workload]` is.
fn of_the_whole_file(key: &str) -> Option<String> {
    field_names::<RawExperiment>().contains(&key).then(|| {
        format!("`{key}` is a setting of the whole file: write it above the first [section]")
    })
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The names of the TOML files in a folder, sorted; empty if the folder cannot be listed.
fn configurations(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    names
}
