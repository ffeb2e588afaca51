use crate::results::TrialRecord;

use super::Trial;

/// Receives the events of a run, from several threads.
pub trait Observer: Sync {
    /// Before a trial; `name` describes it.
    fn begins(&self, _trial: &Trial, _name: &str) {}

    /// Before an arm estimates.
    fn estimates(&self, _trial: &Trial, _arm: &str) {}

    /// After an iteration of an arm.
    fn iterates(&self, _trial: &Trial, _iteration: usize) {}

    /// After the row of an arm is stored.
    fn ended(&self, _record: &TrialRecord) {}

    /// After a trial.
    fn ends(&self, _trial: &Trial) {}
}

/// Ignores all events.
pub struct Silent;

impl Observer for Silent {}
