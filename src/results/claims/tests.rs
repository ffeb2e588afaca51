use serde::Deserialize;

use super::super::examples;
use super::super::record::{TraceRecord, TrialRecord};
use super::*;
use crate::config::{Claim, Status};

/// All statements of the paper, for configurations to copy.
const PAPER: &str = include_str!("paper.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Claim>,
}

fn claim(keys: &str) -> Claim {
    let common = "[[claim]]\nsays = 'so it is'\nmechanism = 'hdmm'\n";
    let mut file: File = toml::from_str(&format!("{common}{keys}")).unwrap();
    file.claim.remove(0)
}

fn refusal(keys: &str) -> String {
    let common = "[[claim]]\nsays = 'so it is'\nmechanism = 'hdmm'\narm = 'lls'\npaper = 'words'\n";
    toml::from_str::<File>(&format!("{common}{keys}")).unwrap_err().to_string()
}

fn trials(arm: &str, epsilon: f64, errors: &[f64]) -> Vec<TrialRecord> {
    let row = |(trial, &error): (usize, &f64)| TrialRecord {
        epsilon,
        workload_error: Some(error),
        measurement_error: Some(error * error),
        ..examples::row("adult", "hdmm", arm, trial)
    };
    errors.iter().enumerate().map(row).collect()
}

fn ended(status: Status, count: usize) -> Vec<TrialRecord> {
    let mut rows = trials("lls", 1.0, &vec![0.5; count]);
    rows.iter_mut().for_each(|row| row.status = status);
    rows
}

fn verdict(claim: &Claim, rows: &[TrialRecord]) -> Verdict {
    claim.check(rows, &[]).verdict
}

use Verdict::{CannotTell, Differs, Holds};

const PGM: [f64; 5] = [0.1, 0.2, 0.1, 0.2, 0.1];
const LLS: [f64; 5] = [0.3, 0.8, 0.31, 0.24, 0.5];
const RATIO: &str = "kind = 'ratio'\ndataset = 'adult'\narm = 'lls'\nagainst = 'pgm'\n";

#[test]
fn all_statements_of_the_paper_can_be_written_down() {
    let file: File = toml::from_str(PAPER).unwrap();
    assert_eq!(file.claim.len(), 26);
    for claim in &file.claim {
        let finding = claim.check(&[], &[]);
        assert_eq!(finding.verdict, CannotTell, "{}", claim.says());
        assert!(!finding.why.is_empty(), "{}", claim.says());
        let stored = serde_json::to_string(claim).unwrap();
        assert_eq!(serde_json::from_str::<Claim>(&stored).unwrap(), *claim, "{stored}");
    }
}

#[test]
fn a_ratio_holds_within_its_tolerance_of_the_papers_number() {
    // Ratios 3, 4, 3.1, 1.2, 5: the median is 3.1.
    let rows = [trials("lls", 1.0, &LLS), trials("pgm", 1.0, &PGM)].concat();
    for (keys, expected) in [
        ("paper = 3.2\n", Holds),
        ("paper = 4.6\n", Holds),
        ("paper = 4.7\n", Differs),
        ("paper = 2.0\n", Differs),
        ("paper = 3.2\ntolerance = 1.01\n", Differs),
        ("paper = 30\nat_least = 3\n", Holds),
        ("paper = 3\nat_most = 3\n", Differs),
        ("paper = 3\nat_least = 3\nat_most = 3.2\n", Holds),
        ("paper = 9.6\nmetric = 'measurement_error'\ntolerance = 1.1\n", Holds),
        ("paper = 3.1\nmetric = 'l1_loss'\n", CannotTell),
        ("paper = 3.1\nepsilon = 2.0\n", CannotTell),
        ("paper = 3.1\nepsilon = [1, 2]\n", CannotTell),
        ("paper = 31\nepsilon = [1, 2]\n", Differs),
        ("paper = 3.1\nmin_trials = 6\n", CannotTell),
    ] {
        assert_eq!(verdict(&claim(&format!("{RATIO}{keys}")), &rows), expected, "{keys}");
    }
    let finding = claim(&format!("{RATIO}paper = 3.2\n")).check(&rows, &[]);
    assert_eq!((&*finding.paper, &*finding.ours), ("3.2", "3.100"));
    assert!((finding.low.unwrap() - 1.2).abs() < 1e-12);
    assert!((finding.high.unwrap() - 5.0).abs() < 1e-12);
    let why = "3.100 is between 2.133 and 4.800, \
               though the 93.8 % interval [1.200, 5.000] leaves it open";
    assert_eq!(finding.why, why);
}

#[test]
fn coverage_is_the_mean_over_trials_and_about_error_bars_only() {
    let keys = "kind = 'coverage'\ndataset = 'adult'\narm = 'lls'\npaper = '95 %'\n\
                at_least = 0.93\nat_most = 0.97\n";
    let rows = |coverages: &[f64]| -> Vec<TrialRecord> {
        let mut rows = trials("lls", 1.0, &[0.5; 5]);
        for (row, &coverage) in rows.iter_mut().zip(coverages) {
            (row.coverage, row.bound_coverage) = (Some(coverage), Some(1.0));
        }
        rows
    };
    // The median would be 1.
    let finding = claim(keys).check(&rows(&[1.0, 1.0, 1.0, 0.9, 0.8]), &[]);
    assert_eq!((finding.verdict, &*finding.ours), (Holds, "0.9400"));
    assert_eq!(verdict(&claim(keys), &rows(&[0.9, 0.92, 0.92, 1.0, 0.9])), Differs);
    assert_eq!(verdict(&claim(keys), &rows(&[0.95; 4])), CannotTell);
    assert_eq!(verdict(&claim(keys), &trials("lls", 1.0, &[0.5; 5])), CannotTell);
    let bounds = format!("{keys}metric = 'bound_coverage'\n");
    assert_eq!(verdict(&claim(&bounds), &rows(&[0.95; 5])), Differs);
    let refused =
        refusal("kind = 'coverage'\ndataset = 'adult'\nmetric = 'l1_loss'\nat_least = 1\n");
    assert!(refused.contains("'metric' is 'l1_loss'"), "{refused}");
    let stored = serde_json::to_string(&claim(&bounds)).unwrap();
    assert_eq!(serde_json::from_str::<Claim>(&stored).unwrap(), claim(&bounds));
}

#[test]
fn a_tolerance_never_confirms_the_opposite_and_a_winner_needs_its_whole_interval() {
    let rows =
        |errors: [f64; 5]| [trials("lls", 1.0, &errors), trials("pgm", 1.0, &[1.0; 5])].concat();
    let smaller = claim(&format!("{RATIO}paper = 1.2\n"));
    assert_eq!(verdict(&smaller, &rows([0.8, 0.85, 0.9, 0.95, 0.97])), Differs);
    assert_eq!(verdict(&smaller, &rows([0.9, 1.1, 1.2, 1.3, 1.4])), CannotTell);
    assert_eq!(verdict(&smaller, &rows([1.05, 1.1, 1.2, 1.3, 1.4])), Holds);
    let behind = claim(&format!("{RATIO}paper = 0.9\n"));
    assert_eq!(verdict(&behind, &rows([1.01, 1.02, 1.03, 1.04, 1.05])), Differs);
    let ahead = claim(&format!("{RATIO}paper = 'ahead'\nat_least = 1\n"));
    let finding = ahead.check(&rows([0.9, 1.1, 1.2, 1.3, 1.4]), &[]);
    assert_eq!(finding.verdict, CannotTell);
    assert_eq!(finding.why, "at epsilon 1 the 93.8 % interval [0.9000, 1.400] includes 1");
    // Equality names no winner.
    let level = claim(&format!("{RATIO}paper = 1\n"));
    assert_eq!(verdict(&level, &rows([0.9, 1.1, 1.2, 1.3, 1.4])), Holds);
}

#[test]
fn identical_arms_have_a_ratio_of_one_and_almost_no_tolerance() {
    let same = format!("{RATIO}paper = 1\ntolerance = 1.01\n");
    let rows = |factor: f64| {
        [trials("lls", 1.0, &LLS.map(|error| error * factor)), trials("pgm", 1.0, &LLS)].concat()
    };
    assert_eq!(verdict(&claim(&same), &rows(1.001)), Holds);
    assert_eq!(verdict(&claim(&same), &rows(1.1)), Differs);
    assert_eq!(verdict(&claim(&same), &rows(1.0)[1..]), CannotTell);
}

#[test]
fn a_ratio_cannot_be_told_when_too_few_trials_have_both_arms() {
    let mut rows = [trials("lls", 1.0, &LLS), trials("pgm", 1.0, &PGM)].concat();
    rows[2].status = Status::Timeout;
    let finding = claim(&format!("{RATIO}paper = 3\n")).check(&rows, &[]);
    assert_eq!(finding.verdict, CannotTell);
    let why = "at epsilon 1 only 4 of the 5 trials needed ended \
               (lls: 4 done, 1 timeout; pgm: 5 done)";
    assert_eq!(finding.why, why);
    assert!(finding.value.is_some());
}

#[test]
fn a_stand_in_tells_nothing_but_our_number_is_shown() {
    let mut rows = [trials("lls", 1.0, &LLS), trials("pgm", 1.0, &PGM)].concat();
    rows.iter_mut().for_each(|row| row.standin = true);
    for (paper, would) in [("3", "its records agree"), ("30", "its records do not agree")] {
        let finding = claim(&format!("{RATIO}paper = {paper}\n")).check(&rows, &[]);
        assert_eq!((finding.verdict, &*finding.ours), (CannotTell, "3.100"));
        assert!(finding.why.contains("adult is a stand-in"), "{}", finding.why);
        assert!(finding.why.contains(would), "{}", finding.why);
    }
}

#[test]
fn an_arm_is_infeasible_when_all_of_its_trials_are() {
    let ends = "kind = 'ends'\ndataset = 'adult'\narm = 'lls'\npaper = 'infeasible'\n";
    let either = claim(&format!("{ends}status = ['infeasible', 'timeout']\n"));
    let infeasible = claim(&format!("{ends}status = 'infeasible'\nmin_trials = 3\n"));
    let with = |one: Status| [ended(Status::Infeasible, 2), ended(one, 1)].concat();
    assert_eq!(verdict(&either, &with(Status::Timeout)), Holds);
    assert_eq!(verdict(&infeasible, &with(Status::Infeasible)), Holds);
    assert_eq!(verdict(&infeasible, &with(Status::Timeout)), Differs);
    assert_eq!(verdict(&infeasible, &with(Status::Done)), Differs);
    assert_eq!(verdict(&infeasible, &with(Status::Failed)), CannotTell);
    assert_eq!(verdict(&infeasible, &ended(Status::Infeasible, 2)), CannotTell);
    assert_eq!(verdict(&infeasible, &ended(Status::Done, 1)), Differs);
    assert_eq!(verdict(&either, &[]), CannotTell);
    let finding = infeasible.check(&with(Status::Done), &[]);
    assert_eq!(finding.ours, "1 done, 2 infeasible");
}

#[test]
fn a_trend_is_followed_at_every_step() {
    let trend = |keys: &str| {
        claim(&format!(
            "{RATIO}paper = 'grows'\nas_epsilon_falls = 'grows'\nmin_trials = 1\n{keys}"
        ))
    };
    let rows = |ratios: [f64; 3]| {
        let at =
            |(epsilon, ratio)| [trials("lls", epsilon, &[ratio]), trials("pgm", epsilon, &[1.0])];
        [0.1, 1.0, 10.0].into_iter().zip(ratios).flat_map(at).flatten().collect::<Vec<_>>()
    };
    let listed = trend("epsilon = [0.1, 1, 10]\n");
    assert_eq!(verdict(&listed, &rows([9.0, 3.0, 0.9])), Holds);
    assert_eq!(verdict(&listed, &rows([9.0, 0.8, 0.9])), Differs);
    assert_eq!(verdict(&listed, &rows([2.0, 2.0, 2.0])), Differs);
    assert_eq!(verdict(&listed, &rows([9.0, 3.0, 0.9])[2..]), CannotTell);
    // Without a list, all budgets of the rows.
    assert_eq!(verdict(&trend(""), &rows([9.0, 3.0, 0.9])[2..]), Holds);
    assert_eq!(verdict(&trend(""), &rows([9.0, 3.0, 0.9])[4..]), CannotTell);
    let lenient = trend("tolerance = 1.2\n");
    assert_eq!(verdict(&lenient, &rows([9.0, 0.8, 0.9])), Holds);
    assert_eq!(verdict(&lenient, &rows([9.0, 0.7, 0.9])), Differs);
    let shrinks =
        claim(&format!("{RATIO}paper = 'less'\nas_epsilon_falls = 'shrinks'\nmin_trials = 1\n"));
    assert_eq!(verdict(&shrinks, &rows([9.0, 3.0, 0.9])), Differs);
    assert_eq!(verdict(&shrinks, &rows([0.9, 3.0, 9.0])), Holds);
    let finding = listed.check(&rows([9.0, 3.0, 0.9]), &[]);
    assert_eq!(finding.ours, "9.000 (epsilon 0.1), 3.000 (epsilon 1), 0.9000 (epsilon 10)");
    assert_eq!(
        (finding.value, &*finding.why),
        (None, "grows from 0.9000 to 9.000 as epsilon falls")
    );
}

#[test]
fn an_error_is_above_a_threshold_at_each_epsilon() {
    let useless = "kind = 'median'\ndataset = 'adult'\narm = 'lls'\npaper = 'no utility'\n\
                   epsilon = [0.1, 0.3]\nat_least = 0.5\n";
    let useless = claim(useless);
    let low = trials("lls", 0.1, &[0.9, 0.8, 0.4, 0.9, 0.7]);
    let rows = |errors: &[f64]| [low.clone(), trials("lls", 0.3, errors)].concat();
    assert_eq!(verdict(&useless, &rows(&[0.6; 5])), Holds);
    assert_eq!(verdict(&useless, &rows(&[0.4; 5])), Differs);
    assert_eq!(verdict(&useless, &rows(&[0.6; 4])), CannotTell);
    let finding = useless.check(&rows(&[0.4; 5]), &[]);
    assert_eq!(finding.why, "0.4000 is not at least 0.5000 at epsilon 0.3");
}

#[test]
fn what_must_never_happen_is_told_by_the_largest_trial() {
    let used = |errors: &[f64]| {
        let mut rows = trials("lls", 1.0, errors);
        for (place, row) in rows.iter_mut().enumerate() {
            (row.rounds, row.round_limit) = (Some(place + 1), Some(5));
            (row.max_error, row.error_bound) = (row.workload_error, Some(0.8));
            row.dataset = format!("data-{place}");
        }
        rows
    };
    // Over all data if the claim names none.
    let most = claim(
        "kind = 'largest'\narm = 'lls'\npaper = 'L'\nmetric = 'rounds_of_limit'\nat_most = 1\n",
    );
    assert_eq!(verdict(&most, &used(&PGM)), Holds);
    assert_eq!(most.check(&used(&PGM), &[]).value, Some(1.0));
    assert_eq!(verdict(&most, &used(&[0.1; 6])), Differs, "one is too many");
    assert_eq!(verdict(&most, &used(&PGM[..4])), CannotTell);
    let error = claim(
        "kind = 'largest'\narm = 'lls'\npaper = 'b'\nmetric = 'error_of_bound'\nat_most = 1\n",
    );
    assert_eq!(verdict(&error, &used(&[0.1, 0.2, 0.79, 0.1, 0.1])), Holds);
    assert_eq!(verdict(&error, &used(&[0.1, 0.2, 0.81, 0.1, 0.1])), Differs);
}

#[test]
fn an_arm_reaches_as_far_as_it_is_done_and_ends_where_it_is_not() {
    let reach = |keys: &str| claim(&format!("kind = 'reach'\narm = 'lls'\n{keys}"));
    let rows = |sizes: &[(usize, Status)]| -> Vec<TrialRecord> {
        let row = |&(attributes, status): &(usize, Status)| TrialRecord {
            attributes,
            status,
            dataset: format!("chain-{attributes}"),
            ..examples::row("chain", "hdmm", "lls", 0)
        };
        sizes.iter().map(row).collect()
    };
    use Status::{Done, Failed, Infeasible};
    let near = reach("paper = 10\n");
    assert_eq!(verdict(&near, &rows(&[(3, Done), (9, Done), (20, Infeasible)])), Holds);
    assert_eq!(verdict(&near, &rows(&[(3, Done), (5, Infeasible), (20, Infeasible)])), Differs);
    assert_eq!(verdict(&near, &rows(&[(3, Done), (20, Done), (50, Infeasible)])), Differs);
    assert_eq!(verdict(&near, &rows(&[(3, Done), (9, Done)])), CannotTell);
    assert_eq!(verdict(&near, &rows(&[(3, Done), (9, Done), (20, Failed)])), CannotTell);
    assert_eq!(verdict(&near, &rows(&[(3, Done), (20, Infeasible)])), CannotTell);
    assert_eq!(verdict(&near, &rows(&[(3, Infeasible)])), CannotTell);
    let far = reach("paper = 1000\nat_least = 1000\n");
    assert_eq!(verdict(&far, &rows(&[(10, Done), (1000, Done)])), Holds);
    assert_eq!(verdict(&far, &rows(&[(10, Done), (1000, Infeasible)])), Differs);
    assert_eq!(verdict(&far, &rows(&[(10, Done), (1000, Failed)])), CannotTell);
    assert_eq!(verdict(&far, &rows(&[(10, Done)])), CannotTell);
    assert_eq!(near.check(&rows(&[(3, Done), (9, Done), (20, Infeasible)]), &[]).ours, "9");
}

#[test]
fn an_error_that_rises_again_late_ends_above_its_smallest() {
    let rises = claim(
        "kind = 'rebound'\ndataset = 'adult'\narm = 'lls'\npaper = 1.27\nat_least = 1.05\n\
         min_trials = 2\n",
    );
    let rows = trials("lls", 1.0, &[0.5, 0.5]);
    let with = |errors: &[f64]| -> Vec<TraceRecord> {
        rows.iter().flat_map(|row| examples::traces(row, errors)).collect()
    };
    let check = |traces: &[TraceRecord]| rises.check(&rows, traces);
    assert_eq!(check(&with(&[0.3, 0.066, 0.07, 0.084])).verdict, Holds);
    assert!((check(&with(&[0.3, 0.066, 0.084])).value.unwrap() - 0.084 / 0.066).abs() < 1e-12);
    assert_eq!(check(&with(&[0.3, 0.1, 0.066])).verdict, Differs);
    assert_eq!(check(&with(&[0.3, 0.066, 0.068])).verdict, Differs);
    assert_eq!(check(&with(&[0.3, 0.066, 0.084])[..3]).verdict, CannotTell);
    assert_eq!(check(&[]).verdict, CannotTell);
}

#[test]
fn the_place_and_the_size_of_the_smallest_error_are_those_of_the_trace() {
    let rows = trials("lls", 1.0, &[0.5, 0.5]);
    // Traces at iterations 0, 1, 2 and 3.
    let traces: Vec<TraceRecord> =
        rows.iter().flat_map(|row| examples::traces(row, &[0.3, 0.066, 0.07, 0.084])).collect();
    let place = traces.iter().find(|trace| trace.workload_error == 0.066).unwrap().iteration;
    let of = |keys: &str| {
        let keys = format!("dataset = 'adult'\narm = 'lls'\nmin_trials = 2\n{keys}");
        claim(&keys).check(&rows, &traces)
    };
    let argmin = of(&format!("kind = 'argmin'\npaper = {place}\ntolerance = 1\n"));
    assert_eq!((argmin.verdict, argmin.value), (Holds, Some(place as f64)));
    assert_eq!(of("kind = 'argmin'\npaper = 900\n").verdict, Differs);
    let minimum = of("kind = 'minimum'\npaper = 0.066\ntolerance = 1.1\n");
    assert_eq!((minimum.verdict, minimum.value), (Holds, Some(0.066)));
    assert_eq!(of("kind = 'minimum'\npaper = 0.044\ntolerance = 1.1\n").verdict, Differs);
}

#[test]
fn trials_of_several_cases_are_paired_within_their_case() {
    let of = |case: &str, arm: &str, error: f64| {
        let named = |row| TrialRecord { case: case.into(), ..row };
        trials(arm, 1.0, &[error]).into_iter().map(named).collect::<Vec<_>>()
    };
    let rows = [
        of("draw 1", "lls", 0.2),
        of("draw 1", "pgm", 0.1),
        of("draw 2", "lls", 0.6),
        of("draw 2", "pgm", 0.2),
        of("draw 3", "lls", 0.4),
        of("draw 3", "pgm", 0.1),
    ]
    .concat();
    let ratio = claim(&format!("{RATIO}paper = 3\nmin_trials = 3\n")).check(&rows, &[]);
    assert_eq!((ratio.verdict, ratio.value), (Holds, Some(0.6 / 0.2)));
}

#[test]
fn claims_that_make_no_sense_are_refused_with_their_line() {
    for (keys, message) in [
        ("kind = 'ratio'\ndataset = 'adult'\n", "needs 'against'"),
        ("kind = 'ratio'\nagainst = 'pgm'\nat_least = 1\n", "needs 'dataset'"),
        ("kind = 'ends'\ndataset = 'adult'\n", "needs 'status'"),
        ("kind = 'ends'\ndataset = 'adult'\nstatus = 'asleep'\n", "status"),
        ("kind = 'median'\ndataset = 'adult'\n", "nothing to compare with"),
        ("kind = 'median'\ndataset = 'adult'\nagainst = 'pgm'\n", "'against' has no meaning"),
        ("kind = 'rebound'\ndataset = 'adult'\nmetric = 'gap'\n", "gap"),
        ("kind = 'reach'\nas_epsilon_falls = 'grows'\n", "'as_epsilon_falls' has no meaning"),
        ("kind = 'reach'\nat_least = 3\nat_most = 2\n", "'at_most' is 2"),
        ("kind = 'reach'\nat_least = 3\ntolerance = 2\n", "'tolerance' has no meaning"),
        ("kind = 'median'\ndataset = 'adult'\nat_least = 1\nepsilon = [1, 0]\n", "'epsilon' is 0"),
        ("kind = 'median'\ndataset = 'adult'\nat_least = 1\nepsilon = []\n", "needs 'epsilon'"),
        (
            "kind = 'median'\ndataset = 'adult'\nas_epsilon_falls = 'grows'\nepsilon = [1, 1]\n",
            "two different values",
        ),
        (
            "kind = 'median'\ndataset = 'adult'\nas_epsilon_falls = 'grows'\ntolerance = 0.5\n",
            "a factor of 1 or more",
        ),
        ("kind = 'median'\ndataset = 'adult'\nat_least = 1\ncolour = 1\n", "colour"),
        ("kind = 'median'\ndataset = 'adult'\nat_least = 1\nfact = 'records'\n", "'fact' has"),
        ("kind = 'median'\ndataset = 'adult'\nat_least = 1\nways = 1\n", "'ways' has no meaning"),
        ("kind = 'data'\ndataset = 'adult'\nat_least = 1\n", "'mechanism' has no meaning"),
    ] {
        let refused = refusal(keys);
        assert!(refused.contains(message), "{keys}: {refused}");
        assert!(refused.contains("line "), "{keys}: {refused}");
    }
}

#[test]
fn findings_are_written_and_printed_with_the_reasons_of_those_that_do_not_hold() {
    let rows = [trials("lls", 1.0, &LLS), trials("pgm", 1.0, &PGM)].concat();
    let keys = ["paper = 3.2\n", "paper = 30\n", "paper = 30\nrole = 'invariant'\n"];
    let claims = keys.map(|keys| claim(&format!("{RATIO}{keys}")));
    let findings = claims.map(|claim| claim.check(&rows, &[]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claims.csv");
    write_claims(&path, &findings).unwrap();
    let read: Result<Vec<Finding>, _> =
        csv::Reader::from_path(&path).unwrap().deserialize().collect();
    assert_eq!(read.unwrap(), findings);
    let expected = "   claim     role       paper  ours                  verdict\n\
                    1  so it is  statement  3.2    3.100 [1.200, 5.000]  holds\n\
                    2  so it is  statement  30     3.100 [1.200, 5.000]  differs\n\
                    3  so it is  invariant  30     3.100 [1.200, 5.000]  differs\n\
                    statements of the paper: 1 of 2 hold, 1 differs; invariants: 0 of 1 hold, \
                    1 differs\n\
                    2, 3: 3.100 is not between 20.00 and 45.00\n";
    assert_eq!(claims_table(&findings), expected);
}

#[test]
fn claims_that_differ_in_details_of_their_reason_share_a_line() {
    let two = claim(&format!("{RATIO}paper = 3.2\n"));
    let rows = [trials("lls", 1.0, &LLS[..2]), trials("pgm", 1.0, &PGM[..2])].concat();
    let one = [trials("lls", 1.0, &LLS[..2]), trials("pgm", 1.0, &PGM[..1])].concat();
    let findings = [two.check(&rows, &[]), two.check(&one, &[]), two.check(&rows, &[])];
    assert_ne!(findings[0].why, findings[1].why);
    let table = claims_table(&findings);
    let reasons: Vec<&str> = table.lines().skip(5).collect();
    assert_eq!(reasons.len(), 2, "{table}");
    // With the same details, these are shown.
    let table = claims_table(&[findings[0].clone(), findings[2].clone()]);
    assert!(table.ends_with(&format!("1, 2: {}\n", findings[0].why)), "{table}");
}

#[test]
fn arms_of_two_mechanisms_and_cases_are_told_apart() {
    let of = |mechanism: &str, case: &str, errors: &[f64]| -> Vec<TrialRecord> {
        let named = |row| TrialRecord { mechanism: mechanism.into(), case: case.into(), ..row };
        trials("own", 1.0, errors).into_iter().map(named).collect()
    };
    let rows = [
        of("hdmm", "units", &[0.4; 5]),
        of("privlet", "units", &[0.1; 5]),
        of("hdmm", "ranges", &[0.4; 5]),
        of("privlet", "ranges", &[0.8; 5]),
    ]
    .concat();
    let ratio = |case: &str| {
        let keys = "kind = 'ratio'\ndataset = 'adult'\narm = 'own'\nagainst = 'own'\npaper = 4.0\n";
        claim(&format!("{keys}against_mechanism = 'privlet'\ncase = '{case}'\n"))
    };
    assert_eq!(ratio("units").check(&rows, &[]).value, Some(4.0));
    assert_eq!(ratio("ranges").check(&rows, &[]).value, Some(0.5));
    assert_eq!(verdict(&ratio("units"), &rows), Holds);
    assert_eq!(verdict(&ratio("ranges"), &rows), Differs);
}
