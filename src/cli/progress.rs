//! What is shown and what is kept while an estimate is on its way.

use std::time::Duration;

use indicatif::ProgressBar;

use private_pgm::fit::Update;

/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(120);

/// A spinner on a terminal; where the standard error output is none, nothing.
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    pub(crate) fn start() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TURN);
        Self(bar)
    }

    pub(crate) fn show(&self, update: &Update<'_>) {
        if let Some(gap) = update.gap.filter(|_| !self.0.is_hidden()) {
            self.0.set_message(format!("iteration {}, gap {gap:.3e}", update.iteration));
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The course of an estimate as CSV: `iteration,seconds,l1_loss,l2_loss,gap`, a field left empty
/// where a number was not computed. Kept in memory until the end, so that an estimate that fails
/// leaves no file.
pub(crate) struct Trace(String);

impl Trace {
    pub(crate) fn new() -> Self {
        Self("iteration,seconds,l1_loss,l2_loss,gap\n".into())
    }

    pub(crate) fn record(&mut self, update: &Update<'_>) {
        let Update { iteration, seconds, l1_l2, gap, .. } = update;
        let number = |number: Option<f64>| number.map_or(String::new(), |x| x.to_string());
        let (l1, l2) = (number(l1_l2.map(|both| both.0)), number(l1_l2.map(|both| both.1)));
        let gap = number(*gap);
        self.0.push_str(&format!("{iteration},{seconds},{l1},{l2},{gap}\n"));
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_pgm::factor::{CliqueLayout, Marginals};

    #[test]
    fn numbers_that_were_not_computed_are_empty_fields() {
        let mut trace = Trace::new();
        let domain = private_pgm::domain::Domain::new([("a", 2)]).unwrap();
        let marginals = Marginals::zeros(&CliqueLayout::new(domain, vec![]));
        trace.record(&Update {
            iteration: 3,
            seconds: 0.5,
            l1_l2: Some((3.0, 2.0)),
            gap: None,
            marginals: &marginals,
        });
        assert_eq!(trace.0, "iteration,seconds,l1_loss,l2_loss,gap\n3,0.5,3,2,\n");
    }
}
