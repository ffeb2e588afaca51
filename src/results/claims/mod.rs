//! Checks whether the rows agree with the claims of a paper.

mod check;
mod data;
mod finding;
mod measure;
#[cfg(test)]
mod tests;

pub use finding::{Finding, Verdict, claims_table, read_claims, tally, write_claims};
