use crate::results::TrialRecord;

use super::Trial;

/// Told what is going on; from several threads.
pub trait Observer: Sync {
    /// A trial begins.
    fn begins(&self, _trial: &Trial, _name: &str) {}

    /// An arm of a trial is about to estimate.
    fn estimates(&self, _trial: &Trial, _arm: &str) {}

    /// An arm has made this many iterations.
    fn iterates(&self, _trial: &Trial, _iteration: usize) {}

    /// An arm has ended, and its row is stored.
    fn ended(&self, _record: &TrialRecord) {}

    /// A trial has ended.
    fn ends(&self, _trial: &Trial) {}
}

/// Tells nobody.
pub struct Silent;

impl Observer for Silent {}
