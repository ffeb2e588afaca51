//! Differential privacy: budgets that cannot be overspent, exact noise, private selection, and a
//! ledger that can be verified.
//!
//! - **Spending needs a token.** A [`Budget`] hands out [`Share`]s and never more than it holds.
//!   Every draw consumes a share by value: a mechanism cannot add noise without a share, and cannot
//!   use a share twice. An attempt to overspend is a [`BudgetError`].
//! - **Every draw is recorded.** The [`Ledger`] lists label, mechanism, sensitivity, scale and cost
//!   of each draw. [`Ledger::verify`] recomputes all costs and their composition, also from a file.
//! - **Noise is exact.** Discrete Laplace and Gaussian noise and the exponential mechanism are
//!   sampled with integer arithmetic on a grid. No probability is rounded, and the low bits of an
//!   output reveal nothing about the answer ([`NumberLine`]). Floating-point noise is available for
//!   comparisons with papers.
//! - **Sums are exact.** What is spent is added without rounding and never exceeds the total, not
//!   even in the last place.
//! - **Relations are explicit.** A [`Sensitivity`] carries the norm and the neighbouring relation
//!   that it was proved for. A draw rejects another relation; another norm does not compile.
//!
//! # Example
//!
//! ```
//! use dp::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The guarantee of the whole release, and the neighbouring relation that it refers to.
//! let mut budget = Budget::new(Epsilon::new(1.0)?, Neighbours::Replace);
//! let mut source = NoiseSource::seeded(&SeedPath::new("experiment", "example").with("trial", 0));
//!
//! // Two draws, each with half of the budget.
//! let [select, measure] = <[Share; 2]>::try_from(budget.rest()?.split(2)?).unwrap();
//!
//! // Select one of three columns. A replaced record changes each score by at most 1.
//! let score = Sensitivity::new(1.0, Neighbours::Replace)?;
//! let column = select.select("column", &[12.0, 40.0, 7.0], score, Scores::General, &mut source)?;
//! assert!(column < 3);
//!
//! // Measure its counts. A replaced record changes two counts by 1 each: L1 sensitivity 2.
//! let counts = [52.0, 31.0, 17.0];
//! let sensitivity = Sensitivity::<L1>::linear(1.0, Neighbours::Replace)?;
//! let noisy =
//!     measure.laplace("counts", &counts, sensitivity, NumberLine::Integers, &mut source)?;
//! assert_eq!((noisy.values.len(), noisy.scale), (3, 4.0));
//!
//! // The ledger lists both draws, and recomputes that they stay within the budget.
//! assert_eq!(budget.ledger().verify(budget.total())?, Some(budget.total()));
//! assert!(budget.spend(Epsilon::new(1e-6)?).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! | topic | items | references |
//! | --- | --- | --- |
//! | privacy parameters | [`Epsilon`], [`Delta`], [`Rho`], [`Guarantee`] | 1, 2 |
//! | sequential composition | [`composition`], [`Budget::spend`], [`Share::split`] | 2, 3 |
//! | parallel composition | [`Share::parallel`] | 4 |
//! | advanced composition | [`Share::advanced`], [`composition::advanced`] | 3, 5 |
//! | conversions | [`Rho::implying`], [`Rho::epsilon`], [`Rho::of_pure`] | 2, 6 |
//! | rounding of what is spent | [`budget`] | |
//! | neighbouring relations | [`Neighbours`] | 1 |
//! | sensitivities | [`sensitivity`], tested by [`sensitivity::brute_force`] | 1 |
//! | Laplace noise | [`Share::laplace`], [`noise`] | 1, 6, 7 |
//! | Gaussian noise | [`Share::gaussian`], [`noise`] | 2, 6 |
//! | selection | [`Share::select`], [`Share::select_many`] | 8 |
//! | floating-point safety | [`NumberLine`] | 9 |
//! | randomness | [`NoiseSource`], [`SeedPath`] | |
//! | records of draws | [`Ledger`], [`Entry`], [`Draw`] | |
//! | what several releases cost together | [`Accountant`] | 2, 3 |
//! | exact privacy losses, for audits | [`transcript`] | |
//!
//! 1. Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis",
//!    TCC 2006.
//! 2. Bun, Steinke, "Concentrated differential privacy: simplifications, extensions, and lower
//!    bounds", TCC 2016.
//! 3. Dwork, Roth, "The algorithmic foundations of differential privacy", 2014.
//! 4. McSherry, "Privacy integrated queries", SIGMOD 2009.
//! 5. Dwork, Rothblum, Vadhan, "Boosting and differential privacy", FOCS 2010.
//! 6. Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.
//! 7. Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC
//!    2009.
//! 8. McSherry, Talwar, "Mechanism design via differential privacy", FOCS 2007.
//! 9. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
//!
//! # Limits
//!
//! The crate cannot check that a sensitivity is right, nor that the parts of [`Share::parallel`]
//! are disjoint. Seeded noise ([`NoiseSource::seeded`]) is repeatable and therefore not private;
//! releases use [`NoiseSource::from_operating_system`]. The running time of a sampler depends on
//! what it draws. There is no amplification by subsampling, and no Renyi accounting beyond zCDP.
#![warn(missing_docs)]

#[macro_use]
mod planting;
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
pub mod transcript;

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
pub use planting::PLANTED_BUGS;
#[cfg(feature = "sabotage")]
pub use planting::planted;
pub use sensitivity::{L1, L2, LInfinity, Neighbours, Sensitivity, SensitivityError};
pub use share::Share;
pub use source::{NoiseSource, Provenance, SeedPath};
