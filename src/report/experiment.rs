use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::error::ReportError;
use crate::config::FigureKind;
use crate::experiment::Analysis;
use crate::figures::Chart;
use crate::limits;
use crate::results::claims::Finding;
use crate::results::manifest::{Manifest, ManifestError};
use crate::results::store::{Recorded, StoreError, read_ledger};
use crate::results::summary::Summary;
use crate::results::{TraceRecord, TrialRecord};
use dp::Line;
use private_pgm::numeric::memory::read_at_most;
use std::fs::File;

/// The results of an experiment. Without rows, as in published results that omit them, summary,
/// claims and figure are those that the run wrote.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub(super) manifest: Manifest,
    /// Without stale rows, in the order of the configuration; `None` if the file is missing.
    pub(super) rows: Option<Vec<TrialRecord>>,
    pub(super) traces: Vec<TraceRecord>,
    /// The ledger lines of each release, by its key.
    pub(super) ledger: BTreeMap<String, Vec<Line>>,
    pub(super) summary: Summary,
    pub(super) findings: Vec<Finding>,
    pub(super) picture: Picture,
}

/// The source of the figure.
#[derive(Clone, Debug)]
pub(super) enum Picture {
    /// Drawn from the rows.
    Chart(Chart),
    /// As written by the run.
    Files {
        /// `figure.svg`.
        wide: String,
        /// `figure-column.svg`; earlier versions did not write it.
        narrow: Option<String>,
    },
    None,
}

impl Experiment {
    /// Reads the results in a folder and its shards; ignores stale rows.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        if !folder.is_dir() {
            return Err(ReportError::NoFolder { folder: folder.into() });
        }
        let manifest = Manifest::read(folder).map_err(|error| match error {
            ManifestError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                ReportError::NoManifest { folder: folder.into() }
            }
            error => error.into(),
        })?;
        match Recorded::read(folder) {
            Err(StoreError::NoResults { .. }) => Self::without_rows(folder, manifest),
            recorded => Self::from_rows(folder, manifest, recorded?),
        }
    }

    fn from_rows(
        folder: &Path,
        manifest: Manifest,
        recorded: Recorded,
    ) -> Result<Self, ReportError> {
        let ledger = read_ledger(folder)?;
        let Analysis { manifest, rows, traces, summary, findings, chart } =
            Analysis::of(manifest, recorded);
        let picture = chart.map_or(Picture::None, Picture::Chart);
        Ok(Self { manifest, rows: Some(rows), traces, ledger, summary, findings, picture })
    }

    fn without_rows(folder: &Path, manifest: Manifest) -> Result<Self, ReportError> {
        let failed = |file: &Path| {
            let file = file.to_path_buf();
            move |error| ReportError::Csv { file, error }
        };
        let (summary, claims) = (folder.join("summary.csv"), folder.join("claims.csv"));
        let summary = match summary.is_file() {
            true => Summary::read_csv(&summary).map_err(failed(&summary))?,
            false => Summary { groups: Vec::new() },
        };
        let findings = match claims.is_file() {
            true => crate::results::claims::read_claims(&claims).map_err(failed(&claims))?,
            false => Vec::new(),
        };
        let picture = |name: &str| {
            let file = folder.join(name);
            match File::open(&file).and_then(|open| read_at_most(open, limits::TEXT)) {
                Ok(svg) => Ok(String::from_utf8(svg).ok()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(ReportError::Io { file, error }),
            }
        };
        let narrow = picture("figure-column.svg")?;
        let wide = picture("figure.svg")?;
        let picture = wide.map_or(Picture::None, |wide| Picture::Files { wide, narrow });
        let (rows, traces, ledger) = (None, Vec::new(), BTreeMap::new());
        Ok(Self { manifest, rows, traces, ledger, summary, findings, picture })
    }

    pub fn name(&self) -> &str {
        self.manifest.name()
    }

    pub(super) fn figure_kind(&self) -> FigureKind {
        self.manifest.experiment.figure.kind
    }
}
