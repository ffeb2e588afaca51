use private_pgm::fit::Settings;
use serde::{Deserialize, Serialize};

/// How an arm estimates: the settings of the engine, and how often to trace it.
///
/// Files are read through [`super::layers`], which knows lines and columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimation {
    #[serde(flatten)]
    pub settings: Settings,
    /// Record losses and workload error every so many iterations.
    pub trace: Option<usize>,
}

/// Our choice: `auto` is far below the noise by then, on data like the paper's.
const ITERATIONS: usize = 1000;

impl Default for Estimation {
    fn default() -> Self {
        let settings = Settings { iterations: Some(ITERATIONS), ..Settings::default() };
        Self { settings, trace: None }
    }
}

impl Estimation {
    /// The largest number of iterations, of whichever estimator.
    pub fn iterations(&self) -> usize {
        self.settings.iterations.unwrap_or(ITERATIONS)
    }
}
