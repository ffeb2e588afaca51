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
//! | algorithm | item | reference |
//! | --- | --- | --- |
//! | entropic mirror descent | [`optimiser::Mirror`] | \[1\] Algorithm 1, A.1; \[2\] |
//! | accelerated dual averaging | [`optimiser::DualAveraging`] | \[1\] Algorithm 2, A.2; \[3\] |
//! | the same with restarts | [`optimiser::Accelerated`] | \[1\] A.2; \[4\] |
//! | L-BFGS on the potentials | [`optimiser::Lbfgs`] | \[1\] A.3; \[5\] Algorithm 7.4 |
//! | certified gap | [`optimiser::Objective::certificate`] | \[6\] |
//! | L1 loss by Huber losses | [`loss::Norm`] | \[1\] C.1; \[7\] |
//! | exact marginals | [`oracle::Exact`] | \[8\], \[9\] |
//! | loopy and convex belief propagation | [`oracle::Loopy`] | \[10\], \[11\] |
//! | junction trees | [`junction_tree::JunctionTree`] | \[8\], \[12\], \[13\] |
//! | marginals of any attributes | [`model::Calibrated`] | \[14\] |
//! | factored queries | [`Model::answer`] | \[1\] Definition 4 and Algorithm 3 |
//! | estimate of the total | [`loss::estimate_total`] | \[1\] E.1 |
//! | multiplicative weights | [`baselines::MultiplicativeWeights`] | \[15\]; \[1\] E.2 |
//! | least squares by LSMR | [`baselines::FullLeastSquares`] | \[16\] |
//! | residuals of marginals | [`residual::split`], [`residual::assemble`] | \[17\] |
//! | estimates from residuals (GReM) | [`residual::Grem`], [`residual::GremLnn`] | \[18\]; \[19\] |
//!
//! 1. McKenna, Sheldon, Miklau, Graphical-model based estimation and inference for differential
//!    privacy, ICML 2019, and its supplement (sections with letters)
//! 2. Beck, Teboulle, Mirror descent, Operations Research Letters 31, 2003
//! 3. Xiao, Dual averaging methods, JMLR 11, 2010
//! 4. O'Donoghue, Candes, Adaptive restart for accelerated gradient schemes, Foundations of
//!    Computational Mathematics 15, 2015
//! 5. Nocedal, Wright, Numerical Optimization, 2006
//! 6. Jaggi, Revisiting Frank-Wolfe, ICML 2013
//! 7. Huber, Robust estimation of a location parameter, Annals of Mathematical Statistics 35, 1964
//! 8. Lauritzen, Spiegelhalter, Local computations with probabilities, JRSS B 50, 1988
//! 9. Dechter, Bucket elimination, Artificial Intelligence 113, 1999
//! 10. Yedidia, Freeman, Weiss, Constructing free-energy approximations, IEEE Transactions on
//!     Information Theory 51, 2005
//! 11. Heskes, Convexity arguments for efficient minimization of the Bethe and Kikuchi free
//!     energies, JAIR 26, 2006
//! 12. Kjaerulff, Triangulation of graphs, Aalborg 1990
//! 13. Jensen, Jensen, Optimal junction trees, UAI 1994
//! 14. Shafer, Shenoy, Probability propagation, Annals of Mathematics and Artificial Intelligence
//!     2, 1990
//! 15. Hardt, Ligett, McSherry, A simple and practical algorithm for differentially private data
//!     release, NIPS 2012
//! 16. Fong, Saunders, LSMR, SIAM Journal on Scientific Computing 33, 2011
//! 17. Xiao, He, Zhang, Kifer, An optimal and scalable matrix mechanism for noisy marginals under
//!     convex loss functions, NeurIPS 2023
//! 18. Mullins, Fuentes, Xiao, Kifer, Musco, Sheldon, Efficient and private marginal reconstruction
//!     with local non-negativity, NeurIPS 2024
//! 19. Boyd, Parikh, Chu, Peleato, Eckstein, Distributed optimization and statistical learning via
//!     the alternating direction method of multipliers, 2011
//!
//! # Notation
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | X, n_i | [`Domain`] | the attributes and the number of values of each |
//! | C | [`Clique`] | a set of attributes |
//! | theta | [`Potentials`] | log-potentials of a graphical model, one table per clique |
//! | mu | [`Marginals`] | its marginals, in counts that sum to the total |
//! | N | [`Evidence::total`] | the number of records, the sum of a marginal |
//! | Q, y, stddev | [`Measurement`] | a query matrix, its noisy answers, their noise |
//! | r | [`loss::LinearLoss`] | residuals (Q mu - y) / stddev |
//! | L(mu) | [`Loss`] | the loss: the sum of r^2 / 2, or of abs(r) |
//! | ln Z, mu(theta) | [`oracle::MarginalOracle`] | partition function and marginals of theta |
//! | nu | [`optimiser::Accelerated`] | the marginals of the model itself; mu is their average |
//! | omega | [`optimiser::Accelerated`] | where the gradient is taken |
//! | K | [`Constant`] | bounds how fast the gradient changes; steps are of length 1 / K |
//! | gap | [`Estimate::gap`] | a proof of how far L is above its minimum at most |

#![warn(missing_docs)]

pub mod baselines;
pub mod closest;
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
pub mod residual;

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
/// Generators of random numbers are those of this version.
pub use rand;
