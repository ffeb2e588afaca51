//! Query matrices and what they ask of a marginal.
