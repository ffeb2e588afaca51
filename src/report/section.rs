use super::claims;
use super::downloads::{self, Download};
use super::error::ReportError;
use super::experiment::Experiment;
use super::figure::Figure;
use super::table::Table;
use super::{ledger, numbers, provenance, question, troubles};
use crate::figures::labels;

/// What the page says about an experiment.
pub(super) struct Section {
    /// One of a kind on the page; ids inside the section begin with it.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) question: String,
    /// How much of it is there.
    pub(super) state: String,
    /// The data that made-up records stand in for.
    pub(super) standins: Vec<String>,
    pub(super) verdicts: String,
    pub(super) figure: Option<Figure>,
    pub(super) claims: Table,
    pub(super) numbers: Table,
    /// What the marks in the numbers mean, where there are any.
    pub(super) about_marks: Option<String>,
    pub(super) about_intervals: Option<String>,
    pub(super) troubles: Table,
    pub(super) ledger: Table,
    pub(super) datasets: Table,
    pub(super) runs: Table,
    pub(super) configuration: String,
    pub(super) configuration_blake3: String,
    pub(super) downloads: Vec<Download>,
}

impl Section {
    /// Of the results of an experiment of which the page has `before` others already.
    pub(super) fn new(experiment: &Experiment, before: usize) -> Result<Self, ReportError> {
        let manifest = &experiment.manifest;
        let name: String = manifest.name().chars().map(of_an_id).collect();
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
            verdicts: claims::tally(&experiment.findings),
            claims: claims::table(part("claims"), &experiment.findings),
            numbers: numbers::table(part("numbers"), experiment),
            about_marks: numbers::about_marks(experiment),
            about_intervals: numbers::about_intervals(experiment),
            troubles: troubles::table(part("troubles"), experiment),
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

/// Names of experiments are lower-case letters, digits and hyphens; whatever else a manifest has
/// becomes a hyphen.
fn of_an_id(character: char) -> char {
    if character.is_ascii_alphanumeric() { character } else { '-' }
}

/// Such as `180 of 225 arms have run`.
fn state(experiment: &Experiment) -> String {
    let asked = experiment.manifest.arms().len();
    let counted = match &experiment.rows {
        Some(rows) => rows.len(),
        None => {
            let endings = experiment.summary.groups.iter().map(|group| group.endings);
            endings.map(|e| e.done + e.infeasible + e.timeout + e.failed).sum()
        }
    };
    let here = match (asked, counted) {
        (0, 0) => "Nothing to run: a table of the data.".into(),
        (_, 0) => format!("None of its {asked} arms have run."),
        (_, counted) if counted < asked => {
            format!(
                "{counted} of its {asked} arms have run; what is not there yet is missing below."
            )
        }
        _ => format!("All of its {asked} arms have run."),
    };
    match experiment.rows {
        Some(_) => here,
        None => format!("{here} Its single trials are not here; the summary is that of the run."),
    }
}
