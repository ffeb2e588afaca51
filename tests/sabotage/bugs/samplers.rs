//! Bugs of samplers and sources of randomness.

use dp::Neighbours::{AddRemove, Replace};

use super::Defence::{Calibration, Unit};
use super::{Bug, bug};
use crate::conversions;

pub(super) const SAMPLERS: &[Bug] = &[
    bug("laplace-by-root-2", "Laplace noise of b / sqrt(2)", Calibration("laplace", Replace)),
    bug("laplace-by-5-percent", "Laplace noise of b / 1.05", Calibration("tree", AddRemove)),
    bug("laplace-one-sided", "Laplace noise that is never negative", Calibration("mm", Replace)),
    bug("laplace-truncated", "Laplace noise of at most 4 b", Calibration("privlet", Replace)),
    bug(
        "gaussian-by-root-2",
        "Gaussian noise of sigma / sqrt(2)",
        Calibration("gaussian", Replace),
    ),
    bug(
        "gaussian-by-5-percent",
        "Gaussian noise of sigma / 1.05",
        Calibration("residual-planner", Replace),
    ),
    bug(
        "gaussian-truncated",
        "Gaussian noise of at most 3 sigma",
        Calibration("independent", AddRemove),
    ),
    bug(
        "noise-of-another-family",
        "Gaussian noise in place of Laplace noise, and the reverse",
        Calibration("lrm", AddRemove),
    ),
    bug(
        "noise-shared-by-answers",
        "the same noise for all answers of a draw",
        Calibration("laplace", AddRemove),
    ),
    bug("noise-twice", "the same noise for two answers", Calibration("hdmm", Replace)),
    bug(
        "generator-restarts",
        "every draw starts from the same state of the generator",
        Calibration("tree", Replace),
    ),
    bug(
        "seed-ignores-the-path",
        "every trial has the same seed",
        Calibration("gaussian", AddRemove),
    ),
    bug(
        "operating-system-not-asked",
        "a release has a fixed seed",
        Unit("the operating system's randomness", conversions::operating_system),
    ),
    bug(
        "selection-at-half-the-temperature",
        "choices at half the stated temperature",
        Calibration("efpa", Replace),
    ),
    bug(
        "selection-by-5-percent",
        "choices at 1/1.05 of the stated temperature",
        Calibration("privbayes", Replace),
    ),
    bug(
        "selection-of-the-best",
        "the best candidate is always chosen",
        Calibration("mwem", Replace),
    ),
    bug(
        "selection-in-turn",
        "candidates are accepted in turn, without a uniform proposal",
        Calibration("php", AddRemove),
    ),
    bug(
        "selections-alike",
        "several choices of one draw are the same",
        Calibration("dualquery", Replace),
    ),
    bug(
        "grid-does-not-count",
        "the sensitivity is not enlarged for the rounding to a grid",
        Unit("grids", conversions::grid),
    ),
];
