//! The set-ups: every mechanism, with the sizes that make its tests strong.

use dp::Neighbours;
use pgmbench::mechanism::MECHANISMS;

use crate::setup::{CELLS, Setup, Shape};

/// A mechanism, its parameters, the shape of its data, and the claim and number of releases of its
/// calibration (0: none). Epsilon is such that choices are neither certain nor uniform.
pub(crate) struct Plan {
    /// The mechanism's, and of a second set-up of the same mechanism a longer one.
    pub(crate) title: &'static str,
    parameters: &'static str,
    shape: Shape,
    epsilon: f64,
    pub(crate) trials: usize,
}

const fn plan(
    title: &'static str,
    parameters: &'static str,
    shape: Shape,
    epsilon: f64,
    trials: usize,
) -> Plan {
    Plan { title, parameters, shape, epsilon, trials }
}

use Shape::{Pair, Triangle};

/// The numbers of releases and the larger epsilons were chosen after a look at the information that
/// the calibration of each mechanism has, which it refuses if it is too little.
pub(crate) const PLANS: &[Plan] = &[
    plan("laplace", "", Pair, 1.0, 3000),
    plan("gaussian", "", Pair, 1.0, 3000),
    plan("independent", "", Pair, 1.0, 5000),
    plan("tree", "", Pair, 1.0, 3000),
    plan("privlet", "", Pair, 1.0, 3000),
    plan("hdmm", "restarts = 1", Pair, 1.0, 3000),
    plan("mm", "", Pair, 1.0, 3000),
    plan("lrm", "", Pair, 1.0, 3000),
    plan("residual-planner", "", Pair, 1.0, 3000),
    plan("residual-planner-largest", "objective = \"largest\"", Triangle, 1.0, 3000),
    plan("efpa", "", Pair, 2.0, 25_000),
    plan("php", "depth = 2", Pair, 30.0, 32_000),
    plan("mwem", "rounds = 2", Pair, 12.0, 20_000),
    plan("mwem-pgm", "rounds = 2", Triangle, 40.0, 32_000),
    plan("pmw", "alpha = 0.9", Triangle, 40.0, 33_000),
    plan("pmw-delta", "alpha = 0.9", Triangle, 40.0, 33_000),
    // With a smaller alpha, true answers can decide when it stops.
    plan("pmw-stopping", "alpha = 0.35", Triangle, 40.0, 0),
    plan("aim", "rounds_per_attribute = 2", Triangle, 40.0, 17_000),
    // With more noise than above, some rounds reduce it and others do not.
    plan("aim-annealing", "rounds_per_attribute = 2", Triangle, 3.0, 0),
    plan("mst", "threshold = 0.0", Triangle, 12.0, 48_000),
    // Merged counts are published in place of those that were drawn.
    plan("mst-merging", "", Pair, 3.0, 0),
    // With the default theta no table of so few records is useful.
    plan("privbayes", "theta = 0.01", Triangle, 14.0, 85_000),
    plan("privbayes-information", INFORMATION, Triangle, 80.0, 100_000),
    plan("dualquery", "eta = 1.0\nsamples = 5", Triangle, 40.0, 2000),
];

const INFORMATION: &str = "theta = 0.01\nscore = \"mutual-information\"";

/// The records of a calibration.
pub(crate) const COUNTS: [u64; CELLS] = [9, 3, 4, 6, 2, 8, 5, 3];

pub(crate) fn find(title: &str) -> &'static Plan {
    PLANS.iter().find(|plan| plan.title == title).expect("a set-up of this title")
}

impl Plan {
    fn mechanism(&self) -> &'static str {
        let titles = MECHANISMS.iter().filter(|spec| self.title.starts_with(spec.name));
        // The longest: "mwem" is the beginning of "mwem-pgm".
        titles.map(|spec| spec.name).max_by_key(|name| name.len()).expect("a mechanism")
    }

    pub(crate) fn relations(&self) -> &'static [Neighbours] {
        match self.mechanism() {
            // They need the number of records.
            "privbayes" | "dualquery" => &[Neighbours::Replace],
            _ => &[Neighbours::Replace, Neighbours::AddRemove],
        }
    }

    pub(crate) fn setup(&self, neighbours: Neighbours) -> Setup {
        Setup::new(self.mechanism(), self.parameters, self.shape, self.epsilon, neighbours)
    }
}
