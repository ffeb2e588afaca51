//! Privacy parameters as arguments, checked before any other work.

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

/// The largest epsilon without --allow-weak-privacy (our choice): at 20 an output may be half a
/// billion times as likely with a record as without it.
const LARGEST_EPSILON: f64 = 20.0;

/// The largest delta that messages suggest (our choice).
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
                "--epsilon {epsilon}: above {LARGEST_EPSILON} a release gives hardly any \
                 protection; choose a smaller epsilon, or add --allow-weak-privacy"
            ))),
            false => Ok(()),
        }
    }

    /// A mechanism that publishes one of n records, chosen at random, satisfies a delta of 1/n:
    /// such a delta protects no single person.
    ///
    /// With --add-remove the number of records is private. The message contains it nevertheless: it
    /// is shown on the terminal of the data holder and written to no file.
    pub(crate) fn check_delta(self, delta: Delta, records: usize) -> Result<(), Failure> {
        let n = records as f64;
        if delta.get() < 1.0 / n || self.allow_weak_privacy {
            return Ok(());
        }
        let suitable = SMALL_DELTA.min(1.0 / (n * n));
        Err(Failure::input(format!(
            "--delta {delta}: not below 1/n for n = {records} records, so a mechanism could \
             publish a whole record within it; choose a smaller delta, such as {suitable:.0e}, or \
             add --allow-weak-privacy (this message is confidential, as the number of records may \
             be)"
        )))
    }
}
