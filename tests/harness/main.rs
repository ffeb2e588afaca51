//! The harness through its public interface.

mod architecture;
mod audit;
mod dependencies;
mod mechanisms;
mod private_records;
mod sensitivities;
