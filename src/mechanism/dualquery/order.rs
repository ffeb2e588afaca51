use super::payoff::Payoff;
use private_pgm::domain::{AttributeId, Clique};

/// Tables that are added to a payoff, so that the first of the best records is the only best one.
///
/// The rank of a record in the order of values is a sum over its attributes. Class c of the k-th
/// attribute contributes -c 2^-(b_1 + ... + b_k), where b_k bits encode its classes. The sum of all
/// contributions is less than 1 in absolute value, and payoffs are integers, so it decides among
/// records of equal payoff only. Sums are exact within 53 bits. Therefore attributes are ranked in
/// groups. Attributes of earlier groups are held at their classes by a penalty larger than any
/// payoff.
pub(super) struct Order<'a> {
    payoff: &'a Payoff,
    attributes: &'a [AttributeId],
    /// The classes of the first attributes.
    held: Vec<usize>,
    /// The number of attributes after these that are ranked.
    ranked: usize,
    /// More than the difference of any two payoffs.
    penalty: f64,
}

impl<'a> Order<'a> {
    pub(super) fn new(payoff: &'a Payoff) -> Self {
        let largest = |table: &Vec<f64>| table.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let most: f64 = payoff.tables.iter().map(|(_, table)| largest(table)).sum();
        let attributes = payoff.domain.declared();
        let mut order =
            Self { payoff, attributes, held: Vec::new(), ranked: 0, penalty: 2.0 * most + 2.0 };
        order.rank();
        order
    }

    /// Holds the ranked attributes at the classes of a best record and ranks the next ones. Returns
    /// whether there are any.
    pub(super) fn hold(&mut self, chosen: &[usize]) -> bool {
        let ranked = &self.attributes[self.held.len()..][..self.ranked];
        self.held.extend(ranked.iter().map(|id| chosen[id.index()]));
        self.rank();
        self.ranked > 0
    }

    /// Ranks as many of the next attributes as fit, at least one. Payoffs and penalties take the
    /// bits before the binary point, the rank those after it.
    fn rank(&mut self) {
        let left = &self.attributes[self.held.len()..];
        let mut bits = (self.penalty * (self.attributes.len() + 1) as f64).log2().ceil() as u32;
        let fits = |id: &&AttributeId| {
            bits += self.payoff.domain.size(**id).next_power_of_two().ilog2();
            bits < f64::MANTISSA_DIGITS
        };
        self.ranked = left.iter().take_while(fits).count().max(1).min(left.len());
    }

    /// A table per attribute that is held or ranked.
    pub(super) fn preferences(&self) -> Vec<(Clique, Vec<f64>)> {
        let (held, left) = self.attributes.split_at(self.held.len());
        let table = |id: AttributeId, of: &dyn Fn(usize) -> f64| {
            (Clique::new([id]), (0..self.payoff.domain.size(id)).map(of).collect())
        };
        let held = held.iter().zip(&self.held).map(|(&id, &here)| {
            table(id, &|class| if class == here { 0.0 } else { -self.penalty })
        });
        let mut unit = 1.0;
        let ranked = left[..self.ranked].iter().map(|&id| {
            unit /= self.payoff.domain.size(id).next_power_of_two() as f64;
            table(id, &|class| -(class as f64) * unit)
        });
        held.chain(ranked).collect()
    }
}
