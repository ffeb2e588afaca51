//! Elimination plans: the order in which the tables of a graphical model are multiplied and its
//! attributes summed out.
//!
//! # Plan and kernel
//!
//! A plan is structure only: attribute sets and the operations between them. It holds no numbers
//! and no strides. The arithmetic of one operation, a product of two tables summed onto some of
//! their axes, is the kernel `numeric::contraction::Contraction`, compiled from axis sizes.
//! `ContractionCache` compiles the kernels of a plan from its attribute sets.
//!
//! # The tree
//!
//! A leaf is a table with potentials. An inner node is the product of its two children, or its one
//! child, summed onto the attributes that occur outside its subtree. The root is a single number,
//! the partition function Z. The forward pass computes Z; the backward pass (reverse-mode
//! differentiation of ln Z) computes the marginal of every leaf at about twice the cost.
//!
//! Belief propagation on a junction tree is the special case with one node per clique of the
//! junction tree. The general tree is often far cheaper: the table of a clique is never stored,
//! and attributes are summed out as early as possible inside it.

mod cache;
mod optimal;
mod pairing;
mod plan;

pub(crate) use cache::ContractionCache;
pub use plan::EliminationPlan;
pub(crate) use plan::NodeOperation;
