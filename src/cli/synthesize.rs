//! `pgmbench synthesize`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours};
use pgmbench::data::{Availability, Dataset, Entry, Missing, Registry, Schema, StandIn};
use pgmbench::experiment::{SyntheticRelease, synthesize};
use pgmbench::storage::NewFile;
use private_pgm::factor::Projectable;
use serde_json::json;

use super::budget::{delta, epsilon};
use super::failure::{Blame, Failure};
use super::output::{check_output, facts_path, print};

/// Release synthetic records of a data set under differential privacy
///
/// Measures all one-way marginals and a spanning tree of two-way marginals, chosen privately, fits a
/// graphical model and draws records from it. The randomness is the operating system's: a release
/// cannot be repeated, and takes no seed. Beside the records a file is written that says what they
/// guarantee, with every draw of noise.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv")]
pub(crate) struct SynthesizeArgs {
    /// The name of a data set, or the path of a schema
    dataset: String,
    /// The budget
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Epsilon,
    /// The budget's delta, far below one over the number of records
    #[arg(long, value_name = "D", value_parser = delta)]
    delta: Delta,
    /// Write the records to this CSV file, and the release's facts beside it
    #[arg(long, value_name = "FILE", required_unless_present = "stand_in")]
    out: Option<PathBuf>,
    /// The number of records [default: as many as there are, by noisy counts with --add-remove]
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Store the records beside the schema, to stand in for data that may not be passed on
    #[arg(long, conflicts_with = "out")]
    stand_in: bool,
    /// Neighbours differ by a record that is added or removed, rather than replaced; the number of
    /// records is then private too
    #[arg(long)]
    add_remove: bool,
}

/// Bytes for the tables of the model.
const MEMORY: u64 = 4 << 30;

impl SynthesizeArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(out) = &self.out {
            check_output(out, &[])?;
            check_output(&facts_path(out), &[("the file with the records", out)])?;
        }
        let entry = Registry::default().entry(&self.dataset).blame_input()?;
        if entry.availability() == Availability::StandIn {
            eprintln!("note: {} is a stand-in; its records are synthetic already", self.dataset);
        }
        if !self.add_remove && drops(entry.schema()) {
            eprintln!(
                "note: the schema leaves out records with missing values; the number of the others \
                 becomes public, unless --add-remove is given"
            );
        }
        let data = entry.load().blame_input()?;
        let neighbours = self.neighbours();
        let release = synthesize(&data, self.epsilon, self.delta, neighbours, self.records, MEMORY)
            .or_input(&self.dataset)?;
        match &self.out {
            Some(out) => self.write(out, entry.schema(), &release),
            None => self.store(&entry, &release),
        }
    }

    fn neighbours(&self) -> Neighbours {
        match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        }
    }

    fn write(
        &self,
        out: &Path,
        schema: &Schema,
        release: &SyntheticRelease,
    ) -> Result<(), Failure> {
        let failed = || format!("cannot write {}", out.display());
        let records = &release.synthesis.records;
        let facts = facts_path(out);
        let mut lines = Vec::new();
        release.ledger.write_json_lines(&mut lines).or_unexpected(failed())?;
        let lines = String::from_utf8(lines).or_unexpected(failed())?;
        let ledger: Vec<serde_json::Value> = lines
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .or_unexpected(failed())?;
        let mut csv = csv::Writer::from_writer(Vec::new());
        write_records(&mut csv, schema, records).or_unexpected(failed())?;
        let csv = csv.into_inner().map_err(|error| error.into_error()).or_unexpected(failed())?;
        let written = json!({
            "dataset": schema.name,
            "records": records.len(),
            "records_blake3": blake3::hash(&csv).to_hex().as_str(),
            "epsilon": self.epsilon.get(),
            "delta": self.delta.get(),
            "neighbours": self.neighbours(),
            "mechanism": "spanning-tree",
            "randomness": release.randomness,
            "made_by": format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
            "ledger": ledger,
        });
        let save = || -> io::Result<()> {
            let mut table = NewFile::create(out)?;
            table.write_all(&csv)?;
            let mut file = NewFile::create(&facts)?;
            serde_json::to_writer_pretty(&mut file, &written)?;
            file.write_all(b"\n")?;
            table.commit()?;
            file.commit()
        };
        save().or_unexpected(failed())?;
        print(|output| {
            writeln!(output, "written  {}: {} synthetic records", out.display(), records.len())?;
            writeln!(
                output,
                "private  ({}, {})-differentially, noise from the operating system; {} lists {} draws",
                self.epsilon.get(),
                self.delta.get(),
                facts.display(),
                release.ledger.lines().len()
            )
        })
    }

    fn store(&self, entry: &Entry, release: &SyntheticRelease) -> Result<(), Failure> {
        let made = StandIn {
            mechanism: "spanning-tree".into(),
            epsilon: self.epsilon.get(),
            delta: self.delta.get(),
            neighbours: Some(word(&self.neighbours())),
            randomness: Some(word(&release.randomness)),
            made_by: format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
        };
        let records = &release.synthesis.records;
        let folder = entry.store_stand_in(records, made).blame_machine()?;
        print(|output| {
            writeln!(output, "stored   {} synthetic records in {}", records.len(), folder.display())
        })
    }
}

/// A variant as it is spelled in files.
fn word(variant: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().to_string()
}

/// Whether records with missing values are left out.
fn drops(schema: &Schema) -> bool {
    schema.attributes().iter().any(|attribute| attribute.missing == Missing::Drop)
}

/// The values as the schema names them.
fn write_records<W: io::Write>(
    csv: &mut csv::Writer<W>,
    schema: &Schema,
    records: &Dataset,
) -> io::Result<()> {
    let declared = records.domain().declared();
    csv.write_record(schema.attributes().iter().map(|attribute| attribute.name.as_str()))?;
    let labels: Vec<Vec<String>> = schema
        .attributes()
        .iter()
        .map(|attribute| {
            let codes = 0..attribute.size() as u32;
            codes.map(|code| attribute.label(code).unwrap_or_default()).collect()
        })
        .collect();
    for record in 0..records.len() {
        let fields = declared.iter().zip(&labels);
        csv.write_record(
            fields.map(|(&id, labels)| labels[records.code(record, id) as usize].as_str()),
        )?;
    }
    Ok(())
}
