use super::{Chart, Facts};
use crate::results::{TraceRecord, TrialRecord};

/// No picture: experiments such as the paper's Table 1 are read as numbers.
pub(super) fn chart(_: &[TrialRecord], _: &[TraceRecord], _: &Facts) -> Option<Chart> {
    None
}
