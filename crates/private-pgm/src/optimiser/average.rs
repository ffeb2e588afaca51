use crate::factor::Marginals;
use crate::numeric::pointwise::blend;

/// mu, the average of the marginals nu since the averaging began, weighted with the lengths of the
/// steps that led to them.
///
/// The newest nu is not added in before the average is needed: the pass over memory that takes the
/// next step does it on the way.
pub(super) struct Average {
    /// mu = pending[0] * mean + pending[1] * the newest nu.
    mean: Marginals,
    pending: [f64; 2],
    weight: f64,
}

impl Average {
    /// Begins at `nu`.
    pub(super) fn new(nu: &Marginals) -> Self {
        Self { mean: nu.clone(), pending: [1.0, 0.0], weight: 0.0 }
    }

    /// Restarts at the newest nu.
    pub(super) fn restart(&mut self) {
        self.pending = [0.0, 1.0];
        self.weight = 0.0;
    }

    /// A, the sum of all lengths.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// Adds a nu with the length of the step that led to it. What was added before must have been
    /// settled, or have been part of a step.
    pub(super) fn add(&mut self, length: f64) {
        let sum = self.weight + length;
        self.pending = [self.weight / sum, length / sum];
        self.weight = sum;
    }

    /// mu, given the newest nu.
    pub(super) fn settle(&mut self, nu: &Marginals, parallel: bool) -> &Marginals {
        let [old, new] = self.take_pending();
        if new != 0.0 {
            blend(old, self.mean.values_mut(), new, nu.values(), parallel);
        }
        &self.mean
    }

    /// The weights of the mean and the newest nu in mu, for a caller who then makes the mean mu.
    pub(super) fn take_pending(&mut self) -> [f64; 2] {
        std::mem::replace(&mut self.pending, [1.0, 0.0])
    }

    /// mu, when nothing is pending.
    pub(super) fn settled(&self) -> &Marginals {
        debug_assert_eq!(self.pending, [1.0, 0.0]);
        &self.mean
    }

    /// The cells that are to become mu.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        self.mean.values_mut()
    }
}
