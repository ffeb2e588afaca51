//! Tests of the engine through its public interface.

mod algebra;
mod estimate;
mod problem_files;
