//! Files with synthetic records and, for a release, with its facts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::failure::{Failure, ResultExt};
use super::output_file::{Input, OutputFile, Overwrite, facts_path, never_replaced};

pub(crate) struct RecordFiles {
    records: OutputFile,
    facts: Option<OutputFile>,
}

impl RecordFiles {
    /// Checks both paths. Records are never written next to the facts of another release.
    pub(crate) fn check(
        out: &Path,
        is_release: bool,
        overwrite: Overwrite,
        inputs: &[Input],
    ) -> Result<Self, Failure> {
        let records = match is_release {
            true => OutputFile::check_of_release(out, overwrite, inputs)?,
            false => OutputFile::check(out, overwrite, inputs)?,
        };
        let facts = facts_path(out);
        let is_refused_link = is_release && facts.is_symlink();
        if facts.exists() && !is_refused_link {
            let why = never_replaced(&facts);
            return Err(Failure::input(format!("cannot write {}: {why}", out.display())));
        }
        let mut others = inputs.to_vec();
        others.push(("the file with the records", out));
        let check_facts = || {
            let never = Overwrite::Never("choose another name");
            OutputFile::check_of_release(&facts, never, &others)
        };
        Ok(Self { records, facts: is_release.then(check_facts).transpose()? })
    }

    pub(crate) fn records_path(&self) -> &Path {
        self.records.path()
    }

    pub(crate) fn facts_path(&self) -> PathBuf {
        facts_path(self.records.path())
    }

    /// Writes both files or none. The facts are written first and replace nothing: of two
    /// simultaneous releases to the same name one fails, and no release lacks its facts.
    pub(crate) fn write(
        &self,
        records: &[u8],
        facts: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let table = self.records.stage(records)?;
        let Some(place) = &self.facts else {
            return table.commit();
        };
        let mut text = serde_json::to_vec_pretty(&facts())
            .internal_at(format!("cannot write {}", place.path().display()))?;
        text.push(b'\n');
        place.write(&text)?;
        table.commit().inspect_err(|_| {
            // The records of these facts were not written.
            let _ = std::fs::remove_file(place.path());
        })
    }
}
