//! The privacy budget of a dataset across releases: a file that adds up their costs and refuses a
//! release that would exceed the total.
//!
//! The file is append-only JSON lines. The first is the [`Header`]; each later one is a [`Charge`],
//! written *before* the release draws any noise, or the [`Completion`] of one. A charge is never
//! taken back: its noise may have been seen. Every line has a hash of itself and of all lines
//! before it, so a changed or missing line is detected. Lines removed from the end are not; keep
//! [`Statement::chain`] elsewhere to detect that.
//!
//! A charge holds an exclusive lock while it reads, verifies, adds up, appends and syncs the file.
//! Concurrent releases wait for each other.
//!
//! The file is internal and not part of a release: it shows when and how often the holder of the
//! data has tried to publish.

mod error;
mod line;
mod statement;
#[cfg(test)]
mod tests;

pub use error::{BudgetFileError, Problem};
pub use line::{Charge, Completion, Header, is_budget_file};
pub use statement::{Release, Statement};

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use line::{Entry, seal};

use crate::atomic_file::{Existing, NewFile};
use crate::limits;
use dp::{Guarantee, Neighbours};
use private_pgm::numeric::memory::read_at_most;

/// A release to be charged.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Must equal the dataset of the file.
    pub dataset: &'a str,
    /// Must equal the neighbouring relation of the file.
    pub neighbours: Neighbours,
    /// The guarantee that the release states.
    pub promised: Guarantee,
    /// The guarantee of its mechanism, often rho-zCDP, which implies the stated one. It is charged
    /// if the total has the same currency; otherwise the stated one is.
    pub kept: Guarantee,
    /// The name of the output.
    pub release: &'a str,
    pub mechanism: &'a str,
    /// RFC 3339.
    pub date: &'a str,
}

#[derive(Clone, Debug)]
pub struct BudgetFile {
    path: PathBuf,
}

impl BudgetFile {
    /// Does not open the file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the file; never replaces an existing one.
    pub fn create(&self, header: &Header) -> Result<(), BudgetFileError> {
        let (line, _) = seal(header, None).map_err(|error| self.failed(error.into()))?;
        let written = NewFile::start(&self.path, Existing::Kept).and_then(|mut file| {
            file.write_all(line.as_bytes())?;
            file.commit()
        });
        written.map_err(|error| self.failed(error.into()))
    }

    /// Reads the file and verifies every line.
    pub fn read(&self) -> Result<Statement, BudgetFileError> {
        let read = || {
            let mut file = File::open(&self.path)?;
            file.lock_shared().map_err(Problem::Lock)?;
            Statement::parse(&content(&mut file)?)
        };
        read().map_err(|problem| self.failed(problem))
    }

    /// Charges a release, or refuses it. The charge is on the disk when this returns; only then may
    /// noise be drawn. Returns the number of the charge, counted from 1.
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

    /// Records that the release of a charge was written.
    pub fn complete(&self, completion: Completion) -> Result<(), BudgetFileError> {
        self.append(|_| Ok(Entry::Completed(completion))).map(drop)
    }

    /// Appends the entry that `decide` returns for the verified file, under the lock. Returns the
    /// new content of the file.
    fn append(
        &self,
        decide: impl FnOnce(&Statement) -> Result<Entry, Problem>,
    ) -> Result<Statement, BudgetFileError> {
        let append = || {
            let mut file = OpenOptions::new().read(true).append(true).open(&self.path)?;
            // Without a lock, two concurrent releases could spend the same budget.
            file.lock().map_err(Problem::Lock)?;
            let text = content(&mut file)?;
            let mut statement = Statement::parse(&text)?;
            let entry = decide(&statement)?;
            let (line, chain) = seal(&entry, Some(&statement.chain))?;
            statement.add(entry, chain)?;
            let appended = file.write_all(line.as_bytes()).and_then(|()| file.sync_all());
            if let Err(error) = appended {
                // Remove a partial line; no noise was drawn for it.
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
    file.seek(SeekFrom::Start(0))?;
    Ok(read_at_most(file, limits::JSON)?)
}
