//! What several mechanisms share.

pub(crate) mod adaptive_marginals;
pub(crate) mod bayesian_network;
pub(crate) mod candidate_marginals;
#[cfg(test)]
pub(crate) mod checked_parameters;
pub(crate) mod cost_model;
pub(crate) mod counting_query;
pub(crate) mod each_marginal;
pub(crate) mod final_estimate;
pub(crate) mod gaussian_marginal;
pub(crate) mod post_processing;
pub(crate) mod records;
pub(crate) mod round_count;
pub(crate) mod score_grid;
#[cfg(test)]
pub(crate) mod small_table;
pub(crate) mod strategy;
