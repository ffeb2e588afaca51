//! Shards of an experiment, run separately and collected.

use std::fs;

use super::Session;
use super::survive::{MANY, MINE, everything, session};

fn run_shard(session: &Session, shard: &str, results: &str) {
    let arguments = ["run", "many.toml", "--shard", shard, "--results", results, "--quiet"];
    session.run(arguments).succeeds();
}

#[test]
fn numbers_do_not_depend_on_threads_or_shards() {
    let one = session(MANY);
    one.run(["run", "many.toml", "--threads", "1", "--quiet"]).succeeds();
    let expected = everything(&one, MINE);
    for threads in ["2", "4"] {
        let other = session(MANY);
        other.run(["run", "many.toml", "--threads", threads, "--quiet"]).succeeds();
        assert_eq!(everything(&other, MINE), expected, "{threads} threads");
        // One trial at a time, on all of them.
        let timing = session(MANY);
        timing.run(["run", "many.toml", "--threads", threads, "--timing", "--quiet"]).succeeds();
        assert_eq!(everything(&timing, MINE), expected, "{threads} threads, timing");
    }
    let together = session(MANY);
    for shard in ["3/3", "1/3", "2/3"] {
        run_shard(&together, shard, "results");
    }
    let said = together.run(["collect", MINE]).works();
    assert!(said.stdout.contains("60 rows collected"), "{}", said.stdout);
    assert_eq!(everything(&together, MINE), expected, "shards in one folder");
    assert!(!together.path("results/many/trials.1-of-3.csv").exists());
    assert!(!together.path("results/many/manifest.1-of-3.json").exists());
    let apart = session(MANY);
    for (shard, results) in [("1/2", "a"), ("2/2", "b")] {
        run_shard(&apart, shard, results);
    }
    apart.run(["collect", "a/many", "b/many", "--into", MINE]).works();
    assert_eq!(everything(&apart, MINE), expected, "shards in folders of their own");
    let figure =
        |session: &Session| fs::read(session.path("results/many/summary.csv")).unwrap().len();
    assert!(figure(&apart) > 0);
    // A run reuses what was collected.
    let said = apart.run(["run", "many.toml"]).works();
    assert!(said.stdout.contains("60 there already"), "{}", said.stdout);
}

#[test]
fn every_trial_is_in_one_shard_and_none_has_everything() {
    let session = session(MANY);
    let mut rows = Vec::new();
    for shard in 1..=4 {
        run_shard(&session, &format!("{shard}/4"), "results");
        let path = session.path(&format!("results/many/trials.{shard}-of-4.csv"));
        rows.push(fs::read_to_string(path).unwrap().lines().count() - 1);
    }
    assert_eq!(rows.iter().sum::<usize>(), 60, "{rows:?}");
    assert!(rows.iter().all(|&rows| (10..=20).contains(&rows)), "{rows:?}");
}

#[test]
fn missing_arms_are_reported_and_can_be_added_later() {
    let session = session(MANY);
    run_shard(&session, "1/2", "results");
    let said = session.run(["collect", MINE]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("arms are missing"), "{}", said.stderr);
    let status = session.run(["status", MINE]).works();
    assert!(status.stdout.contains("of 60 arms have a row"), "{}", status.stdout);
    // With other shards: existing rows are not run again.
    run_shard(&session, "1/1", "results");
    session.run(["collect", MINE]).works();
    let undisturbed = self::session(MANY);
    undisturbed.run(["run", "many.toml", "--quiet"]).succeeds();
    assert_eq!(everything(&session, MINE), everything(&undisturbed, MINE));
}

#[test]
fn contradictions_are_refused_and_change_nothing() {
    let session = session(MANY);
    run_shard(&session, "1/2", "a");
    run_shard(&session, "1/1", "b");
    let path = session.path("a/many/trials.1-of-2.csv");
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replacen(",done,,0.", ",done,,9.", 1);
    assert_ne!(changed, text);
    fs::write(&path, changed).unwrap();
    let said = session.run(["collect", "b/many", "a/many"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    for words in ["contradict", "trials.1-of-2.csv", "trials.1-of-1.csv", "workload_error"] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    assert!(session.path("b/many/trials.1-of-1.csv").exists());
    session.file("many.toml", MANY.replace("iterations = 40", "iterations = 41"));
    run_shard(&session, "1/2", "c");
    session.run(["collect", "b/many", "c/many"]).complains(&["different configurations"]);
}

#[test]
fn invalid_shards_are_refused() {
    let session = session(MANY);
    for wrong in ["0/2", "3/2", "2", "a/b"] {
        session.run(["run", "many.toml", "--shard", wrong]).complains(&["--shard", "2/4"]);
    }
    assert!(!session.path("results").exists());
}

#[test]
fn the_scripts_for_slurm_can_be_read_before_they_are_submitted() {
    let session = session(MANY);
    let said = session
        .run([
            "slurm",
            "submit",
            "many.toml",
            "--tasks",
            "4",
            "--partition",
            "cpu",
            "--time",
            "1:00",
            "--mem",
            "2G",
            "--account",
            "us",
            "--sbatch=--cpus-per-task=2",
            "--trials",
            "2",
            "--only",
            "epsilon=0.5",
            "--dry-run",
        ])
        .succeeds();
    for words in [
        "#SBATCH --array=1-4\n",
        "#SBATCH --partition=cpu\n",
        "#SBATCH --time=1:00\n",
        "#SBATCH --mem=2G\n",
        "#SBATCH --account=us\n",
        "#SBATCH --cpus-per-task=2\n",
        "#SBATCH --requeue\n",
        "run many.toml --trials 2 --only epsilon=0.5 --results results --shard \
         \"$SLURM_ARRAY_TASK_ID/4\"",
        "collect results/many\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!session.path("results").exists());
    session.run(["slurm", "status", "many"]).complains(&["nothing was submitted"]);
}
