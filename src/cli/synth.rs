//! `pgmbench synth`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dp::Provenance;
use pgmbench::data::{Entry, RecordWriter, Registry, ValueForm};
use pgmbench::spreadsheet::field;
use private_pgm::domain::{AttributeId, Labels};
use private_pgm::fit::default_memory_limit;
use private_pgm::model::{Model, Sampling};
use private_pgm::numeric::bytes::Bytes;
use rand::rngs::SysRng;
use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;
use serde_json::json;

use super::count::Count;
use super::engine_files::{is_standard, read_model};
use super::failure::{Failure, ResultExt};
use super::output::{note, print, print_data};
use super::output_file::{ForceArgs, facts_path};
use super::release_files::RecordFiles;
use super::values_args::ValuesArgs;

/// Draw synthetic records from a model
///
/// Writes a CSV file with a header and one line per record. The same model, number of records,
/// method and seed give the same file on every machine.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench synth model.pgm --records 1000 --seed 1 --out synthetic.csv")]
pub(crate) struct SynthArgs {
    /// The model, a file that `estimate` wrote; - for the standard input
    model: PathBuf,
    /// Number of records [default: the model's total, rounded]
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Seed, for a reproducible draw [default: a random one, which is printed]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Use the operating system's randomness, so that the draw cannot be repeated, and record this
    /// in a file next to the records
    #[arg(long, conflicts_with = "seed")]
    release: bool,
    /// Write the records to this file; - for the standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The data set, or the path of the schema, that the model is about; --values midpoint and
    /// uniform need it
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    #[command(flatten)]
    values: ValuesArgs,
    /// Sampling method
    #[arg(long, value_enum, default_value_t = Method::Independent)]
    method: Method,
    #[command(flatten)]
    force: ForceArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// Independent records
    Independent,
    /// Dependent records, whose counts are those of the model up to rounding
    Rounded,
}

impl SynthArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let inputs = [("the model", &*self.model)];
        let files = match is_standard(&self.out) {
            true if self.release => {
                return Err(Failure::input(
                    "--release: a release has a file with its facts next to it; write the records \
                     to a file instead of the standard output",
                ));
            }
            true => None,
            false => {
                let overwrite = self.force.overwrite();
                Some(RecordFiles::check(&self.out, self.release, overwrite, &inputs)?)
            }
        };
        let model = read_model(&self.model)?;
        if let Some(origin) = model.origin().filter(|origin| !origin.oracle_is_exact) {
            note(format_args!(
                "note: this model was estimated with the {} oracle; the records follow the exact \
                 distribution of its potentials, whose marginals are not those that were estimated",
                origin.oracle
            ));
        }
        let entry = self.entry(&model)?;
        let records = self.records.unwrap_or(model.total().round() as usize);
        check_size(&model, records)?;
        let unavailable = "cannot read random numbers from the operating system";
        let seed = match (self.release, self.seed) {
            (true, _) => None,
            (false, Some(seed)) => Some(seed),
            (false, None) => Some(SysRng.try_next_u64().internal_at(unavailable)?),
        };
        let mut rng = match seed {
            Some(seed) => ChaCha20Rng::seed_from_u64(seed),
            None => ChaCha20Rng::try_from_rng(&mut SysRng).internal_at(unavailable)?,
        };
        let sampling = match self.method {
            Method::Independent => Sampling::Independent,
            Method::Rounded => Sampling::Rounded,
        };
        let columns = model
            .calibrate()
            .and_then(|calibrated| calibrated.synthesize(records, sampling, &mut rng))
            .input_at(self.model.display())?;
        let csv = match &entry {
            Some((entry, form)) => {
                let writer = RecordWriter::new(entry.schema(), *form, entry.columns().input()?);
                writer.input_at("--values")?.write(&columns, &mut rng)
            }
            None => csv(&model, &columns, records, self.values.form() == Some(ValueForm::Code)),
        };
        let csv = csv.internal_at(format!("cannot write {}", self.out.display()))?;
        let Some(files) = files else {
            print_data(|output| output.write_all(&csv))?;
            // The standard output is the records.
            let mut summary = Vec::new();
            let _ = self.summarise(records, seed, &mut summary);
            note(String::from_utf8_lossy(&summary).trim_end());
            return Ok(());
        };
        files.write(&csv, || self.facts(&csv, records))?;
        print(|output| self.summarise(records, seed, output))
    }

    fn summarise(
        &self,
        records: usize,
        seed: Option<u64>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(output, "written  {}: {}", self.out.display(), Count(records, "record"))?;
        match (seed, self.seed) {
            (Some(seed), Some(_)) => writeln!(output, "seed     {seed} (from --seed)"),
            (Some(seed), None) => writeln!(
                output,
                "seed     {seed} (from the operating system; --seed {seed} draws the same records)"
            ),
            (None, _) => writeln!(
                output,
                "random   from the operating system, as recorded in {}",
                facts_path(&self.out).display()
            ),
        }
    }

    /// The dataset of --schema, whose attributes must be those of the model, and the form of
    /// values.
    fn entry(&self, model: &Model) -> Result<Option<(Entry, ValueForm)>, Failure> {
        let Some(schema) = &self.schema else {
            return match self.values.form() {
                Some(ValueForm::Midpoint | ValueForm::Uniform) => Err(Failure::input(
                    "--values: the form of the original file is in its schema; name it with \
                     --schema",
                )),
                _ => Ok(None),
            };
        };
        let entry = Registry::default().entry(schema).input()?;
        let of_model = model.domain().declared().iter();
        let of_model = of_model.map(|&id| (model.domain().name(id), model.domain().size(id)));
        let attributes = entry.schema().attributes().iter().map(|a| (a.name.as_str(), a.size()));
        if !of_model.clone().eq(attributes.clone()) {
            let difference = attributes.zip(of_model).find(|(one, other)| one != other);
            let difference = difference.map_or("their number differs".into(), |(one, other)| {
                format!("{:?} has {} values, {:?} has {}", one.0, one.1, other.0, other.1)
            });
            return Err(Failure::input(format!(
                "--schema {schema}: its attributes are not those of {}: {difference}",
                self.model.display()
            )));
        }
        let form = self.values.form().unwrap_or(ValueForm::Label);
        RecordWriter::new(entry.schema(), form, None).input_at("--values")?;
        Ok(Some((entry, form)))
    }

    /// The facts of a release. Measuring the model's answers has spent the budget; drawing records
    /// from the model costs nothing.
    fn facts(&self, csv: &[u8], records: usize) -> serde_json::Value {
        json!({
            "records": records,
            "records_blake3": blake3::hash(csv).to_hex().as_str(),
            "drawn_from": "a model, without looking at the data",
            "randomness": Provenance::OperatingSystem,
            "made_by": format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
        })
    }
}

/// With the labels of the model, if it has any and `codes` does not ask for numbers.
fn csv(model: &Model, columns: &[Vec<u32>], records: usize, codes: bool) -> io::Result<Vec<u8>> {
    let domain = model.domain();
    let labels = |&id: &AttributeId| domain.labels(id).filter(|_| !codes).map(Labels::names);
    let labels: Vec<Option<&[String]>> = domain.declared().iter().map(labels).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(domain.declared().iter().map(|&id| field(domain.name(id)).into_owned()))?;
    for record in 0..records {
        for (column, labels) in columns.iter().zip(&labels) {
            match labels {
                Some(labels) => writer.write_field(&*field(&labels[column[record] as usize]))?,
                None => writer.write_field(column[record].to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}

/// Refuses records that exceed the memory limit: four bytes per value, plus its digits and a comma.
fn check_size(model: &Model, records: usize) -> Result<(), Failure> {
    let domain = model.domain();
    let digits = |id| (domain.size(id) - 1).max(1).ilog10() + 1;
    let of_one: u32 = domain.ids().map(|id| 4 + digits(id) + 1).sum();
    let (needed, limit) = (records as f64 * f64::from(of_one), default_memory_limit());
    match needed > limit as f64 {
        true => Err(Failure::input(format!(
            "--records: {records} records need {}, more than half of this machine's memory ({}); \
             draw them into several files with different seeds",
            Bytes(needed),
            Bytes(limit as f64)
        ))),
        false => Ok(()),
    }
}
