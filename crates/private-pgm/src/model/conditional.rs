use super::InferenceError;
use super::calibration::Calibrated;
use super::marginals::DisjointProduct;
use super::plan::{Planner, check_cells};
use super::region::Input;
use super::scaled_table::ScaledTable;
use crate::domain::{AttributeId, Clique};
use crate::factor::Factor;

impl Calibrated {
    /// p(targets | evidence), in probabilities that sum to 1.
    ///
    /// Exact for evidence of any positive probability, also below the range of `f64`. Evidence of
    /// probability zero is [`InferenceError::ImpossibleEvidence`]. Cost: one contraction in log
    /// space and one in linear space over the smallest subtrees that contain all named attributes.
    pub fn conditional(
        &self,
        targets: &Clique,
        evidence: &[(AttributeId, usize)],
    ) -> Result<Factor, InferenceError> {
        self.check_attributes(targets.iter())?;
        self.check_attributes(evidence.iter().map(|&(id, _)| id))?;
        check_cells(self.domain(), targets, self.limit)?;
        for &(id, value) in evidence {
            let size = self.domain().size(id);
            if value >= size {
                return Err(InferenceError::NoSuchValue { id, size, value });
            }
        }
        let given = Clique::new(evidence.iter().map(|&(id, _)| id));
        let mut planner = Planner::new(self.domain(), self.limit);
        let mut product = DisjointProduct::new(self.domain(), 1.0);
        for mut region in self.regions(&targets.union(&given)) {
            let here = region.attributes();
            for &(id, value) in evidence.iter().filter(|(id, _)| here.contains(*id)) {
                let mut indicator = vec![0.0; self.domain().size(id)];
                indicator[value] = 1.0;
                let table = ScaledTable::from_numbers(Clique::new([id]), &indicator);
                let (table, _) = table.expect("one value is possible");
                region.add(self.domain(), id, Input::from(table));
            }
            let log_sum = region.log_sum(&mut planner)?;
            if log_sum == f64::NEG_INFINITY {
                return Err(InferenceError::ImpossibleEvidence);
            }
            let wanted = here.intersection(targets);
            let mut values = region.contract(&mut planner, &wanted, log_sum)?.values;
            let sum: f64 = values.iter().sum();
            values.iter_mut().for_each(|cell| *cell /= sum);
            product.multiply(wanted, values);
        }
        Ok(product.into_factor())
    }
}
