//! Progress of an estimate: the spinner on the terminal, and the trace file.

use std::time::Duration;

use indicatif::ProgressBar;

use private_pgm::fit::Progress;

const TICK_INTERVAL: Duration = Duration::from_millis(120);

/// A spinner, hidden if the standard error output is not a terminal.
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    pub(crate) fn start() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TICK_INTERVAL);
        Self(bar)
    }

    pub(crate) fn show(&self, progress: &Progress<'_>) {
        if let Some(gap) = progress.gap.filter(|_| !self.0.is_hidden()) {
            self.0.set_message(format!("iteration {}, gap {gap:.3e}", progress.iteration));
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// One line of CSV per iteration. Numbers that were not computed are empty fields. Held in memory
/// until the end, so that an estimate that fails leaves no file.
pub(crate) struct Trace(String);

impl Trace {
    pub(crate) fn new() -> Self {
        Self("iteration,seconds,l1_loss,l2_loss,gap\n".into())
    }

    pub(crate) fn record(&mut self, progress: &Progress<'_>) {
        let Progress { iteration, seconds, l1_l2, gap, .. } = progress;
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
        trace.record(&Progress {
            iteration: 3,
            seconds: 0.5,
            l1_l2: Some((3.0, 2.0)),
            gap: None,
            marginals: &marginals,
        });
        assert_eq!(trace.0, "iteration,seconds,l1_loss,l2_loss,gap\n3,0.5,3,2,\n");
    }
}
