use std::fs;

use super::super::examples;
use super::*;

/// A trial with this error.
fn row(dataset: &str, arm: &str, trial: usize, error: f64) -> TrialRecord {
    let workload_error = Some(error);
    TrialRecord { workload_error, ..examples::row(dataset, "hdmm", arm, trial) }
}

fn infeasible(dataset: &str, trial: usize, bytes: f64) -> TrialRecord {
    TrialRecord {
        status: Status::Infeasible,
        workload_error: None,
        estimate_seconds: None,
        peak_bytes: Some(bytes),
        ..row(dataset, "own", trial, 0.0)
    }
}

fn rows() -> Vec<TrialRecord> {
    let mut rows = Vec::new();
    for (trial, (lls, pgm)) in
        [(0.3, 0.1), (0.8, 0.2), (0.5, 0.1), (0.4, 0.4), (0.6, 0.3)].into_iter().enumerate()
    {
        rows.push(infeasible("adult", trial, 3.84e11 - trial as f64));
        rows.push(row("adult", "lls", trial, lls));
        rows.push(row("adult", "pgm", trial, pgm));
    }
    rows
}

#[test]
fn medians_and_ranges_are_over_trials_and_ratios_within_them() {
    let summary = Summary::of(&rows());
    let arms: Vec<_> = summary.groups.iter().map(|group| group.arm.as_str()).collect();
    assert_eq!(arms, ["own", "lls", "pgm"]);
    let lls = &summary.groups[1];
    let error = lls.spread(Metric::WorkloadError).unwrap();
    assert_eq!((error.count, error.median, error.min, error.max), (5, 0.5, 0.3, 0.8));
    // 3, 4, 5, 1, 2: not the ratio of the medians, which is 0.5 / 0.2.
    let ratio = lls.ratio.unwrap();
    let interval = ratio.interval.unwrap();
    assert!((ratio.median - 3.0).abs() < 1e-12);
    assert!((interval.low - 1.0).abs() < 1e-12 && (interval.high - 5.0).abs() < 1e-12);
    assert!((interval.coverage - 0.9375).abs() < 1e-12);
    assert_eq!(summary.groups[2].ratio, None);
}

#[test]
fn trials_without_an_estimate_are_counted_and_not_averaged() {
    let mut rows = rows();
    rows[1].status = Status::Timeout;
    rows[4].status = Status::Failed;
    let summary = Summary::of(&rows);
    let (own, lls) = (&summary.groups[0], &summary.groups[1]);
    assert_eq!(own.endings, Endings { infeasible: 5, ..Endings::default() });
    assert_eq!((own.peak_bytes, own.ratio), (Some(3.84e11), None));
    assert_eq!(lls.endings, Endings { done: 3, timeout: 1, failed: 1, ..Endings::default() });
    assert_eq!(lls.endings.to_string(), "3 done, 1 timeout, 1 failed");
    assert_eq!(lls.spread(Metric::WorkloadError).unwrap().median, 0.5);
    assert_eq!(lls.ratio.unwrap().pairs, 3);
}

#[test]
fn datasets_sizes_budgets_and_mechanisms_are_kept_apart() {
    let base = row("adult", "pgm", 0, 0.1);
    let others = [
        TrialRecord { dataset: "loans".into(), ..base.clone() },
        TrialRecord { attributes: 16, ..base.clone() },
        TrialRecord { mechanism: "mwem".into(), ..base.clone() },
        TrialRecord { arm: "lls".into(), ..base.clone() },
        TrialRecord { epsilon: 2.0, ..base.clone() },
        TrialRecord { delta: 1e-3, ..base.clone() },
    ];
    let rows: Vec<_> = std::iter::once(base).chain(others).collect();
    let summary = Summary::of(&rows);
    assert_eq!(summary.groups.len(), rows.len());
    // Only the lls arm of the base has a pgm arm to compare with.
    assert_eq!(summary.groups.iter().filter(|group| group.ratio.is_some()).count(), 1);
}

/// A row whose certified gap is this share of its loss.
fn certified(arm: &str, trial: usize, share: f64) -> TrialRecord {
    let (loss, gap) = (Some(1000.0), Some(1000.0 * share));
    TrialRecord { loss, gap, ..row("adult", arm, trial, 0.25) }
}

#[test]
fn estimates_that_have_not_converged_are_counted_and_marked() {
    let rows: Vec<TrialRecord> = [
        certified("pgm", 0, 0.001),
        certified("pgm", 1, 0.5),
        certified("mw", 0, 0.001),
        row("adult", "lls", 0, 0.25),
    ]
    .into();
    let summary = Summary::of(&rows);
    let counts: Vec<_> = summary.groups.iter().map(|group| group.unconverged).collect();
    assert_eq!(counts, [Some(1), Some(0), None]);
    let table = summary.table(Metric::WorkloadError);
    assert_eq!(table.matches("0.2500 \u{2020}").count(), 1, "{table}");
    assert!(table.contains("\u{2020} not converged: the loss is not certified"), "{table}");
    // The time of an iteration does not depend on convergence.
    assert!(!summary.table(Metric::EstimateSeconds).contains('\u{2020}'));
    let all_near = summary.groups.into_iter().filter(|group| group.unconverged != Some(1));
    let table = Summary { groups: all_near.collect() }.table(Metric::WorkloadError);
    assert!(!table.contains('\u{2020}'), "{table}");
}

#[test]
fn the_csv_has_a_line_for_each_arm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.csv");
    let mut rows = rows();
    rows.push(certified("mw", 0, 0.5));
    Summary::of(&rows).write_csv(&path).unwrap();
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let names = reader.headers().unwrap().clone();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    let get = |arm: usize, name: &str| {
        records[arm][names.iter().position(|found| found == name).unwrap()].to_string()
    };
    assert_eq!(records.len(), 4);
    assert_eq!((get(1, "unconverged"), get(3, "unconverged")), (String::new(), "1".into()));
    assert_eq!(get(0, "infeasible"), "5");
    assert_eq!(get(0, "peak_bytes"), "384000000000");
    assert_eq!(get(0, "workload_error_median"), "");
    assert_eq!(get(1, "workload_error_median"), "0.5");
    assert_eq!(get(1, "workload_error_max"), "0.8");
    assert_eq!(get(1, "ratio_to_pgm_pairs"), "5");
    assert_eq!(get(1, "ratio_to_pgm_high"), "5");
    assert_eq!(get(2, "ratio_to_pgm_coverage"), "");
    assert_eq!(get(1, "ratio_to_pgm_bootstrap_low"), "1");
    Summary::of(&[]).write_csv(&path).unwrap();
    assert_eq!(csv::Reader::from_path(&path).unwrap().headers().unwrap(), &names);
}

#[test]
fn a_summary_is_read_as_it_was_written_but_for_the_intervals_of_medians() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.csv");
    let mut rows = rows();
    rows.push(certified("mw", 0, 0.5));
    let mut written = Summary::of(&rows);
    written.write_csv(&path).unwrap();
    for spread in written.groups.iter_mut().flat_map(|group| group.spreads.iter_mut().flatten()) {
        spread.interval = None;
    }
    assert_eq!(Summary::read_csv(&path).unwrap(), written);
    // Only columns of later versions may be missing.
    let text = String::from_utf8(written.csv().unwrap()).unwrap();
    let older = text.lines().map(|line| line.rsplitn(3, ',').nth(2).unwrap());
    fs::write(&path, older.collect::<Vec<_>>().join("\n")).unwrap();
    let read = Summary::read_csv(&path).unwrap();
    assert_eq!(read.groups[1].ratio.unwrap().bootstrap, None);
    fs::write(&path, text.replace(",0.8,", ",eighty,")).unwrap();
    assert!(Summary::read_csv(&path).unwrap_err().to_string().contains("line: 3"));
}

#[test]
fn the_table_says_what_infeasible_arms_need_and_marks_stand_ins() {
    let mut rows = rows();
    for trial in 0..2 {
        let standin = TrialRecord { standin: true, ..row("loans", "pgm", trial, 0.25) };
        rows.push(TrialRecord { mechanism: "mwem".into(), ..standin });
    }
    let expected = "\
hdmm
  dataset  arm  median workload error        range             times better than     seconds  trials
  adult    own  infeasible, 384 GB                                                     5 infeasible
  adult    lls  0.5000              0.3000 to 0.8000                          0.2500   5 done
  adult    pgm  0.2000              0.1000 to 0.4000  lls 3.000 [1.000, 5.000]  0.2500   5 done

mwem
  dataset  arm  median workload error  range             seconds  trials
  loans *  pgm  0.2500        0.2500 to 0.2500  0.2500   2 done

[low, high]: the median of all possible trials is in it with a probability of 93.8 %

* stand-in: synthetic records in place of data that does not ship
";
    // Written by hand, so the blanks between columns are not compared; text_table tests them.
    let words = |text: &str| -> Vec<Vec<String>> {
        let line = |line: &str| line.split_whitespace().map(String::from).collect();
        text.lines().map(line).collect()
    };
    assert_eq!(words(&Summary::of(&rows).table(Metric::WorkloadError)), words(expected));
    let epsilons = [1.0, 0.1].map(|epsilon| TrialRecord { epsilon, ..rows[1].clone() });
    assert!(Summary::of(&epsilons).table(Metric::WorkloadError).contains("epsilon"));
}

#[test]
fn a_single_trial_has_no_range_and_comparisons_are_two_to_a_row() {
    let arms = [("own", 0.8), ("lls", 0.4), ("nnls", 0.3), ("pgm", 0.1)];
    let rows = arms.map(|(arm, error)| row("adult", arm, 0, error));
    let table = Summary::of(&rows).table(Metric::WorkloadError);
    assert!(!table.contains("range") && !table.contains(" to "), "{table}");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[5].contains("own 8.000, lls 4.000  "), "{table}");
    assert_eq!(lines[6].trim(), "nnls 3.000", "{table}");
    assert_eq!(lines[5].find("own"), lines[6].find("nnls"), "{table}");
}
