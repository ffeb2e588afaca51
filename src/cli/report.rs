//! `pgmbench report`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::report::{
    Experiment, HEADING, ReportError, find, page, reference_runs, reproduction,
};
use private_pgm::numeric::bytes::Bytes;

use super::count::Count;
use super::failure::Failure;
use super::output::{note, print};
use super::output_file::{ForceArgs, Input, OutputFile, Overwrite};

/// Advice if the file at `--out` or `--markdown` is not a report.
const FOREIGN: &str =
    "it is not a report of pgmbench; choose another name, or replace it with --force";

/// Make one HTML file of results: figures, tables, claims, ledgers, provenance
///
/// With --markdown, list the claims instead, with the paper's numbers, ours and the verdicts.
///
/// The page loads nothing, so that it can be sent around; it is for wide and narrow screens, light
/// and dark, and for paper.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
        pgmbench report\n  \
        pgmbench report fig1 fig2a --out figures.html\n  \
        pgmbench report results/reference/fig1 --out fig1.html\n  \
        pgmbench report --results results/reference --markdown claims.md")]
pub(crate) struct ReportArgs {
    /// Names of experiments, or folders of results [default: all that there are, but for the
    /// reference runs that are kept with the program]
    #[arg(value_name = "RESULTS")]
    names: Vec<PathBuf>,
    /// The file to write; a report that is there is replaced
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Write the claims to this file, as Markdown, and no HTML; a list that is there is replaced
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    markdown: Option<PathBuf>,
    /// Read DIR/NAME; without names, whatever in DIR has a manifest
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
}

/// Recognises the head of our own page.
fn is_report(beginning: &str) -> bool {
    beginning.contains("<meta name=\"generator\" content=\"pgmbench ")
}

/// Recognises the beginning of our own list of claims.
fn is_list(beginning: &str) -> bool {
    beginning.starts_with(HEADING)
}

/// The files of results in the folder of `out`, which the page must not overwrite. HTML files are
/// not results.
fn results_next_to(out: &Path) -> Vec<PathBuf> {
    let out = fs::canonicalize(out).unwrap_or_else(|_| out.into());
    let entries = out.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let files: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    let is_manifest = |file: &&PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("manifest."))
    };
    match files.iter().find(is_manifest) {
        Some(_) => {
            files.into_iter().filter(|file| file.extension() != Some("html".as_ref())).collect()
        }
        None => Vec::new(),
    }
}

impl ReportArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = self.markdown.as_ref().unwrap_or(&self.out);
        let results = results_next_to(path);
        let inputs: Vec<Input> =
            results.iter().map(|file| ("a file of results", &**file)).collect();
        let is_own: fn(&str) -> bool = if self.markdown.is_some() { is_list } else { is_report };
        let out = OutputFile::check(
            path,
            self.force.overwrite_or(Overwrite::Own(is_own, FOREIGN)),
            &inputs,
        )?;
        let experiments = match self.names.as_slice() {
            [] => {
                let found = find(&self.results).map_err(|error| Failure::Input(error.into()))?;
                if let Some(folder) = reference_runs(&self.results) {
                    let folder = folder.display();
                    note(format_args!(
                        "note: the reference runs in {folder} are left out; --results {folder} \
                         shows them"
                    ));
                }
                found
            }
            names => {
                let folder = |name: &PathBuf| match name.is_dir() {
                    true => name.clone(),
                    false => self.results.join(name),
                };
                names.iter().map(|name| read(&folder(name))).collect::<Result<_, _>>()?
            }
        };
        let text = match self.markdown {
            Some(_) => reproduction(&experiments),
            None => page(&experiments).map_err(|error| self.failure(error))?,
        };
        out.write(text.as_bytes())?;
        print(|output| {
            let count = Count(experiments.len(), "experiment");
            let size = Bytes(text.len() as f64);
            writeln!(output, "{}: {count}, {size}", path.display())
        })
    }

    /// Rendering errors are unexpected; all others come from the results.
    fn failure(&self, error: ReportError) -> Failure {
        match error {
            ReportError::Page(_) | ReportError::Table(_) => Failure::Unexpected(error.into()),
            error => Failure::Input(error.into()),
        }
    }
}

fn read(folder: &Path) -> Result<Experiment, Failure> {
    Experiment::read(folder).map_err(|error| Failure::Input(error.into()))
}
