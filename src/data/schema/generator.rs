use serde::Deserialize;

use super::{Expected, SchemaError};
use private_pgm::domain::Domain;

/// How to generate a stand-in for a histogram that may not be distributed: with the same number of
/// bins, records and zeros, the same largest count, and a similar arrangement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Generator {
    pub(crate) shape: Shape,
    pub(crate) seed: u64,
    /// The largest count.
    pub(crate) maximum: usize,
    /// Bins without a record.
    pub(crate) zeros: usize,
}

/// The arrangement of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Bursts with a steep rise and an exponential decay, separated by zeros.
    Bursty,
    /// Random order.
    Sparse,
    /// Descending.
    Sorted,
}

impl Generator {
    /// Refuses settings that no histogram over this domain satisfies.
    pub(super) fn check(&self, domain: &Domain, expected: &Expected) -> Result<(), SchemaError> {
        let refuse = |what| Err(SchemaError::Generator(what));
        let [id] = domain.declared() else {
            return refuse("a histogram has one attribute");
        };
        let Some(total) = expected.records else {
            return refuse("expected.records is needed, the number of records");
        };
        let bins = domain.size(*id);
        if self.zeros >= bins {
            return refuse("zeros must be less than the number of bins");
        }
        let filled = bins - self.zeros;
        if total < filled - 1 + self.maximum || total > filled.saturating_mul(self.maximum) {
            return refuse("expected.records does not fit maximum and zeros");
        }
        Ok(())
    }
}
