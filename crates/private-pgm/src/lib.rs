//! Graphical-model based estimation and inference for differential privacy.
//!
//! Privacy mechanisms publish noisy answers. This crate estimates one consistent distribution
//! from them with a graphical model instead of a full contingency table (Private-PGM: McKenna,
//! Sheldon, Miklau, ICML 2019), answers new queries from it and draws synthetic records.
//!
//! # From noisy answers to synthetic records
//!
//! Sex by income was not measured here; the model answers it through age.
//!
//! ```
//! use private_pgm::Problem;
//! use rand::SeedableRng;
//!
//! let file = r#"{ "domain": {"age": 3, "sex": 2, "income": 2},
//!                 "total": 100,
//!                 "measurements": [
//!                   {"attrs": ["age", "sex"], "query": ["identity", "identity"],
//!                    "y": [11, 21, 14, 26, 18, 13], "stddev": 2},
//!                   {"attrs": ["age", "income"], "query": ["identity", "identity"],
//!                    "y": [28, 2, 27, 12, 14, 19], "stddev": 2} ] }"#;
//! let problem = Problem::read(file.as_bytes())?;
//! let fitted = private_pgm::estimate(&problem)?;
//! assert!((fitted.loss - 0.541_666_667).abs() < 1e-6);
//! assert!(fitted.gap.is_some_and(|gap| gap < 1e-6));
//!
//! let table = fitted.model.marginal(&["sex", "income"])?;
//! assert!((table[[0, 0]] - 26.230_976).abs() < 1e-4);
//!
//! let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
//! let columns = fitted.model.sample(500, &mut rng)?;
//! assert_eq!((columns.len(), columns[0].len()), (3, 500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Problem::builder`] and [`Measurement::marginal`] make problems in code, from slices and
//!   arrays; [`Problem::read`] reads [files](problem).
//! - [`Fit`] takes settings, a warm start, an observer, and limits of memory and time. [`Settings`]
//!   reads and writes itself with serde.
//! - [`Model`] answers by names of attributes. [`CliqueVector::tables`] shows potentials
//!   ([`Model::potentials`]) and marginals ([`Estimate::marginals`]) with their names.
//! - [`Model::read`] and [`Model::write`] store models. Nothing in this crate opens files.
//!
//! # Algorithms
//!
//! The paper is McKenna, Sheldon, Miklau, "Graphical-model based estimation and inference for
//! differential privacy", ICML 2019.
//!
//! | what | where | reference |
//! | --- | --- | --- |
//! | entropic mirror descent | [`optimiser::Mirror`] | the paper, Algorithm 1 and supplement A.1; Beck, Teboulle, Operations Research Letters 2003 |
//! | accelerated dual averaging | [`optimiser::DualAveraging`] | the paper, Algorithm 2 and supplement A.2; Xiao, JMLR 2010 |
//! | the same with restarts and an adaptive constant | [`optimiser::Accelerated`] | Nesterov, Mathematical Programming 2005; O'Donoghue, Candes, Foundations of Computational Mathematics 2015 |
//! | L-BFGS on the potentials | [`optimiser::Lbfgs`] | Nocedal, Wright, Numerical Optimization, Algorithm 7.4 |
//! | certified gap | [`optimiser::Objective::certificate`] | Frank, Wolfe, Naval Research Logistics Quarterly 1956; Jaggi, ICML 2013 |
//! | L1 by Huber losses | [`fit`] | the paper, supplement C.1; Huber, Annals of Mathematical Statistics 1964 |
//! | exact marginals by contraction | [`oracle::Exact`] | Lauritzen, Spiegelhalter, JRSS B 1988; Dechter, Artificial Intelligence 1999 |
//! | approximate marginals | [`oracle::Loopy`] | Yedidia, Freeman, Weiss, IEEE Information Theory 2005; McKenna, Pradhan, Sheldon, Miklau, NeurIPS 2021 |
//! | junction trees | [`junction_tree::JunctionTree`] | Koller, Friedman, Probabilistic Graphical Models, chapters 9 and 10 |
//! | marginals of any attributes | [`model::Calibrated`] | Shafer, Shenoy, Annals of Mathematics and Artificial Intelligence 1990 |
//! | factored queries | [`Model::answer`] | the paper, Definition 4 and supplement, Algorithm 3 |
//! | synthetic records | [`model::Sampling`] | Koller, Friedman, chapter 12; systematic sampling: Madow, Annals of Mathematical Statistics 1949 |
//! | the total | [`loss::estimate_total`] | the paper, supplement E.1 |
//! | least squares | [`baselines::LocalLeastSquares`], [`baselines::FullLeastSquares`] | Fong, Saunders (LSMR), SIAM J. Scientific Computing 2011 |
//! | multiplicative weights | [`baselines::MultiplicativeWeights`] | Hardt, Ligett, McSherry, NIPS 2012; the paper, supplement E.2 |
//!
//! # Notation
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | X, n_i | [`domain::Domain`] | the attributes and the number of values of each |
//! | C | [`domain::Clique`] | a set of attributes |
//! | theta | [`factor::Potentials`] | log-potentials of a graphical model, one table a clique |
//! | mu | [`factor::Marginals`] | its marginals, in counts that sum to the total |
//! | N | [`fit::Evidence::total`] | the number of records, what marginals sum to |
//! | Q, y, stddev | [`loss::Measurement`] | a query matrix, its noisy answers, their noise |
//! | r | [`loss::LinearLoss`] | residuals (Q mu - y) / stddev |
//! | L(mu) | [`loss::Loss`] | the loss: the sum of r^2 / 2, or of abs(r) |
//! | ln Z, mu(theta) | [`oracle::MarginalOracle`] | partition function and marginals of theta |
//! | nu, mu, omega | [`optimiser::Accelerated`] | marginals of the model itself, their average, and where the gradient is taken |
//! | K | [`fit::Constant`] | bounds how fast the loss bends; long steps where it is small |
//! | gap | [`optimiser::Objective::certificate`] | a proof of how far L is above its minimum at most |
//! | elimination plan | [`elimination_plan::EliminationPlan`] | the order in which tables are multiplied and summed |
//! | gauge | [`oracle::MarginalOracle::reparametrize`] | which of the potentials that mean the same model are kept |

#![warn(missing_docs)]

pub mod baselines;
pub mod domain;
pub mod elimination_plan;
pub mod factor;
pub mod fit;
pub mod junction_tree;
pub mod loss;
pub mod model;
pub mod numeric;
pub mod optimiser;
pub mod oracle;
pub mod problem;
pub mod query;

pub use domain::{AttributeId, Clique, Domain, DomainError};
pub use factor::{CliqueVector, Factor, Marginals, Potentials};
pub use fit::{
    Algorithm, Constant, Estimate, EstimateError, Evidence, Fit, OracleKind, Progress, Reason,
    Settings, SettingsError, StepSize, estimate,
};
pub use loss::{Loss, Measurement, MeasurementError, Norm};
pub use model::file::ModelFileError;
pub use model::{InferenceError, Model, Sampling};
/// Arrays at the edge of the crate are those of this version.
pub use ndarray;
pub use problem::{Problem, ProblemBuilder, ProblemError};
pub use query::QueryFactor;
