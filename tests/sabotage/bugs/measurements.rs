//! Bugs of mechanisms that measure what the workload asks for.

use dp::Neighbours::{AddRemove, Replace};

use super::Defence::{Calibration, Ledger, Sensitivity, Taint};
use super::{Bug, bug};

pub(super) const MEASUREMENTS: &[Bug] = &[
    bug(
        "marginals-with-all-of-the-budget-each",
        "every marginal has the whole budget",
        Ledger("privlet", Replace),
    ),
    bug(
        "gaussian-marginals-charged-as-one",
        "k marginals with the sensitivity of one",
        Sensitivity("gaussian", AddRemove),
    ),
    bug(
        "laplace-empty-cells-exact",
        "cells without records are published without noise",
        Taint("laplace", Replace),
    ),
    bug(
        "laplace-publishes-the-number-of-records",
        "the true number of records where it is private",
        Taint("laplace", AddRemove),
    ),
    bug(
        "strategy-l2-norm",
        "the L2 norm of columns for Laplace noise (code of HDMM and the matrix mechanisms)",
        Sensitivity("mm", AddRemove),
    ),
    bug(
        "hdmm-all-of-the-budget-each",
        "every strategy has the whole budget",
        Ledger("hdmm", AddRemove),
    ),
    bug(
        "tree-without-its-root",
        "one level of the tree is not counted",
        Sensitivity("tree", AddRemove),
    ),
    bug(
        "privlet-one-level",
        "one level of coefficients is counted",
        Sensitivity("privlet", Replace),
    ),
    bug(
        "residuals-as-added",
        "the sensitivity of an added record for a replaced one",
        Sensitivity("residual-planner", Replace),
    ),
    bug(
        "residuals-of-equal-counts-left-out",
        "residuals that are zero are not measured",
        Taint("residual-planner", Replace),
    ),
    bug(
        "residuals-with-all-of-the-budget-each",
        "every residual has the whole budget",
        Ledger("residual-planner-largest", Replace),
    ),
    bug(
        "independent-all-of-the-budget-each",
        "every attribute has the whole budget",
        Ledger("independent", AddRemove),
    ),
    bug(
        "marginals-nearer-to-the-truth",
        "noisy counts are moved half-way to the true ones",
        Calibration("independent", Replace),
    ),
    bug(
        "efpa-l2-norm",
        "the L2 norm of coefficients for Laplace noise",
        Sensitivity("efpa", Replace),
    ),
    bug(
        "efpa-score-as-added",
        "the score's sensitivity of an added record for a replaced one",
        Sensitivity("efpa", Replace),
    ),
    bug("efpa-score-squared", "the score is a squared norm", Sensitivity("efpa", AddRemove)),
    bug(
        "efpa-chooses-without-paying",
        "the number of coefficients is the best one",
        Taint("efpa", Replace),
    ),
    bug(
        "php-deviation-of-one",
        "a sensitivity of 1 for the deviation, which is nearly 2",
        Sensitivity("php", AddRemove),
    ),
    bug(
        "php-half-the-temperature",
        "scores are doubled and their sensitivity is not",
        Sensitivity("php", Replace),
    ),
    bug(
        "php-keeps-equal-counts",
        "a cluster of equal counts is kept without asking",
        Taint("php", AddRemove),
    ),
    bug("php-levels-unpaid", "the choices of clusters are not paid for", Ledger("php", AddRemove)),
];
