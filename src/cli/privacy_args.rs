//! Privacy parameters as arguments, refused before anything else happens.

use clap::Args;
use dp::{Delta, Epsilon, Rho};

use super::failure::Failure;

pub(crate) fn epsilon(text: &str) -> Result<Epsilon, String> {
    Epsilon::requested(number(text)?).map_err(|error| error.to_string())
}

pub(crate) fn delta(text: &str) -> Result<Delta, String> {
    Delta::new(number(text)?).map_err(|error| error.to_string())
}

pub(crate) fn rho(text: &str) -> Result<Rho, String> {
    Rho::new(number(text)?).map_err(|error| error.to_string())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number".to_string())
}

/// The largest epsilon of a release that needs no further word (our choice): at 20 an output may be
/// half a billion times likelier with a record than without it.
const LARGEST_EPSILON: f64 = 20.0;

/// A delta for a release that says nothing else about how small it has to be (our choice).
const SMALL_DELTA: f64 = 1e-9;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct WeakPrivacyArgs {
    /// Release with an epsilon above 20, or with a delta of 1/n or more for n records
    #[arg(long)]
    allow_weak_privacy: bool,
}

impl WeakPrivacyArgs {
    pub(crate) fn check_epsilon(self, epsilon: Epsilon) -> Result<(), Failure> {
        match epsilon.get() > LARGEST_EPSILON && !self.allow_weak_privacy {
            true => Err(Failure::input(format!(
                "--epsilon {epsilon}: above {LARGEST_EPSILON} a release protects hardly anything; \
                 choose a smaller one, or say --allow-weak-privacy"
            ))),
            false => Ok(()),
        }
    }

    /// A mechanism that publishes one of `records` records, chosen at random, keeps a delta of
    /// 1/n: at that size delta promises nothing to any single person.
    ///
    /// Where records are added or removed, their number is private. The message names it all the
    /// same: it goes to the terminal of whoever holds the data, and into no file.
    pub(crate) fn check_delta(self, delta: Delta, records: usize) -> Result<(), Failure> {
        let n = records as f64;
        if delta.get() < 1.0 / n || self.allow_weak_privacy {
            return Ok(());
        }
        let suitable = SMALL_DELTA.min(1.0 / (n * n));
        Err(Failure::input(format!(
            "--delta {delta}: not below 1/n for n = {records} records, so that a mechanism could \
             publish somebody's record and keep it; choose one such as {suitable:.0e}, or say \
             --allow-weak-privacy (this message is for the holder of the data alone)"
        )))
    }
}
