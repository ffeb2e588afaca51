//! The planted bugs, and the defence that has to find each.

mod accounting;
mod choices;
mod measurements;
mod samplers;

use dp::Neighbours::{self, AddRemove, Replace};

use crate::setups::{COUNTS, find};
use crate::{audited, calibration, conversions, ledger, released, search, taint};

/// A bug that is compiled in with the feature `sabotage`, at `sabotage!(.., name, ..)`.
pub(crate) struct Bug {
    pub(crate) name: &'static str,
    /// What is wrong with it planted.
    pub(crate) what: &'static str,
    pub(crate) defence: Defence,
}

/// A defence, with the set-up in which it has to find the bug.
#[derive(Clone, Copy)]
pub(crate) enum Defence {
    Calibration(&'static str, Neighbours),
    Ledger(&'static str, Neighbours),
    Sensitivity(&'static str, Neighbours),
    Taint(&'static str, Neighbours),
    Audit(&'static str),
    Unit(&'static str, fn() -> Result<(), String>),
}

use Defence::{Audit, Calibration, Ledger, Sensitivity, Taint, Unit};

impl Defence {
    /// In the table.
    pub(crate) fn title(self) -> String {
        let of = |defence: &str, name: &str, relation| match relation {
            Replace => format!("{defence}, `{name}`, replaced record"),
            AddRemove => format!("{defence}, `{name}`, added record"),
        };
        match self {
            Calibration(name, relation) => of("calibration", name, relation),
            Ledger(name, relation) => of("ledger", name, relation),
            Sensitivity(name, relation) => of("sensitivity search", name, relation),
            Taint(name, relation) => of("taint", name, relation),
            Audit(name) => format!("audit, `{name}`"),
            Unit(what, _) => format!("unit check of {what}"),
        }
    }

    /// An error says what was found.
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Calibration(name, relation) => {
                let plan = find(name);
                calibration::calibrate(&plan.setup(relation), &COUNTS, plan.trials)
            }
            Ledger(name, relation) => ledger::verify(&find(name).setup(relation), &COUNTS),
            Sensitivity(name, relation) => {
                search::sensitivities(&find(name).setup(relation)).map(drop)
            }
            Taint(name, relation) => taint::taint(&find(name).setup(relation)),
            Audit(name) => audited::audit(name),
            Unit(_, check) => check(),
        }
    }
}

const fn bug(name: &'static str, what: &'static str, defence: Defence) -> Bug {
    Bug { name, what, defence }
}

const CONVERSIONS: Defence = Unit("conversions", conversions::conversions);
const COMPOSITION: Defence = Unit("advanced composition", conversions::composition);
const RELEASE: Defence = Unit("released records", released::bytes);
const BUDGETS: Defence = Unit("budgets", conversions::budgets);

/// All of them, by what they are bugs of.
pub(crate) const GROUPS: &[(&str, &[Bug])] = &[
    ("Samplers and sources of randomness", samplers::SAMPLERS),
    ("Budgets, ledgers and theorems", accounting::ACCOUNTING),
    ("Mechanisms that measure what the workload asks for", measurements::MEASUREMENTS),
    ("Mechanisms that choose what they measure", choices::CHOICES),
];

pub(crate) fn all() -> impl Iterator<Item = &'static Bug> {
    GROUPS.iter().flat_map(|(_, bugs)| bugs.iter())
}
