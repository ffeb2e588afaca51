//! `pgmbench evaluate`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::comparison::{Comparison, Marginals, NoMarginal, Reference, WorkloadError, compare};
use pgmbench::data::{Dataset, Entry, Registry, read_labelled, read_synthetic};
use private_pgm::domain::Clique;
use private_pgm::model::Projectable;
use private_pgm::model::file::MAGIC;

use super::comparison_file::{check_name, write_comparison};
use super::engine_files::{is_standard, read_model};
use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};
use super::output_file::{ForceArgs, Input, OutputFile};
use pgmbench::limits;
use private_pgm::numeric::memory::read_at_most;
use std::fs::File;

/// Compare synthetic records with the data, or with a model
///
/// Prints total variation distances of all one- to three-way marginals, the worst marginals, the
/// correlations that differ most, and the workload error. A comparison with data is computed from
/// its true records: it is marked, and not for release. One with a model uses no true records.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench evaluate synthetic.csv --against mine/schema.toml --out comparison.html\n  \
    pgmbench evaluate synthetic.csv --against model.pgm --json")]
pub(crate) struct EvaluateArgs {
    /// The synthetic records, a CSV file with labels or in the form of the original; - for the
    /// standard input
    synthetic: PathBuf,
    /// The name of a data set, the path of a schema, or a model file
    #[arg(long, value_name = "DATA|MODEL")]
    against: String,
    /// The schema of the synthetic records, if they have the form of the original and are compared
    /// with a model
    #[arg(long)]
    schema: Option<String>,
    /// Write a page here, or a picture if the name ends in .svg or .png (repeatable)
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    /// Print a JSON object instead of a summary
    #[arg(long)]
    json: bool,
}

/// Marginals and pairs in the summary.
const SHOWN: usize = 5;

impl EvaluateArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let name = match is_standard(&self.synthetic) {
            true => "the standard input".to_string(),
            false => self.synthetic.display().to_string(),
        };
        let against = Path::new(&self.against);
        let comparison = match begins_as_model(against) {
            true => {
                let outputs = self.outputs(&[("the model", against)])?;
                let comparison = self.with_model(&name, against)?;
                outputs.iter().try_for_each(|file| write_comparison(file, &comparison))?;
                comparison
            }
            false => {
                let entry = Registry::default().entry(&self.against).input()?;
                let files = entry.files();
                let inputs: Vec<Input> =
                    files.iter().map(|(what, path)| (*what, &**path)).collect();
                let outputs = self.outputs(&inputs)?;
                let comparison = self.with_data(&name, &entry)?;
                outputs.iter().try_for_each(|file| write_comparison(file, &comparison))?;
                comparison
            }
        };
        match self.json {
            true => print_json(&comparison),
            false => print(|output| self.summarise(&comparison, output)),
        }
    }

    fn outputs(&self, inputs: &[Input]) -> Result<Vec<OutputFile>, Failure> {
        let mut inputs = inputs.to_vec();
        inputs.push(("the synthetic records", &self.synthetic));
        let check = |path: &PathBuf| {
            let file = OutputFile::check(path, self.force.overwrite(), &inputs)?;
            check_name(&file).map(|()| file)
        };
        self.out.iter().map(check).collect()
    }

    fn content(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let limit = limits::data_bytes();
        match is_standard(&self.synthetic) {
            true => read_at_most(io::stdin().lock(), limit),
            false => File::open(&self.synthetic).and_then(|file| read_at_most(file, limit)),
        }
        .input_at(format!("cannot read {name}"))
    }

    fn with_model(&self, name: &str, path: &Path) -> Result<Comparison, Failure> {
        let model = read_model(path)?;
        let calibrated = model.calibrate().input_at(path.display())?;
        let content = self.content(name)?;
        let records = match &self.schema {
            Some(schema) => {
                let entry = Registry::default().entry(schema).input()?;
                if entry.schema().domain() != model.domain() {
                    return Err(Failure::input(format!(
                        "--schema {schema}: its attributes are not those of {}",
                        path.display()
                    )));
                }
                read_synthetic(name, &content, entry.schema()).input()?
            }
            None => read_labelled(name, &content, model.domain()).input()?,
        };
        let reference =
            Reference { name: self.against.clone(), records: model.total(), is_true_data: false };
        let expected = |clique: &Clique| calibrated.marginal(clique).map_err(no_marginal);
        let pairs = model.domain().everything().subsets(2.min(model.domain().len()));
        let workload = ("all pairs", &pairs[..]);
        compared(name, &records, (reference, &expected), workload)
    }

    fn with_data(&self, name: &str, entry: &Entry) -> Result<Comparison, Failure> {
        let schema = entry.schema();
        let records = read_synthetic(name, &self.content(name)?, schema).input()?;
        let data = entry.load().input()?;
        let reference = Reference {
            name: schema.name.clone(),
            records: data.len() as f64,
            is_true_data: !data.provenance().stand_in,
        };
        let expected = |clique: &Clique| data.project(clique).map_err(no_marginal);
        let (workload, cliques) = match &schema.workload {
            Some(workload) => ("the three-way marginals of the schema", workload.triples.clone()),
            None => {
                let domain = schema.domain();
                ("all pairs", domain.everything().subsets(2.min(domain.len())))
            }
        };
        compared(name, &records, (reference, &expected), (workload, &cliques))
    }

    fn summarise(&self, comparison: &Comparison, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "note     {}", comparison.notice)?;
        for size in &comparison.sizes {
            writeln!(
                output,
                "{}-way    distance {:.3} on average, {:.3} at most ({} of {} marginals)",
                size.attributes, size.mean, size.largest, size.compared, size.sets
            )?;
        }
        if let Some(WorkloadError { workload, workload_error }) = &comparison.workload {
            writeln!(output, "workload error {workload_error:.3} on {workload}")?;
        }
        writeln!(output, "worst marginals")?;
        for marginal in comparison.marginals.iter().take(SHOWN) {
            writeln!(output, "  {:.3}  {}", marginal.distance, marginal.attributes.join(", "))?;
        }
        writeln!(output, "correlations that differ most (Cramer's V)")?;
        for pair in comparison.associations.iter().take(SHOWN) {
            writeln!(
                output,
                "  {:.3} instead of {:.3}  {}",
                pair.synthetic,
                pair.reference,
                pair.attributes.join(", ")
            )?;
        }
        for path in &self.out {
            writeln!(output, "written  {}", path.display())?;
        }
        Ok(())
    }
}

fn compared(
    name: &str,
    records: &Dataset,
    (reference, expected): (Reference, Marginals),
    workload: (&str, &[Clique]),
) -> Result<Comparison, Failure> {
    let found = |clique: &Clique| records.project(clique).map_err(no_marginal);
    let synthetic = (name, records.len(), &found as Marginals);
    compare(records.domain(), synthetic, (reference, expected), workload).input()
}

fn no_marginal(error: impl std::fmt::Display) -> NoMarginal {
    NoMarginal(error.to_string())
}

fn begins_as_model(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok()) && magic == MAGIC
}
