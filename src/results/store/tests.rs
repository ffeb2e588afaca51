use std::fs;
use std::process;

use super::super::examples;
use super::files::{LEDGER, TRACES, TRIALS};
use super::*;
use crate::config::Status;
use dp::{Budget, Epsilon, L1, Neighbours, NoiseSource, NumberLine, SeedPath, Sensitivity};
use tempfile::{TempDir, tempdir};

fn row(trial: usize) -> TrialRecord {
    TrialRecord {
        key: format!("key-{trial}"),
        release: format!("release-{trial}"),
        ..examples::row("adult", "hdmm", "pgm", trial)
    }
}

fn traces(trial: usize, iterations: usize) -> Vec<TraceRecord> {
    let errors: Vec<f64> = (1..=iterations).map(|iteration| 1.0 / iteration as f64).collect();
    examples::traces(&row(trial), &errors)
}

/// The ledger of a budget with `count` draws.
pub(super) fn draws(count: usize) -> Vec<dp::Line> {
    let epsilon = Epsilon::new(1.0).unwrap();
    let mut budget = Budget::new(epsilon, Neighbours::Replace);
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "store"));
    let sensitivity = Sensitivity::<L1>::new(1.0, Neighbours::Replace).unwrap();
    for share in budget.rest().unwrap().split(count).unwrap() {
        share.laplace("x", &[1.0], sensitivity, NumberLine::Integers, &mut source).unwrap();
    }
    budget.ledger().lines().to_vec()
}

fn filled(trials: usize) -> TempDir {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for trial in 0..trials {
        store.append(&row(trial), &draws(2), &traces(trial, 3)).unwrap();
    }
    folder
}

fn start_of_last_line(bytes: &[u8]) -> usize {
    bytes.len() - bytes.split_inclusive(|&byte| byte == b'\n').next_back().unwrap_or_default().len()
}

#[test]
fn what_was_appended_is_read_back() {
    let folder = filled(3);
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!(recorded.rows, [row(0), row(1), row(2)]);
    assert_eq!(recorded.traces, [traces(0, 3), traces(1, 3), traces(2, 3)].concat());
    let ledger = read_ledger(folder.path()).unwrap();
    let releases = ["release-0", "release-1", "release-2"].map(String::from);
    assert_eq!(ledger, releases.map(|release| (release, draws(2))).into());
    assert_eq!(recorded.rows_of(&["key-2", "key-9", "key-0"].map(String::from)), [row(2), row(0)]);
}

#[test]
fn a_file_cut_off_anywhere_in_its_last_row_keeps_exactly_the_complete_rows() {
    let folder = filled(3);
    let path = folder.path().join(TRIALS);
    let bytes = fs::read(&path).unwrap();
    let last_row = start_of_last_line(&bytes);
    for len in last_row..bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        assert_eq!(Recorded::read(folder.path()).unwrap().rows, [row(0), row(1)], "{len}");
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.rows(), [row(0), row(1)], "{len}");
        let notes = store.notes().iter().filter(|note| note.starts_with(TRIALS)).count();
        assert_eq!(notes, usize::from(len > last_row), "{len}");
        assert_eq!(fs::read(&path).unwrap(), bytes[..last_row], "{len}");
        store.append(&row(2), &[], &[]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes, "{len}");
    }
}

#[test]
fn optional_columns_are_in_a_file_once_a_row_fills_one() {
    let folder = filled(2);
    let path = folder.path().join(TRIALS);
    let read = || fs::read_to_string(&path).unwrap();
    let columns = |line: &str| {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        reader.records().next().unwrap().unwrap().len()
    };
    let short = columns(read().lines().next().unwrap());
    assert!(read().lines().next().unwrap().ends_with(",message"));
    assert!(read().lines().all(|line| columns(line) == short));
    let covered = TrialRecord { coverage: Some(0.95), ..row(2) };
    let store = Store::open(folder.path()).unwrap();
    // As after a run that was stopped while writing.
    fs::write(&path, read() + "key-9,torn").unwrap();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    store.append(&covered, &[], &[]).unwrap();
    store.append(&row(3), &[], &[]).unwrap();
    drop(store);
    assert!(read().lines().next().unwrap().ends_with(",message,coverage,bound_coverage"));
    assert!(read().lines().all(|line| columns(line) == short + 2));
    let expected = [row(0), row(1), covered, row(3)];
    assert_eq!(Recorded::read(folder.path()).unwrap().rows, expected);
    assert_eq!(Store::open(folder.path()).unwrap().rows(), expected);
    // A torn header is that of an empty file, in either form.
    let header = read().lines().next().unwrap().to_string();
    for length in [5, header.find(",coverage").unwrap(), header.len() - 3, header.len()] {
        fs::write(&path, &header[..length]).unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().rows(), [], "{length}");
        assert!(read().ends_with(",message\n"), "{length}");
    }
}

#[test]
fn any_file_cut_off_anywhere_goes_on_as_if_nothing_had_happened() {
    let all = |folder: &TempDir| {
        (Recorded::read(folder.path()).unwrap(), read_ledger(folder.path()).unwrap())
    };
    let undisturbed = all(&filled(1));
    for name in [TRIALS, TRACES, LEDGER] {
        let folder = filled(1);
        let path = folder.path().join(name);
        let bytes = fs::read(&path).unwrap();
        // Every length would sync to the disk a thousand times.
        for len in (0..bytes.len()).step_by(29) {
            fs::write(&path, &bytes[..len]).unwrap();
            let store = Store::open(folder.path()).unwrap();
            // A run that was killed never leaves a row without its traces; here one file is cut
            // and the others are not, so the arm runs again.
            store.append(&row(0), &draws(2), &traces(0, 3)).unwrap();
            drop(store);
            assert_eq!(all(&folder), undisturbed, "{name} {len}");
        }
    }
}

#[test]
fn what_belongs_to_no_row_is_not_read() {
    let folder = filled(2);
    let path = folder.path().join(TRIALS);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..start_of_last_line(&bytes)]).unwrap();
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!((recorded.rows, recorded.traces), (vec![row(0)], traces(0, 3)));
    assert_eq!(read_ledger(folder.path()).unwrap(), [("release-0".into(), draws(2))].into());
}

#[test]
fn a_row_supersedes_the_failed_one_of_its_key_with_all_that_belongs_to_it() {
    let folder = filled(1);
    let store = Store::open(folder.path()).unwrap();
    let failed = TrialRecord { status: Status::Failed, phase: "estimate".into(), ..row(7) };
    store.append(&failed, &draws(2), &traces(7, 5)).unwrap();
    assert_eq!(store.rows(), [row(0), failed]);
    store.append(&row(7), &draws(2), &traces(7, 4)).unwrap();
    assert_eq!(store.rows(), [row(0), row(7)]);
    drop(store);
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!(recorded.rows, [row(0), row(7)]);
    assert_eq!(recorded.traces, [traces(0, 3), traces(7, 4)].concat());
    let both = ["release-0", "release-7"].map(|release| (release.to_string(), draws(2)));
    assert_eq!(read_ledger(folder.path()).unwrap(), both.into());
    assert_eq!(Store::open(folder.path()).unwrap().rows(), recorded.rows);
}

#[test]
fn an_attempt_that_left_nothing_does_not_get_what_an_earlier_one_left() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let failed = TrialRecord { status: Status::Failed, phase: "estimate".into(), ..row(0) };
    store.append(&failed, &draws(3), &traces(0, 5)).unwrap();
    let infeasible = TrialRecord { status: Status::Infeasible, phase: "select".into(), ..row(0) };
    store.append(&infeasible, &[], &[]).unwrap();
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!(recorded, Recorded { rows: vec![infeasible], traces: vec![] });
    assert!(read_ledger(folder.path()).unwrap().is_empty());
}

#[test]
fn a_second_run_is_refused_until_the_first_one_ends() {
    let folder = tempdir().unwrap();
    let first = Store::open(folder.path()).unwrap();
    for second in [Store::open(folder.path()), Store::open_fresh(folder.path())] {
        let error = second.unwrap_err();
        let process = Some(process::id());
        assert!(matches!(&error, StoreError::Locked { process: found, .. } if *found == process));
        assert!(error.to_string().contains("wait until it ends"), "{error}");
    }
    first.append(&row(0), &[], &[]).unwrap();
    assert_eq!(Recorded::read(folder.path()).unwrap().rows, [row(0)]);
    drop(first);
    assert_eq!(Store::open(folder.path()).unwrap().rows(), [row(0)]);
}

#[test]
fn rows_of_many_threads_are_all_there_and_whole() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for trial in (thread..16).step_by(4) {
                    store.append(&row(trial), &draws(1), &traces(trial, 2)).unwrap();
                }
            });
        }
    });
    let expected: Vec<_> = (0..16).map(row).collect();
    assert_eq!(store.rows(), expected);
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!(recorded.rows, expected);
    assert_eq!(recorded.traces.len(), 32);
    assert_eq!(read_ledger(folder.path()).unwrap().len(), 16);
}

#[test]
fn a_file_of_another_version_is_refused_by_its_name_and_left_alone() {
    for (name, header) in [(TRIALS, "key,experiment,colour\n"), (TRACES, "iteration\n")] {
        let folder = tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, header).unwrap();
        fs::write(folder.path().join(if name == TRIALS { TRACES } else { TRIALS }), "").unwrap();
        for error in
            [Store::open(folder.path()).unwrap_err(), Recorded::read(folder.path()).err().unwrap()]
        {
            let message = error.to_string();
            assert!(matches!(error, StoreError::OtherVersion { .. }), "{message}");
            assert!(message.contains(name) && message.contains("another version"), "{message}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), header);
    }
}

#[test]
fn a_row_damaged_in_the_middle_is_refused_with_its_line() {
    let folder = filled(3);
    let path = folder.path().join(TRIALS);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("release-1,test,adult,false", "release-1,test,adult,perhaps", 1),
    )
    .unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { line: 3, .. }), "{error}");
}

#[test]
fn whoever_reads_rows_and_traces_does_not_wait_for_the_ledger() {
    let folder = filled(2);
    let path = folder.path().join(LEDGER);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("{\"release\"", "{\"relaese\"", 1)).unwrap();
    assert_eq!(Recorded::read(folder.path()).unwrap().rows, [row(0), row(1)]);
    for error in [read_ledger(folder.path()).unwrap_err(), Store::open(folder.path()).unwrap_err()]
    {
        assert!(matches!(error, StoreError::Damaged { line: 1, .. }), "{error}");
    }
}

#[test]
fn a_fresh_start_forgets_the_trials() {
    let folder = filled(2);
    let store = Store::open_fresh(folder.path()).unwrap();
    assert!(store.rows().is_empty());
    store.append(&row(5), &[], &[]).unwrap();
    let recorded = Recorded::read(folder.path()).unwrap();
    assert_eq!(recorded, Recorded { rows: vec![row(5)], traces: vec![] });
    assert!(read_ledger(folder.path()).unwrap().is_empty());
}

fn ledger_lines(folder: &TempDir) -> usize {
    fs::read_to_string(folder.path().join(LEDGER)).unwrap().lines().count()
}

#[test]
fn a_release_is_in_the_ledger_once_however_many_arms_estimate_from_it() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let arm = |key: &str| TrialRecord { key: key.into(), ..row(0) };
    store.append(&arm("a"), &draws(3), &[]).unwrap();
    store.append(&arm("b"), &draws(3), &[]).unwrap();
    drop(store);
    // Also in another run.
    let store = Store::open(folder.path()).unwrap();
    store.append(&arm("c"), &draws(3), &[]).unwrap();
    assert_eq!(ledger_lines(&folder), 3);
    let refused = store.append(&arm("d"), &draws(2), &[]).unwrap_err();
    assert!(matches!(refused, StoreError::NotRepeated { .. }), "{refused}");
    assert_eq!(store.rows().len(), 3);
}

#[test]
fn draws_of_a_release_without_a_row_are_cut_off_by_the_next_run() {
    let folder = filled(2);
    let trials = folder.path().join(TRIALS);
    let bytes = fs::read(&trials).unwrap();
    // As after a kill between the ledger and the row.
    fs::write(&trials, &bytes[..start_of_last_line(&bytes)]).unwrap();
    assert_eq!(ledger_lines(&folder), 4);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(ledger_lines(&folder), 2);
    // An attempt that ends before it draws leaves none either.
    let timeout = TrialRecord { status: Status::Timeout, phase: "select".into(), ..row(1) };
    store.append(&timeout, &[], &[]).unwrap();
    assert_eq!((ledger_lines(&folder), store.rows().len()), (2, 2));
}

#[test]
fn results_that_are_not_there_or_cannot_be_are_told_with_their_folder() {
    let folder = tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = Recorded::read(&missing).err().unwrap();
    assert_eq!(error.to_string(), format!("there are no results in {}", missing.display()));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(file.join("below")).unwrap_err();
    assert!(error.to_string().contains("below"), "{error}");
}
