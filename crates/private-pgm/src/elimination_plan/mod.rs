//! Contraction trees: in which order to multiply the tables of a graphical model.
//!
//! A leaf is a table with potentials; an inner node is the product of its two children, or one
//! child, summed onto the attributes that somebody outside the subtree still needs. The root is
//! a single number, the partition function Z. Read forwards, the tree computes Z; read backwards
//! (reverse-mode differentiation of ln Z) it computes every leaf's marginals, at twice the cost.
//!
//! Belief propagation on a junction tree is the special case in which a node belongs to each
//! clique of the junction tree. The general tree is often far cheaper: a clique's table is never
//! stored, and sums are taken as early as possible inside it.

mod group;
mod tree;

pub use tree::{ContractionTree, Node, Step};
