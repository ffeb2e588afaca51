//! Questions by the names of attributes, for callers that have a model and no junction tree.

use std::sync::Arc;

use ndarray::ArrayD;
use rand::Rng;

use super::{Calibrated, InferenceError, Model, Sampling};
use crate::domain::{AttributeId, Clique};
use crate::query::QueryFactor;

/// The first question calibrates the model ([`Model::calibrated`]), and later ones use what it
/// computed. Tables are arrays with an axis for each attribute, in the order in which they were
/// asked for.
impl Model {
    /// The model with the messages of its junction tree, computed at the first call and kept.
    pub fn calibrated(&self) -> Result<&Calibrated, InferenceError> {
        if let Some(calibrated) = self.calibrated.get() {
            return Ok(calibrated);
        }
        // Two threads may both compute it; the first to finish is kept, and both are the same.
        let calibrated = Arc::new(self.calibrate()?);
        Ok(self.calibrated.get_or_init(|| calibrated))
    }

    /// The marginal on these attributes, in counts that sum to the total.
    pub fn marginal<N: AsRef<str>>(&self, attributes: &[N]) -> Result<ArrayD<f64>, InferenceError> {
        let listed = self.listed(attributes)?;
        let clique = Clique::new(listed.iter().copied());
        Ok(self.calibrated()?.marginal(&clique)?.to_array(&listed))
    }

    /// The distribution of these attributes among the records with the given values, in
    /// probabilities that sum to 1.
    pub fn conditional<N: AsRef<str>>(
        &self,
        attributes: &[N],
        given: &[(N, usize)],
    ) -> Result<ArrayD<f64>, InferenceError> {
        let listed = self.listed(attributes)?;
        let evidence = given.iter().map(|(name, value)| Ok((self.id(name.as_ref())?, *value)));
        let evidence = evidence.collect::<Result<Vec<_>, InferenceError>>()?;
        let targets = Clique::new(listed.iter().copied());
        Ok(self.calibrated()?.conditional(&targets, &evidence)?.to_array(&listed))
    }

    /// The answers to a Kronecker product of queries, row-major in the attributes as listed,
    /// without writing down their marginal.
    pub fn answer<N: AsRef<str>>(
        &self,
        queries: &[(N, QueryFactor)],
    ) -> Result<Vec<f64>, InferenceError> {
        let factors =
            queries.iter().map(|(name, query)| Ok((self.id(name.as_ref())?, query.clone())));
        let factors = factors.collect::<Result<Vec<_>, InferenceError>>()?;
        self.calibrated()?.answer(&factors)
    }

    /// Synthetic records, each drawn on its own: a column of values for each attribute, in declared
    /// order.
    ///
    /// [`Calibrated::synthesize`] draws them so that counts stay near their expectations.
    pub fn sample<R: Rng + ?Sized>(
        &self,
        records: usize,
        rng: &mut R,
    ) -> Result<Vec<Vec<u32>>, InferenceError> {
        self.calibrated()?.synthesize(records, Sampling::Independent, rng)
    }

    fn listed<N: AsRef<str>>(&self, names: &[N]) -> Result<Vec<AttributeId>, InferenceError> {
        let mut listed = Vec::with_capacity(names.len());
        for name in names {
            let id = self.id(name.as_ref())?;
            if listed.contains(&id) {
                return Err(InferenceError::RepeatedAttribute(id));
            }
            listed.push(id);
        }
        Ok(listed)
    }

    fn id(&self, name: &str) -> Result<AttributeId, InferenceError> {
        let unknown = || InferenceError::NoSuchName { name: name.into() };
        self.domain().id(name).ok_or_else(unknown)
    }
}
