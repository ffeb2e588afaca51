//! What is shown and what is kept while an estimate is on its way.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use pgmbench::storage::NewFile;

use super::engine::Progress;

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

    pub(crate) fn show(&self, progress: &Progress) {
        if !self.0.is_hidden() {
            let Progress { iteration, loss, gap, .. } = progress;
            let gap = gap.map_or(String::new(), |gap| format!(", gap {gap:.3e}"));
            self.0.set_message(format!("iteration {iteration}, loss {loss:.6e}{gap}"));
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

    pub(crate) fn record(&mut self, progress: &Progress) {
        let Progress { iteration, seconds, l1_loss, l2_loss, gap, .. } = progress;
        let number = |number: &Option<f64>| number.map_or(String::new(), |x| x.to_string());
        let (l1, l2, gap) = (number(l1_loss), number(l2_loss), number(gap));
        self.0.push_str(&format!("{iteration},{seconds},{l1},{l2},{gap}\n"));
    }

    /// Everything but the last step: the file appears when it is committed.
    pub(crate) fn stage(&self, path: &Path) -> io::Result<NewFile> {
        let mut file = NewFile::create(path)?;
        file.write_all(self.0.as_bytes())?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_were_not_computed_are_empty_fields() {
        let mut trace = Trace::new();
        trace.record(&Progress {
            iteration: 3,
            seconds: 0.5,
            loss: 2.0,
            l1_loss: None,
            l2_loss: Some(2.0),
            gap: None,
        });
        assert_eq!(trace.0, "iteration,seconds,l1_loss,l2_loss,gap\n3,0.5,,2,\n");
    }
}
