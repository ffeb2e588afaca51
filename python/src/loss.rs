//! Settings by their names, and losses that Python computes.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use private_pgm::factor::CliqueLayout;
use private_pgm::fit::Likelihood;
use private_pgm::oracle::{Loopy, LoopyError, LoopyOptions};
use private_pgm::{Clique, CliqueVector, Loss, Marginals, OracleKind};
use pyo3::PyResult;

use crate::error::value_error;
use crate::interruptible::wait_for;

/// The setting with this name.
pub(crate) fn choice<T: FromStr<Err: Display>>(name: &str) -> PyResult<T> {
    name.parse().map_err(value_error)
}

/// An oracle that passes messages between the cliques, at most `sweeps` times.
pub(crate) fn loopy(
    layout: &Arc<CliqueLayout>,
    kind: OracleKind,
    sweeps: usize,
    damping: f64,
) -> Result<Loopy, LoopyError> {
    let options = LoopyOptions { max_sweeps: sweeps.max(1), damping, ..LoopyOptions::default() };
    match kind {
        OracleKind::Convex => Loopy::convex(layout, options),
        _ => Loopy::bethe(layout, options),
    }
}

/// What Python is asked: the loss, and its gradient, at these marginals.
pub(crate) struct LossQuestion {
    pub(crate) marginals: Marginals,
    pub(crate) reply: Sender<(f64, CliqueVector)>,
}

/// A loss that Python computes.
pub(crate) struct PythonLikelihood<F> {
    pub(crate) cliques: Vec<Clique>,
    pub(crate) smoothness: Option<f64>,
    pub(crate) ask: F,
}

impl<F: Fn(LossQuestion) + Clone + Send + Sync + 'static> Likelihood for PythonLikelihood<F> {
    fn cliques(&self) -> Vec<Clique> {
        self.cliques.clone()
    }

    fn loss(&self, layout: &Arc<CliqueLayout>) -> Box<dyn Loss> {
        Box::new(PythonLoss {
            layout: Arc::clone(layout),
            smoothness: self.smoothness,
            ask: self.ask.clone(),
        })
    }
}

struct PythonLoss<F> {
    layout: Arc<CliqueLayout>,
    smoothness: Option<f64>,
    ask: F,
}

impl<F: Fn(LossQuestion) + Send> PythonLoss<F> {
    /// NaN if the calling thread has gone; the run then ends at once.
    fn evaluate(&self, marginals: &Marginals) -> (f64, CliqueVector) {
        let (reply, answer) = mpsc::channel();
        (self.ask)(LossQuestion { marginals: marginals.clone(), reply });
        wait_for(&answer).unwrap_or_else(|| (f64::NAN, CliqueVector::zeros(&self.layout)))
    }
}

impl<F: Fn(LossQuestion) + Send> Loss for PythonLoss<F> {
    fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    fn value_and_gradient(&mut self, marginals: &Marginals, gradient: &mut CliqueVector) -> f64 {
        let (value, computed) = self.evaluate(marginals);
        gradient.values_mut().copy_from_slice(computed.values());
        value
    }

    fn value(&mut self, marginals: &Marginals) -> f64 {
        self.evaluate(marginals).0
    }

    fn smoothness(&self) -> Option<f64> {
        self.smoothness
    }
}
