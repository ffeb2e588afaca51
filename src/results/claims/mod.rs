//! Whether our rows agree with what a paper says.

mod check;
mod finding;
#[cfg(test)]
mod tests;

pub use finding::{Finding, Verdict, claims_table, read_claims, write_claims};
