//! Charging a release to the budget of its dataset, before it draws any noise.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pgmbench::budget_file::{BudgetFile, Completion, Request};
use pgmbench::data::Entry;
use pgmbench::results::rfc3339;

use super::failure::{Failure, ResultExt};
use super::output_file::is_same_file;

/// The budget file of a release: the one that the schema declares, or the one that was given. A
/// schema that declares one cannot be released from past it.
pub(crate) fn budget_of(entry: &Entry, given: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    match (entry.budget_file(), given) {
        (Some(declared), Some(given)) if !is_same_file(&declared, given) => {
            Err(Failure::input(format!(
                "--budget {}: the schema declares the budget file {}, which is charged instead; \
                 leave the option out",
                given.display(),
                declared.display()
            )))
        }
        (Some(declared), _) => Ok(Some(declared)),
        (None, given) => Ok(given.map(Path::to_path_buf)),
    }
}

/// A charge that was made.
pub(crate) struct PaidRelease {
    file: BudgetFile,
    number: usize,
}

impl PaidRelease {
    /// Charges the release. The charge stays, whatever becomes of the release.
    pub(crate) fn charge(path: &Path, request: Request) -> Result<Self, Failure> {
        let file = BudgetFile::at(path);
        let number = file.charge(&Request { date: &now(), ..request }).input()?;
        Ok(Self { file, number })
    }

    /// Whether the budget would pay, before the data is read.
    pub(crate) fn check(path: &Path, request: &Request) -> Result<(), Failure> {
        let statement = BudgetFile::at(path).read().input()?;
        let price = statement.price(request).map(drop);
        price.input_at(path.display())
    }

    /// Notes that the release was written. The release is out: what goes wrong here is told, and
    /// does not undo it.
    pub(crate) fn complete(&self, records_blake3: String) {
        let completion = Completion { charge: self.number, records_blake3, date: now() };
        if let Err(error) = self.file.complete(completion) {
            eprintln!(
                "warning: the release is written, and charged, but not noted as such: {error}"
            );
        }
    }

    /// Tells that the charge stays although there is no release.
    pub(crate) fn explain_failure(&self) {
        eprintln!(
            "note: charge {} in {} stays, because noise may have been drawn",
            self.number,
            self.file.path().display()
        );
    }
}

/// The present moment, as it is written into budget files.
pub(crate) fn now() -> String {
    rfc3339(SystemTime::now())
}
