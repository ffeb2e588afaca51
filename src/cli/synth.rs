//! `pgmbench synth`.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pgmbench::estimation::model::{Model, Sampling};
use pgmbench::storage::NewFile;
use rand::rngs::SysRng;
use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;

use super::failure::{Blame, Failure};
use super::output::{check_output, print};

/// Draw synthetic records from a model
///
/// Writes a CSV file with a line of attribute names and one line of values for each record. The
/// same model, number of records, method and seed give the same file on every machine.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench synth model.pgm --records 1000 --seed 1 --out synthetic.csv")]
pub(crate) struct SynthArgs {
    /// The model, a file that `estimate` wrote
    model: PathBuf,
    /// The number of records [default: the model's total, rounded]
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Makes the draw repeatable [default: one from the operating system, which is printed]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Write the records to this file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How to draw
    #[arg(long, value_enum, default_value_t = Method::Independent)]
    method: Method,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// Each record on its own, as a sample of people would be
    Independent,
    /// All records together, so that their counts are the model's up to rounding
    Rounded,
}

impl SynthArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        check_output(&self.out, &[&self.model])?;
        let model = Model::read(&self.model).or_input(self.model.display())?;
        let records = self.records.unwrap_or(model.total().round() as usize);
        let seed = match self.seed {
            Some(seed) => seed,
            None => SysRng.try_next_u64().or_unexpected("no random numbers from the system")?,
        };
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let sampling = match self.method {
            Method::Independent => Sampling::Independent,
            Method::Rounded => Sampling::Rounded,
        };
        let columns = model
            .calibrate()
            .and_then(|calibrated| calibrated.synthesize(records, sampling, &mut rng))
            .or_input(self.model.display())?;
        self.write(&model, &columns, records)
            .or_unexpected(format!("cannot write {}", self.out.display()))?;
        print(|output| {
            let origin = match self.seed {
                Some(_) => "as given",
                None => "from the operating system; give it as --seed to draw the same again",
            };
            writeln!(output, "written  {}: {records} records", self.out.display())?;
            writeln!(output, "seed     {seed} ({origin})")
        })
    }

    fn write(&self, model: &Model, columns: &[Vec<u32>], records: usize) -> io::Result<()> {
        let domain = model.domain();
        let mut writer = csv::Writer::from_writer(NewFile::create(&self.out)?);
        writer.write_record(domain.declared().iter().map(|&id| domain.name(id)))?;
        for record in 0..records {
            for column in columns {
                writer.write_field(column[record].to_string())?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        let file = writer.into_inner().map_err(|error| error.into_error())?;
        file.commit()
    }
}
