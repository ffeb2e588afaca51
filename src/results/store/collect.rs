use std::collections::BTreeSet;
use std::path::Path;

use super::super::record::{Status, TrialRecord};
use super::files::Files;
use super::merge::Part;
use super::recorded::Contents;
use super::{Store, StoreError};

impl Store {
    /// Takes into the store's own files whatever the shards of its folder and these other folders
    /// hold, and removes the shards once everything of theirs is safe. Returns the number of rows
    /// that came.
    ///
    /// Refuses while one of its shards is being written, and when two places contradict each other;
    /// then nothing has changed. If it is interrupted, it can simply be done again.
    pub fn collect(&self, others: &[impl AsRef<Path>]) -> Result<usize, StoreError> {
        let own = Part::of(Contents::read(&self.files)?, &self.files);
        // A row that is there already may be replaced by one that ended better.
        let ending = |row: &TrialRecord| (row.key.clone(), row.status);
        let known: BTreeSet<(String, Status)> = own.rows().values().map(ending).collect();
        let shards: Vec<Files> =
            Files::all(&self.folder)?.into_iter().filter(|files| files.shard().is_some()).collect();
        let _locks = shards.iter().map(Files::lock).collect::<Result<Vec<_>, _>>()?;
        let mut sources = shards.clone();
        for folder in others {
            sources.extend(Files::all(folder.as_ref())?);
        }
        let mut all = own;
        for files in &sources {
            all = all.merged(Part::of(Contents::read(files)?, files))?;
        }
        let mut added = 0;
        for entry in all.into_entries().filter(|entry| !known.contains(&ending(&entry.row))) {
            let ledger: Vec<String> =
                entry.ledger.iter().map(|line| line.entry.to_string()).collect();
            self.append(&entry.row, &ledger, &entry.traces)?;
            added += 1;
        }
        for files in &shards {
            files.remove()?;
        }
        Ok(added)
    }
}
