//! `pgmbench report`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::numeric::bytes::Bytes;
use pgmbench::report::{Experiment, ReportError, find, page};
use pgmbench::storage::NewFile;

use super::failure::{Blame, Failure};
use super::output::{check_output, print};

/// Make one HTML file of results: figures, tables, claims, ledgers, provenance
///
/// The page loads nothing, so that it can be sent around; it is for wide and narrow screens, light and
/// dark, and for paper.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
        pgmbench report\n  \
        pgmbench report fig1 fig2a --out figures.html\n  \
        pgmbench report results/reference/fig1 --out fig1.html")]
pub(crate) struct ReportArgs {
    /// Names of experiments, or folders of results [default: all that there are]
    #[arg(value_name = "RESULTS")]
    names: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Read DIR/NAME; without names, whatever in DIR has a manifest
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

impl ReportArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        check_output(&self.out, &[])?;
        let experiments = match self.names.as_slice() {
            [] => find(&self.results).map_err(|error| Failure::Input(error.into()))?,
            names => {
                let folder = |name: &PathBuf| match name.is_dir() {
                    true => name.clone(),
                    false => self.results.join(name),
                };
                names.iter().map(|name| read(&folder(name))).collect::<Result<_, _>>()?
            }
        };
        let html = page(&experiments).map_err(|error| self.blamed(error))?;
        let written = NewFile::create(&self.out).and_then(|mut file| {
            file.write_all(html.as_bytes())?;
            file.commit()
        });
        written.or_unexpected(format!("cannot write {}", self.out.display()))?;
        print(|output| {
            let count = match experiments.len() {
                1 => "1 experiment".into(),
                count => format!("{count} experiments"),
            };
            let size = Bytes(html.len() as f64);
            writeln!(output, "{}: {count}, {size}", self.out.display())
        })
    }

    /// What the results say cannot be put on a page; or the page itself failed.
    fn blamed(&self, error: ReportError) -> Failure {
        match error {
            ReportError::Page(_) | ReportError::Table(_) => Failure::Unexpected(error.into()),
            error => Failure::Input(error.into()),
        }
    }
}

fn read(folder: &Path) -> Result<Experiment, Failure> {
    Experiment::read(folder).map_err(|error| Failure::Input(error.into()))
}
