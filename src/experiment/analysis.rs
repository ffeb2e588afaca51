//! From a configuration to summary, claims and figure.
//!
//! ```
//! use pgmbench::experiment::{Options, analyse};
//!
//! let folder = tempfile::tempdir()?;
//! let config = folder.path().join("mine.toml");
//! let text = "name = 'mine'\nepsilon = 1\nworkload = { every = 2 }
//! datasets = [{ name = 'bits', chain = { attributes = 3, records = 200 } }]
//! [[mechanism]]\nname = 'laplace'\narms = ['own', 'pgm']\n";
//! std::fs::write(&config, text)?;
//!
//! let analysis = analyse(&config, folder.path(), &Options::default())?;
//! assert_eq!(analysis.rows.len(), 2 * 5);
//! assert!(analysis.chart.is_some_and(|chart| !chart.panels.is_empty()));
//! assert!(folder.path().join("mine/figure.svg").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::recording::{Portion, Recording};
use super::{Filter, Options, Plan, PlanError, RunError, Silent};
use crate::config::{Claim, ConfigError, Overrides, Source};
use crate::data::Registry;
use crate::figures::{self, Chart, FigureError};
use crate::results::claims::{Finding, write_claims};
use crate::results::folder::{self, FolderError};
use crate::results::manifest::{Build, Manifest};
use crate::results::store::Recorded;
use crate::results::summary::Summary;
use crate::results::{TraceRecord, TrialRecord};

/// The results of an experiment and what follows from them.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub manifest: Manifest,
    /// The recorded rows that the manifest schedules, in its order.
    pub rows: Vec<TrialRecord>,
    pub traces: Vec<TraceRecord>,
    pub summary: Summary,
    /// One per claim of the configuration, in its order.
    pub findings: Vec<Finding>,
    /// `None` if the experiment has no figure.
    pub chart: Option<Chart>,
}

#[derive(Debug, Error)]
pub enum AnalysisError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Summary or claims cannot be written.
    #[error("{}: {error}", .file.display())]
    Io { file: PathBuf, error: io::Error },
    #[error(transparent)]
    Figure(#[from] FigureError),
}

/// Runs the trials of an experiment file that `results/NAME` does not have yet, and writes summary,
/// claims and figure there.
pub fn analyse(file: &Path, results: &Path, options: &Options) -> Result<Analysis, AnalysisError> {
    let source = Source::read(file)?;
    let plan = Plan::new(source, &Overrides::default(), &Registry::default(), &Filter::default())?;
    let recording = Recording::open(&plan, results, Portion::Whole)?;
    let folder = recording.folder().to_path_buf();
    recording.run(options, Build::of_library(), Vec::new(), &Silent)?;
    Analysis::write_in(&folder)
}

impl Analysis {
    /// Analyses recorded rows; ignores stale ones.
    pub fn of(manifest: Manifest, recorded: Recorded) -> Self {
        let keys = manifest.keys();
        let rows = recorded.rows_of(&keys);
        let keys: BTreeSet<&String> = keys.iter().collect();
        let mut traces = recorded.traces;
        traces.retain(|trace| keys.contains(&trace.key));
        let finding = |claim: &Claim| {
            claim.check_data(&manifest.datasets).unwrap_or_else(|| claim.check(&rows, &traces))
        };
        let claims = manifest.experiment.claims.iter();
        Self {
            summary: Summary::of(&rows),
            findings: claims.map(|claim| finding(claim.as_ref())).collect(),
            chart: figures::chart_of(&manifest, &rows, &traces),
            manifest,
            rows,
            traces,
        }
    }

    /// Analyses the results in a folder.
    pub fn read(folder: &Path) -> Result<Self, AnalysisError> {
        let (manifest, recorded) = folder::read(folder)?;
        Ok(Self::of(manifest, recorded))
    }

    /// Analyses the results in a folder and writes summary, claims and figure there.
    pub fn write_in(folder: &Path) -> Result<Self, AnalysisError> {
        let analysis = Self::read(folder)?;
        let failed = |file: &Path| {
            let file = file.to_path_buf();
            move |error| AnalysisError::Io { file, error }
        };
        let (summary, claims) = (folder.join("summary.csv"), folder.join("claims.csv"));
        analysis.summary.write_csv(&summary).map_err(failed(&summary))?;
        write_claims(&claims, &analysis.findings).map_err(failed(&claims))?;
        if let Some(chart) = &analysis.chart {
            figures::write(chart, folder)?;
        }
        Ok(analysis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Status;

    #[test]
    fn the_template_of_a_mechanism_runs_and_is_shown_under_its_title() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let text = "name = 'mine'\ntrials = 2\nepsilon = 1.0\ndatasets = ['titanic']\n\
                    [workload]\nmarginals = [['Sex', 'Pclass'], ['Survived', 'Pclass']]\n\
                    [[mechanism]]\nname = 'template'\nparameters = { power = 0.5 }\n\
                    arms = ['own', 'lls', 'pgm']\n";
        std::fs::write(&file, text).unwrap();
        let results = folder.path().join("results");
        let options = Options { threads: 1, jobs: 1, ..Options::default() };
        let analysis = analyse(&file, &results, &options).unwrap();
        assert_eq!(analysis.rows.len(), 6);
        assert!(analysis.rows.iter().all(|row| row.status == Status::Done));
        assert_eq!(analysis.chart.unwrap().panels[0].title, "Template");
        let table = std::fs::read_to_string(results.join("mine/summary.csv")).unwrap();
        assert!(table.contains("template"), "{table}");
    }
}
