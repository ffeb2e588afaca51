use super::claims;
use super::downloads::{self, Download};
use super::error::ReportError;
use super::experiment::Experiment;
use super::figure::Figure;
use super::table::Table;
use super::{failures, ledger, numbers, provenance, question};
use crate::figures::labels;
use crate::results::claims::tally;
use crate::results::summary::Endings;

/// The part of the page about one experiment.
pub(super) struct Section {
    /// Unique on the page; the prefix of all ids in the section.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) question: String,
    /// How many arms have run.
    pub(super) state: String,
    /// The datasets whose records are stand-ins.
    pub(super) standins: Vec<String>,
    pub(super) verdicts: String,
    pub(super) figure: Option<Figure>,
    pub(super) claims: Table,
    pub(super) numbers: Table,
    /// What the marks in the numbers mean, if there are any.
    pub(super) about_marks: Option<String>,
    pub(super) about_intervals: Option<String>,
    pub(super) failures: Table,
    pub(super) ledger: Table,
    pub(super) datasets: Table,
    pub(super) runs: Table,
    pub(super) configuration: String,
    pub(super) configuration_blake3: String,
    pub(super) downloads: Vec<Download>,
}

impl Section {
    /// `before` is the number of earlier sections about an experiment of the same name.
    pub(super) fn new(experiment: &Experiment, before: usize) -> Result<Self, ReportError> {
        let manifest = &experiment.manifest;
        let name: String = manifest.name().chars().map(id_character).collect();
        let id = match before {
            0 => format!("of-{name}"),
            _ => format!("of-{name}--{}", before + 1),
        };
        let part = |part: &str| format!("{id}-{part}-table");
        let figure = Figure::of(experiment);
        let standins = manifest.datasets.iter().filter(|data| data.standin);
        let files = downloads::of(experiment, figure.as_ref().map(|figure| figure.file.as_str()))?;
        Ok(Self {
            title: manifest.experiment.title.clone(),
            name: manifest.name().into(),
            question: question::of(experiment),
            state: state(experiment),
            standins: standins.map(|data| labels::dataset(&data.name)).collect(),
            verdicts: tally(&experiment.findings),
            claims: claims::table(part("claims"), &experiment.findings),
            numbers: numbers::table(part("numbers"), experiment),
            about_marks: numbers::about_marks(experiment),
            about_intervals: numbers::about_intervals(experiment),
            failures: failures::table(part("troubles"), experiment),
            ledger: ledger::table(part("ledger"), experiment),
            datasets: provenance::datasets(part("datasets"), experiment),
            runs: provenance::runs(part("runs"), experiment),
            configuration: manifest.configuration_text.clone(),
            configuration_blake3: manifest.configuration_blake3.clone(),
            downloads: files,
            figure,
            id,
        })
    }
}

/// Names of experiments consist of lower-case letters, digits and hyphens. A manifest may contain
/// any other character, which becomes a hyphen.
fn id_character(character: char) -> char {
    if character.is_ascii_alphanumeric() { character } else { '-' }
}

/// For example `180 of its 225 arms have run`.
fn state(experiment: &Experiment) -> String {
    let scheduled = experiment.manifest.arms().len();
    let counted = match &experiment.rows {
        Some(rows) => rows.len(),
        None => {
            let endings = experiment.summary.groups.iter().map(|group| group.endings);
            endings.map(Endings::count).sum()
        }
    };
    let progress = match (scheduled, counted) {
        (0, 0) => "Nothing to run: a table of the data.".into(),
        (_, 0) => format!("None of its {scheduled} arms have run."),
        (_, counted) if counted < scheduled => {
            format!(
                "{counted} of its {scheduled} arms have run; what is not there yet is missing \
                 below."
            )
        }
        _ => format!("All of its {scheduled} arms have run."),
    };
    match experiment.rows {
        Some(_) => progress,
        None => {
            format!("{progress} Its single trials are not here; the summary is that of the run.")
        }
    }
}
