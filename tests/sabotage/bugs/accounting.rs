//! Bugs of budgets, ledgers and theorems.

use dp::Neighbours::{AddRemove, Replace};

use super::Defence::{Audit, Ledger, Sensitivity};
use super::{BUDGETS, Bug, COMPOSITION, CONVERSIONS, bug};

pub(super) const ACCOUNTING: &[Bug] = &[
    bug(
        "laplace-for-twice-the-epsilon",
        "Laplace noise of D / (2 epsilon)",
        Ledger("laplace", Replace),
    ),
    bug(
        "gaussian-for-twice-the-rho",
        "Gaussian noise of D / sqrt(4 rho)",
        Ledger("gaussian", Replace),
    ),
    bug(
        "selection-for-twice-the-epsilon",
        "choices with exp(epsilon score / D)",
        Ledger("mwem", Replace),
    ),
    bug(
        "selection-costs-a-sixteenth",
        "a choice costs epsilon^2 / 16 of rho",
        Ledger("aim", AddRemove),
    ),
    bug("noise-not-in-the-ledger", "draws of noise are not recorded", Ledger("mwem", Replace)),
    bug("selections-not-in-the-ledger", "choices are not recorded", Ledger("mst", AddRemove)),
    bug("budget-charges-half", "a budget deducts half of what it grants", BUDGETS),
    bug(
        "split-into-one-too-few",
        "n parts of a share are each 1/(n - 1) of it",
        Ledger("independent", Replace),
    ),
    bug(
        "parallel-parts-get-all",
        "parts of the records get the whole share although a record may move",
        Ledger("php", Replace),
    ),
    bug(
        "parallel-replacement-free",
        "a division costs its largest part although a record may move",
        BUDGETS,
    ),
    bug(
        "rho-without-factor-2",
        "rho + sqrt(rho ln(1/delta)) for rho + 2 sqrt(rho ln(1/delta))",
        CONVERSIONS,
    ),
    bug("rho-with-root-delta", "sqrt(delta) for delta in the conversion of rho", CONVERSIONS),
    bug(
        "rho-with-one-term-twice",
        "a term of the conversion of rho is subtracted twice",
        CONVERSIONS,
    ),
    bug(
        "pure-costs-an-eighth",
        "a pure draw costs epsilon^2 / 8 of rho, as a choice does",
        CONVERSIONS,
    ),
    bug(
        "advanced-without-second-term",
        "advanced composition without k epsilon (e^epsilon - 1)",
        COMPOSITION,
    ),
    bug(
        "advanced-without-means",
        "the same for parts of different epsilon",
        Ledger("dualquery", Replace),
    ),
    bug(
        "advanced-with-half-the-squares",
        "advanced composition with ln(1/delta) for 2 ln(1/delta)",
        COMPOSITION,
    ),
    bug("composed-sum-halved", "few draws cost half of their sum", Ledger("dualquery", Replace)),
    bug(
        "replacement-as-addition-in-l1",
        "L1 norms as if a record were added, not replaced",
        Audit("laplace"),
    ),
    bug(
        "replacement-as-addition-in-l2",
        "L2 norms as if a record were added, not replaced",
        Sensitivity("gaussian", Replace),
    ),
];
