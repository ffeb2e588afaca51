use crate::config::{Algorithm as Chosen, Constant, Decreasing, Estimation, Loss, Oracle, Step};
use private_pgm::baselines::{
    Estimator, FullLeastSquares, LocalLeastSquares, MultiplicativeWeights, Pgm,
};
use private_pgm::fit::{Algorithm, Lipschitz, OracleKind, Settings};
use private_pgm::loss::Norm;
use private_pgm::numeric::lsmr::LsmrOptions;
use private_pgm::optimiser::{Constant as StepConstant, StepSize};

/// An estimator that an arm can name.
pub struct ArmKind {
    /// In configurations: `pgm`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The estimator; `None` for the mechanism's own.
    pub build: fn(&Estimation, bool) -> Option<Box<dyn Estimator>>,
}

/// All estimators.
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
            Some(Box::new(Pgm { settings: settings(estimation, parallel) }))
        },
    },
    ArmKind {
        name: "lls",
        summary: "Local least squares: every measured marginal on its own.",
        build: |_, _| Some(Box::new(LocalLeastSquares::default())),
    },
    ArmKind {
        name: "lsmr",
        summary: "Least squares over the full contingency table, by LSMR.",
        build: |estimation, _| {
            let stopping = LsmrOptions {
                iterations: estimation.iterations,
                ..FullLeastSquares::default().stopping
            };
            Some(Box::new(FullLeastSquares { stopping }))
        },
    },
    ArmKind {
        name: "mw",
        summary: "Multiplicative weights over the full contingency table.",
        build: |estimation, _| {
            Some(Box::new(MultiplicativeWeights {
                full: true,
                iterations: estimation.iterations,
                ..MultiplicativeWeights::default()
            }))
        },
    },
];

/// What a configuration says about estimation, for the engine.
pub(super) fn settings(estimation: &Estimation, parallel: bool) -> Settings {
    let norm = match estimation.loss {
        Loss::L1 => Norm::L1,
        // For Gaussian noise L2 is the likelihood; for Laplace noise it is not, but it generalises
        // better to queries that were not measured (ICML 2019, supplement D.1).
        Loss::L2 | Loss::Auto => Norm::L2,
    };
    Settings {
        algorithm: match estimation.algorithm {
            Chosen::Auto => Algorithm::Auto,
            Chosen::Mirror(step) => Algorithm::Mirror(match step {
                Step::LineSearch => StepSize::Search,
                Step::Auto if norm == Norm::L1 => StepSize::Decreasing(None),
                Step::Auto => StepSize::Search,
                Step::Constant(step) => StepSize::Constant(Some(step)),
                Step::Decreasing(Decreasing { decreasing }) => {
                    StepSize::Decreasing(Some(decreasing))
                }
            }),
            Chosen::Accelerated(constant) => match constant {
                Constant::Adaptive => Algorithm::Accelerated(StepConstant::Adaptive),
                Constant::Smoothness => Algorithm::DualAveraging(Lipschitz::Smoothness),
                Constant::Spectral => Algorithm::DualAveraging(Lipschitz::Spectral),
                Constant::Fixed(constant) => Algorithm::DualAveraging(Lipschitz::Fixed(constant)),
            },
            Chosen::Lbfgs => Algorithm::Lbfgs,
        },
        norm,
        oracle: match estimation.oracle {
            Oracle::Exact => OracleKind::Exact,
            Oracle::Loopy => OracleKind::Loopy,
            Oracle::Convex => OracleKind::Convex,
        },
        iterations: Some(estimation.iterations),
        gap: estimation.gap,
        memory_limit: None,
        deadline: None,
        parallel,
        both_losses: false,
    }
}
