use std::sync::Arc;

use super::Dataset;
use private_pgm::domain::{Clique, Domain};
use private_pgm::factor::Factor;
use private_pgm::model::{MarginalError, Projectable};

/// Records that each count `times` times.
pub(crate) struct Repeated {
    pub(crate) records: Arc<Dataset>,
    pub(crate) times: f64,
}

impl Projectable for Repeated {
    fn domain(&self) -> &Domain {
        self.records.domain()
    }

    fn project(&self, clique: &Clique) -> Result<Factor, MarginalError> {
        Ok(self.records.project(clique)?.scaled(self.times))
    }
}
