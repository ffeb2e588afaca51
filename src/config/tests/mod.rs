//! The syntax of experiment files, their meaning, and the errors for mistakes.

mod examples;
mod files;
mod mistakes;

use super::{ConfigError, Experiment, Source};

/// The shortest experiment.
const SHORT: &str = "\
name = \"mine\"
epsilon = 1
datasets = [\"adult\"]
[[mechanism]]
name = \"hdmm\"
";

fn source(text: &str) -> Source {
    Source { path: "configs/mine.toml".into(), text: text.into() }
}

fn parse(text: &str) -> Result<Experiment, ConfigError> {
    source(text).parse()
}
