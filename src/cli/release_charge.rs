//! Charging a release to the budget of its dataset, before it draws any noise.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pgmbench::budget_file::{BudgetFile, Completion, Request};
use pgmbench::data::Entry;
use pgmbench::results::rfc3339;

use super::failure::{Failure, ResultExt};
use super::output::note;
use super::output_file::is_same_file;

/// The budget file of a release: the one that the schema declares, or else the one of `--budget`. A
/// declared budget file cannot be bypassed.
pub(crate) fn budget_of(entry: &Entry, given: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    match (entry.budget_file(), given) {
        (Some(declared), Some(given)) if !is_same_file(&declared, given) => {
            Err(Failure::input(format!(
                "--budget {}: the schema declares another budget file, {}, which is charged; omit \
                 the option",
                given.display(),
                declared.display()
            )))
        }
        (Some(declared), _) => Ok(Some(declared)),
        (None, given) => Ok(given.map(Path::to_path_buf)),
    }
}

/// A release whose charge is recorded in its budget file.
pub(crate) struct PaidRelease {
    file: BudgetFile,
    number: usize,
}

impl PaidRelease {
    /// Charges the release. The charge stays even if the release fails.
    pub(crate) fn charge(path: &Path, request: Request) -> Result<Self, Failure> {
        let file = BudgetFile::at(path);
        let number = file.charge(&Request { date: &now(), ..request }).input()?;
        Ok(Self { file, number })
    }

    /// Refuses a release that the budget does not cover, before the data is read.
    pub(crate) fn check(path: &Path, request: &Request) -> Result<(), Failure> {
        let statement = BudgetFile::at(path).read().input()?;
        let price = statement.price(request).map(drop);
        price.input_at(path.display())
    }

    /// Records that the release was written. An error is only a warning, because the release is
    /// already public.
    pub(crate) fn complete(&self, records_blake3: String) {
        let completion = Completion { charge: self.number, records_blake3, date: now() };
        if let Err(error) = self.file.complete(completion) {
            note(format_args!(
                "warning: the release is written and charged, but the budget file does not record \
                 its completion: {error}"
            ));
        }
    }

    pub(crate) fn explain_failure(&self) {
        note(format_args!(
            "note: the release failed, but charge {} in {} remains, because noise may have been \
             drawn",
            self.number,
            self.file.path().display()
        ));
    }
}

/// The current time in the format of budget files.
pub(crate) fn now() -> String {
    rfc3339(SystemTime::now())
}
