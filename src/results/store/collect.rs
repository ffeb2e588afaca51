use std::collections::BTreeSet;
use std::path::Path;

use super::super::record::TrialRecord;
use super::files::Files;
use super::merge::Part;
use super::recorded::Contents;
use super::{Store, StoreError};
use crate::config::Status;

impl Store {
    /// Merges the shards of the folder and the results in `others` into the store's own files, and
    /// removes the shards once their content is synced. Returns the number of new rows.
    ///
    /// An error if one of its shards is being written, and if two files contradict each other; then
    /// nothing has changed. Idempotent: it can be repeated after an interruption.
    pub fn collect(&self, others: &[impl AsRef<Path>]) -> Result<usize, StoreError> {
        let own = Part::of(Contents::read(&self.files)?, &self.files);
        // An existing row may be replaced by one with a better status.
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
        let Part { entries, releases, .. } = all;
        for entry in entries.values().filter(|entry| !known.contains(&ending(&entry.row))) {
            let draws = releases.get(&entry.row.release).filter(|_| entry.row.has_draws());
            self.append(&entry.row, draws.map_or(&[], Vec::as_slice), &entry.traces)?;
            added += 1;
        }
        for files in &shards {
            files.remove()?;
        }
        Ok(added)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::super::examples;
    use super::super::super::shard::Shard;
    use super::super::tests::draws;
    use super::super::{Recorded, read_ledger};
    use super::*;
    use tempfile::tempdir;

    fn row(trial: usize, status: Status) -> TrialRecord {
        TrialRecord { status, ..examples::row("adult", "hdmm", "pgm", trial) }
    }

    fn fill(folder: &Path, shard: Option<Shard>, rows: &[TrialRecord]) {
        let store = Store::open_part(folder, shard).unwrap();
        for row in rows {
            store.append(row, &draws(row.trial + 1), &examples::traces(row, &[0.5, 0.25])).unwrap();
        }
    }

    fn shard(index: usize) -> Option<Shard> {
        Some(Shard::new(index, 2).unwrap())
    }

    #[test]
    fn shards_are_read_as_one_and_collected_into_one() {
        let (together, apart) = (tempdir().unwrap(), tempdir().unwrap());
        let rows: Vec<TrialRecord> = (0..4).map(|trial| row(trial, Status::Done)).collect();
        fill(together.path(), None, &rows);
        fill(apart.path(), shard(2), &rows[2..]);
        fill(apart.path(), shard(1), &rows[..2]);
        let all = |folder: &Path| (Recorded::read(folder).unwrap(), read_ledger(folder).unwrap());
        let expected = all(together.path());
        assert_eq!(all(apart.path()), expected);
        let store = Store::open(apart.path()).unwrap();
        assert_eq!(store.rows(), rows);
        let nowhere: [&Path; 0] = [];
        assert_eq!(store.collect(&nowhere).unwrap(), 4);
        assert_eq!(all(apart.path()), expected);
        assert_eq!(Files::all(apart.path()).unwrap().len(), 1);
        assert_eq!(store.collect(&nowhere).unwrap(), 0);
    }

    #[test]
    fn an_interrupted_collection_is_finished_by_the_next() {
        let folder = tempdir().unwrap();
        let rows: Vec<TrialRecord> = (0..3).map(|trial| row(trial, Status::Done)).collect();
        fill(folder.path(), shard(1), &rows);
        // As after an interruption: one row is in both files.
        fill(folder.path(), None, &rows[..1]);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.collect(&[] as &[&Path]).unwrap(), 2);
        let file = fs::read_to_string(folder.path().join("trials.csv")).unwrap();
        assert_eq!(file.lines().count(), 1 + 3);
    }

    #[test]
    fn an_arm_that_ended_elsewhere_replaces_one_that_failed_or_ran_out_of_time() {
        let folder = tempdir().unwrap();
        fill(folder.path(), None, &[row(0, Status::Failed), row(1, Status::Timeout)]);
        fill(folder.path(), shard(1), &[row(0, Status::Timeout), row(1, Status::Done)]);
        fill(folder.path(), shard(2), &[row(0, Status::Infeasible), row(1, Status::Failed)]);
        let store = Store::open(folder.path()).unwrap();
        let ends = |rows: &[TrialRecord]| rows.iter().map(|row| row.status).collect::<Vec<_>>();
        assert_eq!(ends(&store.rows()), [Status::Infeasible, Status::Done]);
        assert_eq!(store.collect(&[] as &[&Path]).unwrap(), 2);
        let recorded = Recorded::read(folder.path()).unwrap();
        assert_eq!(ends(&recorded.rows), [Status::Infeasible, Status::Done]);
    }

    #[test]
    fn equal_keys_with_different_numbers_are_refused_and_different_times_are_not() {
        let folder = tempdir().unwrap();
        let mut other = row(0, Status::Done);
        other.estimate_seconds = Some(9.0);
        fill(folder.path(), shard(1), &[row(0, Status::Done)]);
        fill(folder.path(), shard(2), &[other.clone()]);
        assert_eq!(Recorded::read(folder.path()).unwrap().rows.len(), 1);
        other.workload_error = Some(0.1 + f64::EPSILON);
        let elsewhere = tempdir().unwrap();
        fill(elsewhere.path(), None, &[other]);
        let store = Store::open(folder.path()).unwrap();
        let refused = store.collect(&[elsewhere.path()]).unwrap_err().to_string();
        assert!(refused.contains("workload_error is 0.1 and 0.10000000000000"), "{refused}");
        assert!(folder.path().join("trials.1-of-2.csv").exists(), "nothing has changed");
    }

    #[test]
    fn equal_releases_with_different_draws_are_refused() {
        let folder = tempdir().unwrap();
        for (index, count) in [(1, 2), (2, 3)] {
            let store = Store::open_part(folder.path(), shard(index)).unwrap();
            let row = TrialRecord { release: "r".into(), ..row(index, Status::Done) };
            store.append(&row, &draws(count), &[]).unwrap();
        }
        let refused = read_ledger(folder.path()).unwrap_err();
        assert!(matches!(refused, StoreError::OtherDraws { .. }), "{refused}");
        let store = Store::open(folder.path()).unwrap();
        assert!(store.collect(&[] as &[&Path]).is_err());
        assert!(folder.path().join("trials.1-of-2.csv").exists(), "nothing has changed");
    }

    #[test]
    fn a_shard_that_is_being_written_is_not_collected_and_not_thrown_away() {
        let folder = tempdir().unwrap();
        let writing = Store::open_part(folder.path(), shard(1)).unwrap();
        let store = Store::open(folder.path()).unwrap();
        let refused = store.collect(&[] as &[&Path]).unwrap_err();
        assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
        drop(store);
        assert!(matches!(Store::open_fresh(folder.path()), Err(StoreError::Locked { .. })));
        drop(writing);
        Store::open_fresh(folder.path()).unwrap();
        assert_eq!(Files::all(folder.path()).unwrap().len(), 1);
    }
}
