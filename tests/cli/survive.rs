//! Runs that are stopped: by a signal, a full disk, a folder that cannot be written, another run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use pgmbench::results::TrialRecord;
use pgmbench::results::store::{Recorded, read_ledger};

use super::Session;

/// Some dozens of arms, of milliseconds each.
pub(crate) const MANY: &str = r#"name = "many"
trials = 4
epsilon = [0.5, 1, 2]
datasets = ["titanic"]
delta = 0.001

[workload]
marginals = [["Sex", "Pclass"], ["Pclass", "Survived"], ["Embarked", "Survived"]]
prefix = []

[estimation]
iterations = 40
trace = 2

[[mechanism]]
name = "laplace"
arms = ["own", "lls", "pgm"]

[[mechanism]]
name = "gaussian"
arms = ["own", "pgm"]
"#;

/// Where its results are.
pub(crate) const MINE: &str = "results/many";

/// How often a run is killed.
const KILLS: usize = 50;

pub(crate) fn session(config: &str) -> Session {
    let session = Session::new();
    session.file("many.toml", config);
    session
}

fn start(session: &Session, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pgmbench"))
        .current_dir(session.path(""))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A row without its times.
fn timeless(row: &TrialRecord) -> String {
    let row = TrialRecord {
        select_seconds: None,
        measure_seconds: None,
        estimate_seconds: None,
        evaluate_seconds: None,
        seconds_per_iteration: None,
        ..row.clone()
    };
    format!("{row:?}")
}

/// Rows, traces and ledger as the readers of results see them: entries without a row are dropped,
/// and of an arm that was started several times the last attempt counts.
pub(crate) fn everything(session: &Session, folder: &str) -> [Vec<String>; 3] {
    let folder = session.path(folder);
    let recorded = Recorded::read(&folder).unwrap();
    let file = fs::read_to_string(folder.join("trials.csv")).unwrap();
    assert_eq!(file.lines().count(), 1 + recorded.rows.len(), "no row is there twice");
    let mut rows: Vec<String> = recorded.rows.iter().map(timeless).collect();
    rows.sort();
    let traces = recorded.traces.iter().map(|trace| {
        let mut trace = trace.clone();
        trace.seconds = 0.0;
        format!("{trace:?}")
    });
    let ledger = read_ledger(&folder).unwrap();
    // What was drawn by attempts that were thrown away is in no file.
    let lines = |file| fs::read_to_string(folder.join(file)).unwrap().lines().count();
    assert_eq!(lines("ledger.jsonl"), ledger.values().map(Vec::len).sum::<usize>());
    assert_eq!(lines("traces.csv"), 1 + recorded.traces.len());
    let ledger = ledger.iter().map(|release| format!("{release:?}"));
    [rows, traces.collect(), ledger.collect()]
}

#[test]
fn fifty_kills_at_any_moment_lose_nothing_and_leave_nothing_twice() {
    let undisturbed = session(MANY);
    let began = Instant::now();
    undisturbed.run(["run", "many.toml"]).works();
    // On machines of any speed, kills hit every phase of a run.
    let longest = began.elapsed().as_millis().clamp(20, 500) as u64;
    let expected = everything(&undisturbed, MINE);
    assert_eq!(expected[0].len(), 60);
    assert!(!expected[1].is_empty() && !expected[2].is_empty());
    let mut rng = ChaCha20Rng::seed_from_u64(50);
    let (mut kills, mut midway) = (0, 0);
    while kills < KILLS {
        let session = session(MANY);
        let mut done = false;
        while !done && kills < KILLS {
            let lines = || {
                let rows = fs::read_to_string(session.path(MINE).join("trials.csv"));
                rows.unwrap_or_default().lines().count()
            };
            let mut run = start(&session, &["run", "many.toml"]);
            // At a random time, or at a random number of rows.
            if rng.random() {
                thread::sleep(Duration::from_millis(rng.random_range(0..longest)));
            } else {
                let enough = rng.random_range(2..60);
                while lines() < enough && run.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_micros(200));
                }
            }
            // SIGKILL.
            run.kill().unwrap();
            done = run.wait().unwrap().success();
            if !done {
                kills += 1;
                midway += usize::from((2..=60).contains(&lines()));
            }
        }
        session.run(["run", "many.toml"]).works();
        assert_eq!(everything(&session, MINE), expected, "after {kills} kills");
        let names = fs::read_dir(session.path(MINE)).unwrap();
        let left: BTreeSet<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    }
    assert!(midway > 0, "no kill came between two rows");
}

#[test]
fn ctrl_c_ends_a_run_at_once_and_prints_how_to_continue() {
    for signal in ["INT", "TERM"] {
        let slow = MANY.replace("iterations = 40", "iterations = 100000000\ngap = 0.0");
        let session = session(&slow);
        let mut run = start(&session, &["run", "many.toml", "--fresh", "--jobs", "2"]);
        let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
        // Announced: the run is under way.
        said.next().unwrap().unwrap();
        thread::sleep(Duration::from_millis(200));
        let began = Instant::now();
        Command::new("kill").args([&format!("-{signal}"), &run.id().to_string()]).status().unwrap();
        let code = run.wait().unwrap().code();
        // Within a second on an idle machine.
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!(code, Some(130));
        let said: String = said.map(|line| line.unwrap() + "\n").collect();
        assert!(said.contains("go on with\n  pgmbench run many.toml --jobs 2\n"), "{said}");
    }
}

/// The reader of stderr has stopped reading, so that the first handler cannot finish.
#[test]
fn a_second_ctrl_c_does_not_wait_for_the_first() {
    let slow = MANY.replace("iterations = 40", "iterations = 100000000\ngap = 0.0");
    let session = session(&slow);
    let (reader, mut writer) = io::pipe().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_pgmbench"))
        .current_dir(session.path(""))
        .args(["run", "many.toml"])
        .stdout(Stdio::null())
        .stderr(writer.try_clone().unwrap())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(reader);
    said.read_line(&mut String::new()).unwrap();
    // Fills the pipe, and then blocks.
    thread::spawn(move || while writer.write_all(&[b'\n'; 4096]).is_ok() {});
    let id = run.id().to_string();
    for _ in 0..2 {
        thread::sleep(Duration::from_millis(500));
        assert_eq!(run.try_wait().unwrap(), None, "the first handler was not blocked");
        Command::new("kill").args(["-INT", &id]).status().unwrap();
    }
    let began = Instant::now();
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(5), "the run continues");
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn an_interrupted_run_continues() {
    let session = session(MANY);
    let rows = session.path("results/many/trials.csv");
    let mut run = start(&session, &["run", "many.toml", "--jobs", "1"]);
    let lines = |rows: &Path| fs::read_to_string(rows).unwrap_or_default().lines().count();
    while lines(&rows) < 3 {
        thread::sleep(Duration::from_millis(1));
    }
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    run.wait().unwrap();
    let had = lines(&rows) - 1;
    let said = session.run(["run", "many.toml"]).works();
    assert!(said.stdout.contains(&format!("{had} there already")), "{had}: {}", said.stdout);
    assert!(!said.stderr.contains("cut off"), "{}", said.stderr);
    let undisturbed = self::session(MANY);
    undisturbed.run(["run", "many.toml"]).works();
    assert_eq!(everything(&session, MINE), everything(&undisturbed, MINE));
}

/// A limit on the size of files: for the program, a disk that fills up in the middle of a line.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_a_run_and_costs_no_row() {
    let undisturbed = session(MANY);
    undisturbed.run(["run", "many.toml"]).works();
    let session = session(MANY);
    for blocks in [4, 16, 40] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" run many.toml");
        let output = Command::new("sh")
            .current_dir(session.path(""))
            .args(["-c", &script, env!("CARGO_BIN_EXE_pgmbench")])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}: {said}", output.status);
        assert!(said.contains("error: ") && said.contains("results/many"), "{said}");
        assert!(!said.contains("internal error"), "{said}");
    }
    session.run(["run", "many.toml"]).works();
    assert_eq!(everything(&session, MINE), everything(&undisturbed, MINE));
}

/// No user can create folders there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let session = session(MANY);
    session
        .run(["run", "many.toml", "--results", "/proc/sys"])
        .complains(&["/proc/sys/many", "many"]);
}

#[test]
fn a_second_run_at_the_same_time_refuses_and_disturbs_nothing() {
    let slow = MANY.replace("iterations = 40", "iterations = 100000000\ngap = 0.0");
    let session = session(&slow);
    let mut first = start(&session, &["run", "many.toml"]);
    let mut said = BufReader::new(first.stderr.take().unwrap()).lines();
    said.next().unwrap().unwrap();
    let process = format!("process {}", first.id());
    session.run(["run", "many.toml"]).complains(&["another run", &process, "results/many"]);
    session.run(["run", "many.toml", "--fresh"]).complains(&["another run", &process]);
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock ended with the process.
    session.file("many.toml", MANY);
    session.run(["run", "many.toml"]).works();
}
