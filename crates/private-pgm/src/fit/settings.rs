use std::time::Instant;

use crate::loss::Norm;
use crate::optimiser::{Constant, StepSize};

/// How to estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The optimiser.
    pub algorithm: Algorithm,
    /// How residuals are penalised.
    pub norm: Norm,
    /// Who computes marginals.
    pub oracle: OracleKind,
    /// The largest number of calls of the oracle; by default as many as take some seconds.
    pub iterations: Option<usize>,
    /// The run ends once the loss is certified to be at most this above the smallest possible.
    pub gap: Option<f64>,
    /// Bytes that the tables may take; by default half of the machine's memory.
    pub memory_limit: Option<u64>,
    /// There is no estimate if it is not there by then.
    pub deadline: Option<Instant>,
    /// Whether several threads may work on one estimate. The result is the same.
    pub parallel: bool,
    /// Whether the observer is told both losses at each iteration, which costs some time.
    pub both_losses: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            norm: Norm::L2,
            oracle: OracleKind::Exact,
            iterations: None,
            gap: None,
            memory_limit: None,
            deadline: None,
            parallel: true,
            both_losses: false,
        }
    }
}

/// An optimiser, by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// The fastest way that needs no tuning: accelerated, with adaptive steps and restarts.
    Auto,
    /// Algorithm 1 of the paper.
    Mirror(StepSize),
    /// Algorithm 2 of the paper with this constant, and restarts.
    Accelerated(Constant),
    /// Algorithm 2 of the paper as it is printed: this constant, no restarts, an average.
    DualAveraging(Lipschitz),
    /// Direct optimisation of the potentials.
    Lbfgs,
}

/// The constant of the paper's Algorithm 2: how fast the gradient of the loss changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lipschitz {
    /// The paper's: the largest eigenvalue of Q^T Q over the marginals of the junction tree.
    Spectral,
    /// In the norm that fits entropy: [`crate::loss::Loss::smoothness`].
    Smoothness,
    /// This one.
    Fixed(f64),
}

impl Algorithm {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Mirror(_) => "mirror",
            Algorithm::Accelerated(_) => "accelerated",
            Algorithm::DualAveraging(_) => "dual-averaging",
            Algorithm::Lbfgs => "lbfgs",
        }
    }
}

/// A marginal oracle, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OracleKind {
    /// Exact, by contraction of the measured tables.
    Exact,
    /// Loopy belief propagation with Bethe's entropy: an approximation.
    Loopy,
    /// Belief propagation with a convex entropy: an approximation that always converges.
    Convex,
}

impl OracleKind {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            OracleKind::Exact => "exact",
            OracleKind::Loopy => "loopy",
            OracleKind::Convex => "convex",
        }
    }
}
