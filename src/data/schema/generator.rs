use serde::Deserialize;

use super::{Expected, SchemaError};
use private_pgm::domain::Domain;

/// How to make up a histogram that stands in for one that may not be passed on: with as many bins,
/// records and zeros and the same largest count, placed in the same manner.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// How the counts are placed.
    pub shape: Shape,
    /// Another seed makes another histogram.
    pub seed: u64,
    /// The largest count.
    pub maximum: usize,
    /// The number of bins without a record.
    pub zeros: usize,
}

/// How the counts of a made-up histogram are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Bursts that rise at once and fade, and silence between them.
    Bursty,
    /// Anywhere.
    Sparse,
    /// From the largest to the smallest.
    Sorted,
}

impl Generator {
    /// Whether there are such histograms over this domain.
    pub(super) fn check(&self, domain: &Domain, expected: &Expected) -> Result<(), SchemaError> {
        let refuse = |what| Err(SchemaError::Generator(what));
        let [id] = domain.declared() else {
            return refuse("a histogram has one attribute");
        };
        let Some(total) = expected.records else {
            return refuse("the number of records has to be there as expected.records");
        };
        let bins = domain.size(*id);
        if self.zeros >= bins {
            return refuse("zeros must be fewer than there are bins");
        }
        let filled = bins - self.zeros;
        if total < filled - 1 + self.maximum || total > filled.saturating_mul(self.maximum) {
            return refuse("expected.records does not fit maximum and zeros");
        }
        Ok(())
    }
}
