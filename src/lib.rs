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

pub mod data;
pub mod domain;
pub mod estimation;
pub mod factor;
pub mod numeric;
pub mod privacy;
pub mod problem;
pub mod storage;
pub mod workload;
