//! End to end: from files to records, and the datasets of the project.

mod counts;
mod importing;
mod paper_tables;
mod reading;
mod shipped;
