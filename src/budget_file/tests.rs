use std::fs;
use std::path::Path;
use std::thread;

use tempfile::TempDir;

use super::*;
use dp::{BudgetError, Delta, Epsilon, Rho};

fn approximate(epsilon: f64, delta: f64) -> Guarantee {
    (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).into()
}

fn request(promised: Guarantee) -> Request<'static> {
    Request {
        dataset: "people",
        neighbours: Neighbours::Replace,
        promised,
        kept: promised,
        release: "new.csv",
        mechanism: "mst",
        date: "2026-01-01T00:00:00Z",
    }
}

/// A budget file with this total.
fn budget(total: Guarantee) -> (TempDir, BudgetFile) {
    let folder = tempfile::tempdir().unwrap();
    let file = BudgetFile::at(folder.path().join("people.budget"));
    let header = Header::new("people", Neighbours::Replace, total, "2026-01-01T00:00:00Z");
    file.create(&header).unwrap();
    (folder, file)
}

/// A file of five lines: three charges, the second of them completed.
fn example() -> (TempDir, BudgetFile) {
    let (folder, file) = budget(approximate(1.0, 1e-6));
    let one = request(approximate(0.25, 1e-7));
    assert_eq!(file.charge(&one).unwrap(), 1);
    assert_eq!(file.charge(&one).unwrap(), 2);
    let (records_blake3, date) = ("00".into(), "2026-01-02T00:00:00Z".into());
    file.complete(Completion { charge: 2, records_blake3, date }).unwrap();
    assert_eq!(file.charge(&one).unwrap(), 3);
    (folder, file)
}

fn text(file: &BudgetFile) -> String {
    fs::read_to_string(file.path()).unwrap()
}

#[test]
fn a_file_round_trips() {
    let (_folder, file) = example();
    let statement = file.read().unwrap();
    assert_eq!(statement.header.dataset, "people");
    assert_eq!((statement.releases.len(), statement.lines()), (3, 5));
    let completed: Vec<bool> =
        statement.releases.iter().map(|release| release.completion.is_some()).collect();
    assert_eq!(completed, [false, true, false]);
    let spent = statement.account.spent().unwrap();
    assert!(matches!(spent, Guarantee::Approximate { epsilon, delta }
        if epsilon.get() == 0.75 && (delta.get() - 3e-7).abs() < 1e-20));
    assert!(is_budget_file(&text(&file)) && text(&file).contains(",\"version\":1,\"notice\":"));
}

#[test]
fn the_exact_total_is_accepted_and_one_ulp_more_is_refused() {
    for (epsilon, delta) in [(1.0, 1e-6), (0.1, 1e-9), (0.3, 3e-7)] {
        let total = approximate(epsilon, delta);
        let refuse = |refused: Guarantee| {
            let (_folder, file) = budget(total);
            let length = text(&file).len();
            let error = file.charge(&request(refused)).unwrap_err();
            assert!(matches!(error.problem, Problem::Budget(BudgetError::Overspent { .. })));
            assert_eq!(text(&file).len(), length, "a refusal writes nothing");
        };
        refuse(approximate(epsilon.next_up(), delta));
        refuse(approximate(epsilon, delta.next_up()));
        let (_folder, file) = budget(total);
        file.charge(&request(total)).unwrap();
        assert_eq!(file.read().unwrap().account.remaining(), None);
        assert!(file.charge(&request(approximate(5e-324, 5e-324))).is_err());
    }
}

#[test]
fn costs_are_added_without_rounding() {
    // The float 0.1 is above a tenth: ten of them are more than 1, nine are not.
    let (_folder, file) = budget(approximate(1.0, 1e-6));
    for _ in 0..9 {
        file.charge(&request(approximate(0.1, 1e-9))).unwrap();
    }
    assert!(file.charge(&request(approximate(0.1, 1e-9))).is_err());
    let left = file.read().unwrap().account.remaining().unwrap();
    file.charge(&request(left)).unwrap();
}

#[test]
fn a_total_in_rho_is_charged_the_guarantee_of_the_mechanism() {
    let rho = |value| Guarantee::from(Rho::new(value).unwrap());
    let (_folder, file) = budget(rho(0.5));
    let both = |kept| Request { kept, ..request(approximate(1.0, 1e-6)) };
    file.charge(&both(rho(0.25))).unwrap();
    assert_eq!(file.read().unwrap().releases[0].charge.cost, rho(0.25));
    assert!(file.charge(&both(rho(0.25f64.next_up()))).is_err());
    file.charge(&both(rho(0.25))).unwrap();
    // (epsilon, delta) is not converted to rho.
    let (_folder, file) = budget(rho(0.5));
    let error = file.charge(&request(approximate(1e-9, 1e-9))).unwrap_err();
    assert!(matches!(error.problem, Problem::Budget(BudgetError::WrongCurrency { .. })));
    // A total in (epsilon, delta) is charged the stated guarantee, whatever the rho behind it.
    let (_folder, file) = budget(approximate(1.0, 1e-6));
    file.charge(&both(rho(0.25))).unwrap();
    assert_eq!(file.read().unwrap().releases[0].charge.cost, approximate(1.0, 1e-6));
}

#[test]
fn other_datasets_and_other_neighbours_are_refused() {
    let (_folder, file) = budget(approximate(1.0, 1e-6));
    let one = request(approximate(0.1, 1e-9));
    let refused = |request: Request| file.charge(&request).unwrap_err().problem;
    let other = refused(Request { dataset: "others", ..one });
    assert!(matches!(other, Problem::Dataset { .. }), "{other}");
    let other = refused(Request { neighbours: Neighbours::AddRemove, ..one });
    assert!(matches!(other, Problem::Neighbours { .. }), "{other}");
    assert_eq!(file.read().unwrap().lines(), 1);
}

/// The line that the error for a file with this content names.
fn reported_line(path: &Path, content: &[u8]) -> usize {
    fs::write(path, content).unwrap();
    let file = BudgetFile::at(path);
    let problem = file.read().unwrap_err().problem;
    assert!(file.charge(&request(approximate(0.1, 1e-9))).is_err());
    assert_eq!(fs::read(path).unwrap(), content, "a damaged file is not changed");
    match problem {
        Problem::Changed { line } | Problem::Incomplete { line } | Problem::Line { line, .. } => {
            line
        }
        Problem::Format | Problem::Version(_) => 1,
        other => panic!("{other}"),
    }
}

#[test]
fn every_changed_byte_is_reported_with_its_line() {
    let (_folder, file) = example();
    let good = text(&file);
    for place in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[place] ^= 1;
        let line = 1 + good[..place].matches('\n').count();
        assert_eq!(reported_line(file.path(), &bytes), line, "byte {place}");
    }
}

#[test]
fn a_file_truncated_within_a_line_is_refused() {
    let (_folder, file) = example();
    let good = text(&file);
    for length in 0..good.len() {
        let ends = good[..length].ends_with('\n');
        let line = 1 + good[..length].matches('\n').count();
        if ends {
            fs::write(file.path(), &good[..length]).unwrap();
            assert!(file.read().is_ok_and(|statement| statement.lines() == line - 1));
        } else {
            assert_eq!(
                reported_line(file.path(), &good.as_bytes()[..length]),
                line,
                "{length} bytes"
            );
        }
    }
}

#[test]
fn missing_repeated_and_swapped_lines_are_detected() {
    let (_folder, file) = example();
    let good = text(&file);
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    let arranged = |order: &[usize]| -> String { order.iter().map(|&i| lines[i]).collect() };
    for (order, line) in [
        (&[0, 2, 3, 4][..], 2),
        (&[0, 1, 3, 4], 3),
        (&[0, 1, 2, 4], 4),
        (&[0, 1, 1, 2, 3, 4], 3),
        (&[0, 2, 1, 3, 4], 2),
        (&[0, 1, 2, 3, 4, 4], 6),
        (&[1, 2, 3, 4], 1),
    ] {
        assert_eq!(reported_line(file.path(), arranged(order).as_bytes()), line, "{order:?}");
    }
}

#[test]
fn lines_with_a_valid_hash_and_invalid_content_are_detected() {
    let charge = |number, cost| {
        let (release, mechanism) = ("new.csv".into(), "mst".into());
        Entry::Charge(Charge { number, release, mechanism, cost, date: String::new() })
    };
    let completed = |charge| {
        let (records_blake3, date) = (String::new(), String::new());
        Entry::Completed(Completion { charge, records_blake3, date })
    };
    let small = approximate(0.25, 1e-9);
    for (entries, line) in [
        (vec![charge(1, approximate(1.0f64.next_up(), 1e-9))], 2),
        (vec![charge(1, small), charge(2, approximate(0.75f64.next_up(), 1e-9))], 3),
        (vec![charge(2, small)], 2),
        (vec![charge(1, Rho::new(0.1).unwrap().into())], 2),
        (vec![charge(1, small), completed(0)], 3),
        (vec![charge(1, small), completed(2)], 3),
        (vec![charge(1, small), completed(1), completed(1)], 4),
    ] {
        let (_folder, file) = budget(approximate(1.0, 1e-6));
        let (mut content, mut chain) = (text(&file), file.read().unwrap().chain);
        for entry in entries {
            let (line, next) = seal(&entry, Some(&chain)).unwrap();
            (content, chain) = (content + &line, next);
        }
        assert_eq!(reported_line(file.path(), content.as_bytes()), line);
    }
}

#[test]
fn other_files_and_later_versions_have_their_own_errors() {
    let (_folder, file) = example();
    let message = |content: &str| {
        fs::write(file.path(), content).unwrap();
        file.read().unwrap_err().to_string()
    };
    let good = text(&file);
    for other in ["", "\n", "a,b\n1,2\n", "{}\n", "{\"format\":\"other\",\"version\":1}\n"] {
        assert!(message(other).contains("not a budget file"), "{other}");
    }
    let later = good.replacen("\"version\":1", "\"version\":2", 1);
    assert!(message(&later).contains("version 2"));
}

#[test]
fn an_existing_file_is_not_replaced() {
    let (_folder, file) = example();
    let before = text(&file);
    let header = Header::new("people", Neighbours::Replace, approximate(9.0, 1e-6), "");
    assert!(file.create(&header).unwrap_err().to_string().contains("already"));
    assert_eq!(text(&file), before);
}

#[test]
fn concurrent_charges_do_not_overspend() {
    let (_folder, file) = budget(approximate(1.0, 1e-6));
    let accepted: Vec<bool> = thread::scope(|scope| {
        let charge = || file.charge(&request(approximate(0.125, 1e-9))).is_ok();
        let charges: Vec<_> = (0..24).map(|_| scope.spawn(charge)).collect();
        charges.into_iter().map(|charge| charge.join().unwrap()).collect()
    });
    assert_eq!(accepted.iter().filter(|&&accepted| accepted).count(), 8);
    let statement = file.read().unwrap();
    assert_eq!((statement.releases.len(), statement.lines()), (8, 9));
}
