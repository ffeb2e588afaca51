//! The budget of a dataset across releases: a file that adds up what they cost and refuses what
//! would be more than the holder of the data has decided to spend in all.
//!
//! The file is append-only JSON lines. The first is the [`Header`]; each later one is a [`Charge`],
//! written *before* the release draws any noise, or the [`Completion`] of one. A charge is never
//! taken back: its noise may have been seen. Every line has a hash of itself and of all lines
//! before it, so that a changed or missing line is found; only lines removed from the end leave no
//! trace in the file itself, which is why [`Statement::chain`] is worth keeping elsewhere.
//!
//! A charge holds an exclusive lock while it reads, verifies, adds up, appends and syncs the file.
//! Of two releases at once, one waits for the other.
//!
//! The file is internal: it tells how often and when the holder of the data has tried to publish.
//! It is no part of a release.

mod error;
mod line;
mod statement;
#[cfg(test)]
mod tests;

pub use error::{BudgetFileError, Problem};
pub use line::{Charge, Completion, Header, is_budget_file};
pub use statement::{Release, Statement};

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use line::{Entry, seal};

use crate::storage::{Existing, NewFile};
use dp::{Guarantee, Neighbours};

/// A release that asks to be paid for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The name of the dataset, which must be that of the file.
    pub dataset: &'a str,
    /// The relation that the guarantees are about, which must be that of the file.
    pub neighbours: Neighbours,
    /// What the release promises.
    pub promised: Guarantee,
    /// What its mechanism keeps, and what implies the promise: often rho-zCDP. It is charged where
    /// the total can count it, and what is promised elsewhere.
    pub kept: Guarantee,
    /// The name of the output.
    pub release: &'a str,
    /// The mechanism that makes it.
    pub mechanism: &'a str,
    /// When, as RFC 3339.
    pub date: &'a str,
}

/// A budget file.
#[derive(Clone, Debug)]
pub struct BudgetFile {
    path: PathBuf,
}

impl BudgetFile {
    /// The file at `path`, which is not opened yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the file. One that is there is never replaced.
    pub fn create(&self, header: &Header) -> Result<(), BudgetFileError> {
        let (line, _) = seal(header, None).map_err(|error| self.failed(error.into()))?;
        let written = NewFile::start(&self.path, Existing::Kept).and_then(|mut file| {
            file.write_all(line.as_bytes())?;
            file.commit()
        });
        written.map_err(|error| self.failed(error.into()))
    }

    /// What the file says, after every line of it was verified.
    pub fn read(&self) -> Result<Statement, BudgetFileError> {
        let read = || {
            let mut file = File::open(&self.path)?;
            file.lock_shared().map_err(Problem::Lock)?;
            Statement::parse(&content(&mut file)?)
        };
        read().map_err(|problem| self.failed(problem))
    }

    /// Charges a release, or refuses to. The charge is on the disk when this returns; noise may be
    /// drawn from then on. Returns the number of the charge, counted from 1.
    pub fn charge(&self, request: &Request) -> Result<usize, BudgetFileError> {
        self.append(|statement| {
            let cost = statement.price(request)?;
            Ok(Entry::Charge(Charge {
                number: statement.releases.len() + 1,
                release: request.release.into(),
                mechanism: request.mechanism.into(),
                cost,
                date: request.date.into(),
            }))
        })
        .map(|statement| statement.releases.len())
    }

    /// Notes that the release of a charge was written.
    pub fn complete(&self, completion: Completion) -> Result<(), BudgetFileError> {
        self.append(|_| Ok(Entry::Completed(completion))).map(drop)
    }

    /// Appends the entry that `decide` makes of the verified file, under the lock. Returns what the
    /// file says then.
    fn append(
        &self,
        decide: impl FnOnce(&Statement) -> Result<Entry, Problem>,
    ) -> Result<Statement, BudgetFileError> {
        let append = || {
            let mut file = OpenOptions::new().read(true).append(true).open(&self.path)?;
            // Where there are no locks two releases could both spend the same rest.
            file.lock().map_err(Problem::Lock)?;
            let text = content(&mut file)?;
            let mut statement = Statement::parse(&text)?;
            let entry = decide(&statement)?;
            let (line, chain) = seal(&entry, Some(&statement.chain))?;
            statement.add(entry, chain)?;
            let appended = file.write_all(line.as_bytes()).and_then(|()| file.sync_all());
            if let Err(error) = appended {
                // Half a line would be damage; no noise was drawn for it.
                let _ = file.set_len(text.len() as u64).and_then(|()| file.sync_all());
                return Err(error.into());
            }
            Ok(statement)
        };
        append().map_err(|problem| self.failed(problem))
    }

    fn failed(&self, problem: Problem) -> BudgetFileError {
        BudgetFileError { file: self.path.clone(), problem }
    }
}

fn content(file: &mut File) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
