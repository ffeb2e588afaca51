//! Tests of the engine through its public interface.

mod algebra;
mod estimate;
mod examples;
mod front_door;
mod golden;
mod linear_programs;
mod problem_files;
