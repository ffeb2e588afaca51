//! Graphical-model based estimation and inference for differential privacy.
//!
//! Privacy mechanisms publish noisy answers. This crate estimates one consistent distribution
//! from them with a graphical model instead of a full contingency table (Private-PGM: McKenna,
//! Sheldon, Miklau, ICML 2019), answers new queries from it and draws synthetic records.
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
//! | K | [`optimiser::Constant`] | bounds how fast the loss bends; long steps where it is small |
//! | gap | [`optimiser::Objective::certificate`] | a proof of how far L is above its minimum at most |
//! | elimination plan | [`elimination_plan::EliminationPlan`] | the order in which tables are multiplied and summed |
//! | gauge | [`oracle::MarginalOracle::reparametrize`] | which of the potentials that mean the same model are kept |
//!
//! # From noisy answers to synthetic records
//!
//! Nobody measured sex by income here; the model answers it through age.
//!
//! ```
//! use private_pgm::domain::Clique;
//! use private_pgm::fit::{Settings, Update, estimate};
//! use private_pgm::model::Sampling;
//! use private_pgm::problem::Problem;
//! use rand::SeedableRng;
//!
//! let problem = Problem::from_json(
//!     r#"{ "domain": {"age": 3, "sex": 2, "income": 2},
//!          "total": 100,
//!          "measurements": [
//!            {"attrs": ["age", "sex"], "query": ["identity", "identity"],
//!             "y": [11, 21, 14, 26, 18, 13], "stddev": 2},
//!            {"attrs": ["age", "income"], "query": ["identity", "identity"],
//!             "y": [28, 2, 27, 12, 14, 19], "stddev": 2} ] }"#,
//! )?;
//! // Called after every iteration, for those who want to watch.
//! let mut observer = |_: &Update| {};
//! let estimate = estimate(&problem.evidence(), &Settings::default(), None, &mut observer)?;
//! assert!((estimate.loss - 0.541_666_667).abs() < 1e-6);
//! assert!(estimate.gap.is_some_and(|gap| gap < 1e-6));
//!
//! let model = estimate.model.calibrate()?;
//! let asked = ["sex", "income"].map(|name| problem.domain.id(name).unwrap());
//! let table = model.marginal(&Clique::new(asked))?;
//! assert!((table.values_as_listed(&asked)[0] - 26.230_976).abs() < 1e-4);
//!
//! let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
//! let columns = model.synthesize(500, Sampling::Independent, &mut rng)?;
//! assert_eq!((columns.len(), columns[0].len()), (3, 500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!

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
