use std::sync::Arc;

use super::{Evidence, Observed};
use crate::factor::CliqueLayout;
use crate::loss::{LinearLoss, LinearLossError, Loss, Norm};

/// The loss of what was observed. Only that of linear measurements has a norm to change.
pub(super) enum ObservedLoss {
    Linear(LinearLoss),
    Other(Box<dyn Loss>),
}

impl ObservedLoss {
    pub(super) fn new(
        evidence: &Evidence<'_>,
        layout: &Arc<CliqueLayout>,
        norm: Norm,
    ) -> Result<Self, LinearLossError> {
        Ok(match evidence.observed {
            Observed::Answers(answers) => {
                Self::Linear(LinearLoss::new(Arc::clone(layout), answers.to_vec(), norm)?)
            }
            Observed::Likelihood(likelihood) => Self::Other(likelihood.loss(layout)),
        })
    }

    pub(super) fn as_loss(&mut self) -> &mut dyn Loss {
        match self {
            Self::Linear(linear) => linear,
            Self::Other(other) => &mut **other,
        }
    }
}
