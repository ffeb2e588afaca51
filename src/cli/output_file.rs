//! Files that commands write: which places are refused, decided here and nowhere else.
//!
//! 1. No command writes onto one of its own inputs, whatever path or link leads there.
//! 2. A release, its records and the file beside them, is never replaced; nor is a budget file.
//! 3. Any other file is replaced when `--force` asks for it, or when the command recognises it as
//!    what an earlier run of itself wrote.
//!
//! All of this is checked before the work, and again when the file takes its name.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::budget_file::is_budget_file;
use pgmbench::storage::{Existing, NewFile};

use super::failure::{Failure, ResultExt};

/// A file that a command reads: what it is, and where.
pub(crate) type Input<'a> = (&'a str, &'a Path);

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ForceArgs {
    /// Replace a file that is there; inputs of the command and releases are never replaced
    #[arg(long)]
    force: bool,
}

impl ForceArgs {
    pub(crate) fn overwrite(self) -> Overwrite {
        match self.force {
            true => Overwrite::Asked,
            false => Overwrite::Never,
        }
    }

    /// Without `--force`, what `recognise` knows by its first bytes is replaced too.
    pub(crate) fn or_own(self, recognise: fn(&str) -> bool) -> Overwrite {
        match self.force {
            true => Overwrite::Asked,
            false => Overwrite::Own(recognise),
        }
    }
}

/// Which files that are there may be replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Overwrite {
    Never,
    /// Files that are recognised by how they begin.
    Own(fn(&str) -> bool),
    /// The user has said `--force`.
    Asked,
}

/// A place where a command may write.
#[derive(Clone, Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    overwrite: Overwrite,
}

/// Bytes of a file that [`Overwrite::Own`] looks at.
const BEGINNING: u64 = 4096;

impl OutputFile {
    /// Refuses, before any work, a place where the command must not or cannot write.
    pub(crate) fn check(
        path: &Path,
        overwrite: Overwrite,
        inputs: &[Input],
    ) -> Result<Self, Failure> {
        if let Some((what, _)) = inputs.iter().find(|(_, input)| is_same_file(input, path)) {
            return Err(refused(path, &format!("it is also {what}")));
        }
        let output = Self { path: path.into(), overwrite };
        let existing = output.existing()?;
        NewFile::start(path, existing)
            .map(drop)
            .input_at(format!("cannot write {}", shown(path)))?;
        Ok(output)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file with this content that waits for its commit.
    pub(crate) fn stage(&self, content: &[u8]) -> Result<StagedFile, Failure> {
        let mut file = self.start()?;
        file.write_all(content).internal_at(format!("cannot write {}", shown(&self.path)))?;
        Ok(file)
    }

    /// An empty file that waits for its content and its commit.
    pub(crate) fn start(&self) -> Result<StagedFile, Failure> {
        let file = NewFile::start(&self.path, self.existing()?);
        let file = file.internal_at(format!("cannot write {}", shown(&self.path)))?;
        Ok(StagedFile { output: self.clone(), file })
    }

    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        self.stage(content)?.commit()
    }

    /// What may become of the file that is there now, if there is one.
    fn existing(&self) -> Result<Existing, Failure> {
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
        let may_replace = match self.overwrite {
            Overwrite::Never => false,
            Overwrite::Own(recognise) => recognise(&beginning),
            Overwrite::Asked => true,
        };
        match may_replace {
            true => Ok(Existing::Replaced),
            false => Err(refused(
                &self.path,
                "there is such a file already; choose another name, or replace it with --force",
            )),
        }
    }
}

/// A file that is written, and not yet at its place.
pub(crate) struct StagedFile {
    output: OutputFile,
    file: NewFile,
}

impl StagedFile {
    /// Puts the file at its place, if that may still be done: another process may have been there.
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

/// Where the facts of a release are: `synthetic.csv` has them in `synthetic.release.json`.
pub(crate) fn facts_path(records: &Path) -> PathBuf {
    records.with_extension(FACTS)
}

pub(crate) fn never_replaced(facts: &Path) -> String {
    format!(
        "it belongs to the release of {}, and a release is never replaced, not even with --force; \
         choose another name, or move the release away",
        shown(facts)
    )
}

/// The facts of the release that a file belongs to, if it does: the facts themselves, and the
/// records whose checksum they have. Facts that cannot be read protect whatever they are beside.
fn release_of(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    if path.to_string_lossy().ends_with(&format!(".{FACTS}")) {
        return Some(path);
    }
    let facts = facts_path(&path);
    let text = fs::read(&facts).ok()?;
    let told: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let is_other = told["records_blake3"]
        .as_str()
        .is_some_and(|told| checksum(&path).is_ok_and(|found| found.to_hex().as_str() != told));
    (!is_other).then_some(facts)
}

fn checksum(path: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is not recognised.
    let _ = File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::input(format!("cannot write {}: {why}", shown(path)))
}

fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}

/// Whether two paths lead to the same file, which need not exist.
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
