use private_pgm::fit::{Pgm, Settings};

/// Iterations of the estimate after the last measurement: the default of experiments.
pub(crate) const FINAL_ITERATIONS: usize = 1000;

/// The own estimator of mechanisms whose paper fits a graphical model.
pub(crate) fn final_pgm() -> Pgm {
    Pgm::new(Settings { iterations: Some(FINAL_ITERATIONS), ..Settings::default() })
}
