//! Files that commands write, and the rules for existing files.
//!
//! 1. No command overwrites one of its own inputs, whatever path or link names it.
//! 2. A release (its records and the file with its facts) is never replaced, nor is a budget file.
//! 3. Any other file is replaced with `--force`, or if an earlier run of the same command wrote it.
//!
//! The rules are checked before the work, and again when the file is moved to its place.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::atomic_file::{Existing, NewFile};
use pgmbench::budget_file::is_budget_file;

use super::failure::{Failure, ResultExt};

/// What a file that a command reads is, as in "the model", and its path.
pub(crate) type Input<'a> = (&'a str, &'a Path);

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ForceArgs {
    /// Replace an existing file; inputs of the command and releases are never replaced
    #[arg(long)]
    force: bool,
}

const FORCE_ADVICE: &str = "choose another name, or replace it with --force";

impl ForceArgs {
    pub(crate) fn overwrite(self) -> Overwrite {
        self.overwrite_or(Overwrite::Never(FORCE_ADVICE))
    }

    /// Without `--force`, a file whose first bytes `recognise` accepts is replaced too.
    pub(crate) fn or_own(self, recognise: fn(&str) -> bool) -> Overwrite {
        self.overwrite_or(Overwrite::Own(recognise, FORCE_ADVICE))
    }

    /// With `--force` any file may be replaced, otherwise those that `unforced` allows.
    pub(crate) fn overwrite_or(self, unforced: Overwrite) -> Overwrite {
        match self.force {
            true => Overwrite::Always,
            false => unforced,
        }
    }
}

/// Which existing files may be replaced. The texts tell the user what to do about others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Overwrite {
    Never(&'static str),
    /// Files of which the function recognises the first bytes.
    Own(fn(&str) -> bool, &'static str),
    Always,
}

/// A path that a command may write to.
#[derive(Clone, Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    overwrite: Overwrite,
    links: Links,
}

/// What happens if the path is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// The file that it points to is written.
    Followed,
    /// Nothing is written: for releases, so that a link cannot choose the file.
    Refused,
}

/// Bytes of a file that [`Overwrite::Own`] reads.
const BEGINNING: u64 = 4096;

impl OutputFile {
    /// Refuses, before any work, a path that the command must not or cannot write to.
    pub(crate) fn check(
        path: &Path,
        overwrite: Overwrite,
        inputs: &[Input],
    ) -> Result<Self, Failure> {
        Self { path: path.into(), overwrite, links: Links::Followed }.checked(inputs)
    }

    /// The same for a file of a release, which follows no symbolic link.
    pub(crate) fn check_of_release(
        path: &Path,
        overwrite: Overwrite,
        inputs: &[Input],
    ) -> Result<Self, Failure> {
        Self { path: path.into(), overwrite, links: Links::Refused }.checked(inputs)
    }

    fn checked(self, inputs: &[Input]) -> Result<Self, Failure> {
        let path = &self.path;
        if let Some((what, _)) = inputs.iter().find(|(_, input)| is_same_file(input, path)) {
            return Err(refused(path, &format!("it is also {what}")));
        }
        let existing = self.existing()?;
        NewFile::start(path, existing)
            .map(drop)
            .input_at(format!("cannot write {}", shown(path)))?;
        Ok(self)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the content to a temporary file, which [`StagedFile::commit`] moves to its place.
    pub(crate) fn stage(&self, content: &[u8]) -> Result<StagedFile, Failure> {
        let mut file = self.start()?;
        file.write_all(content).internal_at(format!("cannot write {}", shown(&self.path)))?;
        Ok(file)
    }

    /// As [`Self::stage`], without content.
    pub(crate) fn start(&self) -> Result<StagedFile, Failure> {
        let file = NewFile::start(&self.path, self.existing()?);
        let file = file.internal_at(format!("cannot write {}", shown(&self.path)))?;
        Ok(StagedFile { output: self.clone(), file })
    }

    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        self.stage(content)?.commit()
    }

    /// Whether an existing file may be replaced; an error if it must not.
    fn existing(&self) -> Result<Existing, Failure> {
        if self.links == Links::Refused && self.path.is_symlink() {
            let why = "it is a symbolic link, which a release does not follow; choose another name";
            return Err(refused(&self.path, why));
        }
        if !self.path.exists() {
            return Ok(Existing::Kept);
        }
        if !self.path.is_file() {
            // Refused, for its own reason, when the new file is started.
            return Ok(Existing::Replaced);
        }
        if let Some(facts) = release_of(&self.path) {
            return Err(refused(&self.path, &never_replaced(&facts)));
        }
        let beginning = beginning(&self.path);
        if is_budget_file(&beginning) {
            return Err(refused(&self.path, "it is a budget file, which is never replaced"));
        }
        match self.overwrite {
            Overwrite::Own(recognise, _) if recognise(&beginning) => Ok(Existing::Replaced),
            Overwrite::Always => Ok(Existing::Replaced),
            Overwrite::Never(advice) | Overwrite::Own(_, advice) => {
                Err(refused(&self.path, &format!("the file exists; {advice}")))
            }
        }
    }
}

/// A temporary file that is not at its place yet.
pub(crate) struct StagedFile {
    output: OutputFile,
    file: NewFile,
}

impl StagedFile {
    /// Moves the file to its place, unless another process has put a file there meanwhile.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        self.output.existing()?;
        self.file.commit().input_at(format!("cannot write {}", shown(&self.output.path)))
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

const FACTS: &str = "release.json";

/// The file with the facts of a release: `synthetic.release.json` for `synthetic.csv`.
pub(crate) fn facts_path(records: &Path) -> PathBuf {
    records.with_extension(FACTS)
}

pub(crate) fn never_replaced(facts: &Path) -> String {
    format!(
        "it is part of the release that {} describes, and a release is never replaced, not even \
         with --force; choose another name, or move the release",
        shown(facts)
    )
}

/// The facts file of the release that a file is part of: the facts file itself, or the records with
/// the checksum in it. A facts file that cannot be read protects the records of its name.
fn release_of(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    if path.to_string_lossy().ends_with(&format!(".{FACTS}")) {
        return Some(path);
    }
    let facts = facts_path(&path);
    let text = fs::read(&facts).ok()?;
    let facts_json: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let is_other = facts_json["records_blake3"].as_str().is_some_and(|expected| {
        checksum(&path).is_ok_and(|found| found.to_hex().as_str() != expected)
    });
    (!is_other).then_some(facts)
}

fn checksum(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    // A file that cannot be read is not recognised.
    let _ = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::input(format!("cannot write {}: {why}", shown(path)))
}

fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}

/// Whether two paths name the same file, which need not exist.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    if is_hard_link(one, other) {
        return true;
    }
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::canonicalize(folder),
        _ => fs::canonicalize("."),
    };
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (folder(one), folder(other)) {
            (Ok(a), Ok(b)) => a == b && one.file_name() == other.file_name(),
            _ => false,
        },
    }
}

#[cfg(unix)]
fn is_hard_link(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn is_hard_link(_: &Path, _: &Path) -> bool {
    false
}
