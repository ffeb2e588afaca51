//! The files of synthetic records, and of a release the facts beside them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::failure::{Failure, ResultExt};
use super::output_file::{Input, OutputFile, Overwrite, facts_path, never_replaced};

/// Where records go, and the facts about them if they are a release.
pub(crate) struct RecordFiles {
    records: OutputFile,
    facts: Option<OutputFile>,
}

impl RecordFiles {
    /// Checks the places. Records are never put beside the facts of another release.
    pub(crate) fn check(
        out: &Path,
        is_release: bool,
        overwrite: Overwrite,
        inputs: &[Input],
    ) -> Result<Self, Failure> {
        let records = OutputFile::check(out, overwrite, inputs)?;
        let facts = facts_path(out);
        if facts.exists() {
            let why = never_replaced(&facts);
            return Err(Failure::input(format!("cannot write {}: {why}", out.display())));
        }
        let mut others = inputs.to_vec();
        others.push(("the file with the records", out));
        let check_facts = || OutputFile::check(&facts, Overwrite::Never, &others);
        Ok(Self { records, facts: is_release.then(check_facts).transpose()? })
    }

    pub(crate) fn records_path(&self) -> &Path {
        self.records.path()
    }

    pub(crate) fn facts_path(&self) -> PathBuf {
        facts_path(self.records.path())
    }

    /// Writes everything or nothing. The facts come first and replace nothing, so that of two
    /// releases to the same name at once one fails, and no release is without its facts.
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
            // These are the facts of records that nobody has seen.
            let _ = std::fs::remove_file(place.path());
        })
    }
}
