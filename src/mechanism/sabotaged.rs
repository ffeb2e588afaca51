//! What several planted bugs share. The bugs themselves are where the right code is.

use dp::{Budget, Guarantee, Neighbours, Share};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::model::Projectable;

use crate::data::Dataset;

/// A share that no budget has granted. Its draws are in a ledger that is thrown away.
pub(super) fn unpaid(guarantee: Guarantee, neighbours: Neighbours) -> Share {
    Budget::new(guarantee, neighbours).rest().expect("nothing is spent yet")
}

/// The same guarantee once more, without paying.
pub(super) fn again(share: Share) -> Share {
    unpaid(share.guarantee(), share.neighbours())
}

/// As many unpaid shares, each of the whole guarantee.
pub(super) fn all_unpaid(shares: &[Share], guarantee: Guarantee) -> Vec<Share> {
    shares.iter().map(|share| unpaid(guarantee, share.neighbours())).collect()
}

/// The place of the largest number.
pub(super) fn largest(scores: &[f64]) -> usize {
    (0..scores.len()).max_by(|&i, &j| scores[i].total_cmp(&scores[j])).unwrap_or(0)
}

/// The attribute with the largest count of a value.
pub(super) fn commonest(data: &Dataset) -> AttributeId {
    let most = |&id: &AttributeId| {
        let counts = data.project(&Clique::new([id])).map(|counts| counts.into_values());
        counts.unwrap_or_default().into_iter().fold(0.0, f64::max) as usize
    };
    let domain: &Domain = data.domain();
    domain.ids().max_by_key(most).expect("an attribute")
}
