use private_pgm::fit::Settings;
use serde::{Deserialize, Serialize};

/// How an arm estimates: the settings of the engine, and how often to trace it.
///
/// Files are read through `config::layers`, which keeps the spans of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimation {
    #[serde(flatten)]
    pub settings: Settings,
    /// Record losses and workload error every `trace` iterations.
    pub trace: Option<usize>,
}

/// Our choice: on data like the paper's, the optimisation error of `auto` is then far below the
/// noise.
const ITERATIONS: usize = 1000;

impl Default for Estimation {
    fn default() -> Self {
        let settings = Settings { iterations: Some(ITERATIONS), ..Settings::default() };
        Self { settings, trace: None }
    }
}

impl Estimation {
    /// The iteration limit, with its default.
    pub fn iterations(&self) -> usize {
        self.settings.iterations.unwrap_or(ITERATIONS)
    }
}
