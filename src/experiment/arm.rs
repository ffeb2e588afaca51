use crate::config::Estimation;
use private_pgm::baselines::{FullLeastSquares, LocalLeastSquares, MultiplicativeWeights, Uniform};
use private_pgm::fit::{Estimator, Pgm};
use private_pgm::numeric::lsmr::LsmrOptions;
use private_pgm::residual::{Grem, GremLnn};

/// An estimator that an arm can name.
pub struct ArmKind {
    /// As in configurations: `pgm`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// `None` stands for the mechanism's own estimator. The flag allows several threads.
    pub build: fn(&Estimation, bool) -> Option<Box<dyn Estimator>>,
}

/// The estimators that work with every mechanism.
pub static ARMS: &[ArmKind] = &[
    ArmKind {
        name: "own",
        summary: "The estimator that the mechanism's paper came with.",
        build: |_, _| None,
    },
    ArmKind {
        name: "pgm",
        summary: "Private-PGM: the graphical model of largest entropy that fits best.",
        build: |estimation, parallel| {
            Some(Box::new(Pgm { parallel, ..Pgm::new(estimation.settings.clone()) }))
        },
    },
    ArmKind {
        name: "lls",
        summary: "Local least squares: every measured marginal on its own.",
        build: |_, _| Some(Box::new(LocalLeastSquares::default())),
    },
    ArmKind {
        name: "grem",
        summary: "GReM: residuals averaged by inverse variance, in closed form.",
        build: |_, _| Some(Box::new(Grem::default())),
    },
    ArmKind {
        name: "grem-lnn",
        summary: "GReM with local non-negativity: no cell of a measured marginal is negative.",
        build: |_, _| Some(Box::new(GremLnn::default())),
    },
    ArmKind {
        name: "lsmr",
        summary: "Least squares over the full contingency table, by LSMR.",
        build: |estimation, _| {
            let stopping = LsmrOptions {
                iterations: estimation.iterations(),
                ..FullLeastSquares::default().stopping
            };
            Some(Box::new(FullLeastSquares { stopping }))
        },
    },
    ArmKind {
        name: "uniform",
        summary: "The uniform table: no measurement but the number of records.",
        build: |_, _| Some(Box::new(Uniform)),
    },
    ArmKind {
        name: "mw",
        summary: "Multiplicative weights over the full contingency table.",
        build: |estimation, _| {
            Some(Box::new(MultiplicativeWeights {
                full: true,
                iterations: estimation.iterations(),
                ..MultiplicativeWeights::default()
            }))
        },
    },
];
