//! Do the defences find privacy bugs? They pass the program as it is, and each bug of a list that
//! is planted in it is found by its defence.

mod audited;
mod bugs;
mod calibration;
mod code;
mod conversions;
mod distribution;
mod ledger;
mod published;
mod released;
mod rough;
mod search;
mod setup;
mod setups;
mod statistics;
mod table;
mod taint;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use dp::planted::{id, plant};
use pgmbench::mechanism::MECHANISMS;
use setup::Setup;
use setups::{COUNTS, PLANS};

/// What a defence says when a mechanism releases nothing. That is no finding.
pub(crate) const REFUSED: &str = "refused: ";

/// Applies a defence to every mechanism without a bug.
fn every_setup_passes(defence: fn(&Setup) -> Result<(), String>) {
    let _sound = plant(None);
    for plan in PLANS {
        for &neighbours in plan.relations() {
            let setup = plan.setup(neighbours);
            if let Err(found) = defence(&setup) {
                panic!("{}: {found}", setup.title());
            }
        }
    }
}

#[test]
fn draws_have_the_distribution_that_the_ledger_states() {
    let _sound = plant(None);
    for plan in PLANS.iter().filter(|plan| plan.trials > 0) {
        let setup = plan.setup(plan.relations()[0]);
        if let Err(found) = calibration::calibrate(&setup, &COUNTS, plan.trials) {
            panic!("{}: {found}", setup.title());
        }
    }
}

#[test]
fn ledgers_list_every_draw_and_keep_the_claim() {
    every_setup_passes(|setup| ledger::verify(setup, &COUNTS));
}

#[test]
fn draws_change_by_at_most_their_sensitivities() {
    every_setup_passes(|setup| {
        let ratios = search::sensitivities(setup)?;
        // A search that comes near no sensitivity would find no mistake in it.
        match ratios.noise.max(ratios.choices) > 0.5 {
            true => Ok(()),
            false => Err(format!("the search is weak: {ratios:?}")),
        }
    });
}

#[test]
fn releases_depend_on_the_data_only_through_their_draws() {
    every_setup_passes(taint::taint);
}

#[test]
fn theorems_budgets_and_released_records_pass() {
    let _sound = plant(None);
    for bug in bugs::all() {
        if let bugs::Defence::Unit(what, check) = bug.defence {
            assert_eq!(check(), Ok(()), "{what}");
        }
    }
    assert_eq!(audited::audit("laplace"), Ok(()));
}

#[test]
fn every_planted_bug_is_found_by_its_defence() {
    let mut missed = Vec::new();
    for bug in bugs::all() {
        let planted = plant(Some(bug.name));
        let found = bug.defence.run();
        assert!(planted.is_reached(), "{}: its code was not executed", bug.name);
        match found {
            Err(what) if !what.starts_with(REFUSED) => {}
            result => missed.push(format!("{}, {}: {result:?}", bug.name, bug.defence.title())),
        }
    }
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
}

#[test]
fn the_list_names_the_bugs_in_the_code() {
    let mut listed: Vec<&str> = bugs::all().map(|bug| bug.name).collect();
    let ids: BTreeSet<u64> = listed.iter().map(|name| id(name)).collect();
    assert_eq!(ids.len(), listed.len(), "two bugs of one name, or of one hash");
    listed.sort_unstable();
    assert_eq!(code::names(), listed);
}

#[test]
fn every_mechanism_has_a_setup() {
    let tested: BTreeSet<&str> =
        PLANS.iter().map(|plan| plan.setup(plan.relations()[0]).spec.name).collect();
    assert_eq!(tested, MECHANISMS.iter().map(|spec| spec.name).collect());
}

/// With the variable `PGMBENCH_WRITE_TABLE` the file is written.
#[test]
fn the_table_in_the_documentation_is_the_list() {
    let text = table::text();
    if std::env::var_os("PGMBENCH_WRITE_TABLE").is_some() {
        fs::write(table::FILE, &text).unwrap();
    }
    let written = fs::read_to_string(table::FILE).unwrap_or_default();
    assert!(written == text, "docs/sabotage.md: set PGMBENCH_WRITE_TABLE and test again");
}

#[test]
fn the_program_with_planted_bugs_refuses_to_run() {
    let program = Command::new(env!("CARGO_BIN_EXE_pgmbench"));
    let ended = { program }.arg("--version").output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.stdout.is_empty() && said.contains("planted privacy bugs"), "{said}");
}
