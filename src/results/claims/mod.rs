//! Checks whether the rows agree with the claims of a paper.

mod check;
mod finding;
#[cfg(test)]
mod tests;

pub use finding::{Finding, Verdict, claims_table, read_claims, tally, write_claims};
