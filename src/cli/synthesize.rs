//! `pgmbench synthesize`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours};
use pgmbench::budget_file::Request;
use pgmbench::data::{Availability, Dataset, Draft, Entry, Missing, Registry, Schema, StandIn};
use pgmbench::experiment::{SyntheticRelease, kept_guarantee, synthesize};
use private_pgm::factor::Projectable;
use serde_json::json;

use super::failure::{Failure, ResultExt};
use super::output::print;
use super::output_file::{ForceArgs, Input};
use super::privacy_args::{WeakPrivacyArgs, delta, epsilon};
use super::release_charge::{PaidRelease, budget_of};
use super::release_files::RecordFiles;

/// Release synthetic records of a data set under differential privacy
///
/// Measures all one-way marginals and a spanning tree of two-way marginals, chosen privately, fits a
/// graphical model and draws records from it. The randomness is the operating system's: a release
/// cannot be repeated, and takes no seed. Beside the records a file is written that says what they
/// guarantee, with every draw of noise. A release is never replaced. Where there is a budget file
/// (--budget, or `budget` in the schema), it is charged before any noise is drawn.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv --budget adult.budget")]
pub(crate) struct SynthesizeArgs {
    /// The name of a data set, or the path of a schema
    dataset: String,
    /// The epsilon of the release; at most 20 without --allow-weak-privacy
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Epsilon,
    /// The delta of the release: far below 1/n for n records, such as 1/n^2 or 1e-9
    #[arg(long, value_name = "D", value_parser = delta)]
    delta: Delta,
    /// Write the records to this CSV file, and the release's facts beside it
    #[arg(long, value_name = "FILE", required_unless_present = "stand_in")]
    out: Option<PathBuf>,
    /// Charge the release to this budget file [default: the one that the schema declares]
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,
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
    #[command(flatten)]
    weak: WeakPrivacyArgs,
    #[command(flatten)]
    force: ForceArgs,
}

/// Bytes for the tables of the model.
const MEMORY: u64 = 4 << 30;

const MECHANISM: &str = "spanning-tree";

impl SynthesizeArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.weak.check_epsilon(self.epsilon)?;
        let entry = Registry::default().entry(&self.dataset).input()?;
        self.refuse_draft(entry.schema())?;
        let budget = budget_of(&entry, self.budget.as_deref())?;
        let destination = self.destination(&entry, budget.as_deref())?;
        let kept = kept_guarantee(self.epsilon, self.delta, self.neighbours()).input()?;
        let request = Request {
            dataset: &entry.schema().name,
            neighbours: self.neighbours(),
            promised: (self.epsilon, self.delta).into(),
            kept,
            release: &destination.name(),
            mechanism: MECHANISM,
            date: "",
        };
        if let Some(budget) = &budget {
            PaidRelease::check(budget, &request)?;
        }
        let data = entry.load().input()?;
        self.weak.check_delta(self.delta, data.len())?;
        self.print_notes(&entry, budget.is_some());
        // From here on noise is drawn: what follows is paid for, whether it succeeds or not.
        let paid = budget.map(|budget| PaidRelease::charge(&budget, request)).transpose()?;
        let written = self.release(&entry, &data, &destination).inspect_err(|_| {
            paid.iter().for_each(PaidRelease::explain_failure);
        })?;
        if let Some(paid) = paid {
            paid.complete(written.records_blake3);
        }
        print(|output| output.write_all(written.summary.as_bytes()))
    }

    /// Bounds and values that were taken from the records would be published with them.
    fn refuse_draft(&self, schema: &Schema) -> Result<(), Failure> {
        match schema.draft {
            true => Err(Failure::input(format!(
                "{}: the schema is a draft, whose bounds and values were taken from the records; \
                 check {}; then remove the line `draft = true` by hand",
                self.dataset,
                Draft::CHECKS
            ))),
            false => Ok(()),
        }
    }

    fn destination(&self, entry: &Entry, budget: Option<&Path>) -> Result<Destination, Failure> {
        let files = entry.files();
        let mut inputs: Vec<Input> = files.iter().map(|(what, path)| (*what, &**path)).collect();
        inputs.extend(budget.map(|path| ("the budget file", path)));
        match &self.out {
            Some(out) => RecordFiles::check(out, true, self.force.overwrite(), &inputs)
                .map(Destination::Files),
            None => {
                let places = entry.stand_in_files();
                if let Some(place) = places.iter().find(|place| place.exists()) {
                    return Err(Failure::input(format!(
                        "there is a stand-in already, and a release is never replaced: move \
                         {} away",
                        place.parent().unwrap_or(place).display()
                    )));
                }
                Ok(Destination::StandIn)
            }
        }
    }

    fn print_notes(&self, entry: &Entry, has_budget: bool) {
        if !has_budget {
            eprintln!(
                "note: no budget file: nothing adds up several releases of {}; see `pgmbench \
                 budget create --help`",
                entry.schema().name
            );
        }
        if entry.availability() == Availability::StandIn {
            eprintln!("note: {} is a stand-in; its records are synthetic already", self.dataset);
        }
        if !self.add_remove && drops(entry.schema()) {
            eprintln!(
                "note: the schema leaves out records with missing values; the number of the others \
                 becomes public, unless --add-remove is given"
            );
        }
    }

    /// Draws and writes.
    fn release(
        &self,
        entry: &Entry,
        data: &Dataset,
        destination: &Destination,
    ) -> Result<Written, Failure> {
        let neighbours = self.neighbours();
        let release = synthesize(data, self.epsilon, self.delta, neighbours, self.records, MEMORY)
            .input_at(&self.dataset)?;
        match destination {
            Destination::Files(files) => self.write(files, entry.schema(), &release),
            Destination::StandIn => self.store(entry, &release),
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
        files: &RecordFiles,
        schema: &Schema,
        release: &SyntheticRelease,
    ) -> Result<Written, Failure> {
        let out = files.records_path().display();
        let failed = || format!("cannot write {out}");
        let records = &release.synthesis.records;
        let mut lines = Vec::new();
        release.ledger.write_json_lines(&mut lines).internal_at(failed())?;
        let lines = String::from_utf8(lines).internal_at(failed())?;
        let ledger: Vec<serde_json::Value> = lines
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .internal_at(failed())?;
        let mut csv = csv::Writer::from_writer(Vec::new());
        write_records(&mut csv, schema, records).internal_at(failed())?;
        let csv = csv.into_inner().map_err(|error| error.into_error()).internal_at(failed())?;
        let records_blake3 = blake3::hash(&csv).to_hex().to_string();
        files.write(&csv, || {
            json!({
                "dataset": schema.name,
                "records": records.len(),
                "records_blake3": records_blake3,
                "epsilon": self.epsilon.get(),
                "delta": self.delta.get(),
                "neighbours": self.neighbours(),
                "mechanism": MECHANISM,
                "randomness": release.randomness,
                "made_by": format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
                "ledger": ledger,
            })
        })?;
        let summary = format!(
            "written  {out}: {} synthetic records\n\
             private  ({}, {})-differentially, noise from the operating system; \
             {} lists {} draws\n",
            records.len(),
            self.epsilon.get(),
            self.delta.get(),
            files.facts_path().display(),
            release.ledger.lines().len()
        );
        Ok(Written { records_blake3, summary })
    }

    fn store(&self, entry: &Entry, release: &SyntheticRelease) -> Result<Written, Failure> {
        let made = StandIn {
            mechanism: MECHANISM.into(),
            epsilon: self.epsilon.get(),
            delta: self.delta.get(),
            neighbours: Some(word(&self.neighbours())),
            randomness: Some(word(&release.randomness)),
            made_by: format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
        };
        let records = &release.synthesis.records;
        let stored = entry.store_stand_in(records, made).internal()?;
        let folder = stored.folder.display();
        let summary = format!("stored   {} synthetic records in {folder}\n", records.len());
        Ok(Written { records_blake3: stored.manifest.records_blake3, summary })
    }
}

/// A release that is at its place.
struct Written {
    records_blake3: String,
    /// For the terminal.
    summary: String,
}

/// Where a release goes.
enum Destination {
    Files(RecordFiles),
    StandIn,
}

impl Destination {
    /// As a budget file names it.
    fn name(&self) -> String {
        match self {
            Self::Files(files) => files.records_path().display().to_string(),
            Self::StandIn => "stand-in".into(),
        }
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
