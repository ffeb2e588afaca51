//! Differential privacy: guarantees, the budget and its ledger, noise, private selection.
//!
//! ```
//! use dp::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What the release shall promise, and about which neighbours.
//! let mut budget = Budget::new(Epsilon::new(1.0)?, Neighbours::Replace);
//! let mut source = NoiseSource::seeded(&SeedPath::new("experiment", "example").with("trial", 0));
//!
//! // Two steps, half of the budget each.
//! let [select, measure] = <[Share; 2]>::try_from(budget.rest()?.split(2)?).unwrap();
//!
//! // Choose one of three columns by a private score that one record moves by 1 at most ...
//! let score = Sensitivity::new(1.0, Neighbours::Replace)?;
//! let column = select.select("column", &[12.0, 40.0, 7.0], score, Scores::General, &mut source)?;
//! assert!(column < 3);
//!
//! // ... and count its values. A replaced record leaves one count and enters another: L1 norm 2.
//! let counts = [52.0, 31.0, 17.0];
//! let sensitivity = Sensitivity::<L1>::linear(1.0, Neighbours::Replace)?;
//! let noisy =
//!     measure.laplace("counts", &counts, sensitivity, NumberLine::Integers, &mut source)?;
//! assert_eq!((noisy.values.len(), noisy.scale), (3, 4.0));
//!
//! // The ledger lists both draws and shows that they kept the budget.
//! assert_eq!(budget.ledger().verify(budget.total())?, Some(budget.total()));
//! assert!(budget.spend(Epsilon::new(1e-6)?).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! | question | where |
//! | --- | --- |
//! | which numbers are parameters | [`Epsilon`], [`Delta`], [`Rho`] |
//! | how guarantees add up and convert | [`composition`], [`Share::parallel`], [`Share::advanced`] |
//! | how spending works, and what rounding does to it | [`budget`] |
//! | how far a record moves an answer | [`sensitivity`], checked by [`sensitivity::brute_force`] |
//! | how noise is drawn, and why its low bits are harmless | [`noise`] |
//! | how a candidate is chosen | [`Share::select`] |
//! | what was drawn | [`Ledger`] |
//! | what several releases cost together | [`Accountant`] |

mod account;
mod accountant;
mod advanced;
pub mod budget;
pub mod composition;
mod draw;
mod exact_sum;
mod exponential;
mod guarantee;
mod ledger;
pub mod noise;
mod parameters;
pub mod sensitivity;
mod share;
mod source;

pub use account::Branch;
pub use accountant::Accountant;
pub use advanced::{Composition, PureDraws};
pub use budget::{Budget, BudgetError};
pub use draw::{Draw, Mechanism};
pub use exponential::Scores;
pub use guarantee::Guarantee;
pub use ledger::{Entry, Ledger, LedgerError, Line};
pub use noise::{DrawError, Noisy, NumberLine, Spacing};
pub use parameters::{Delta, Epsilon, LARGEST_EPSILON, ParameterError, Rho};
pub use sensitivity::{L1, L2, LInfinity, Neighbours, Sensitivity, SensitivityError};
pub use share::Share;
pub use source::{NoiseSource, Provenance, SeedPath};
