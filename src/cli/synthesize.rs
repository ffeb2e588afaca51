//! `pgmbench synthesize`.

use std::path::{Path, PathBuf};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours};
use pgmbench::budget_file::Request;
use pgmbench::data::{Dataset, Entry, RecordWriter, Registry, ValueForm};
use pgmbench::experiment::{kept_guarantee, synthesize};

use super::failure::{Failure, ResultExt};
use super::output::print;
use super::output_file::{ForceArgs, Input};
use super::privacy_args::{WeakPrivacyArgs, delta, epsilon};
use super::release_charge::{PaidRelease, budget_of};
use super::release_files::RecordFiles;
use super::release_notes::{print_release_notes, refuse_draft};
use super::release_output::{Destination, MECHANISM, ReleaseTerms, Written};
use super::values_args::ValuesArgs;

/// Release synthetic records of a data set under differential privacy
///
/// Measures all one-way marginals and a privately chosen spanning tree of two-way marginals, fits a
/// graphical model and draws records from it. The randomness is the operating system's: a release
/// has no seed and cannot be repeated. A second file, next to the records, states the guarantee and
/// lists every draw of noise. A release is never replaced. The budget file (--budget, or `budget`
/// in the schema) is charged before any noise is drawn.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv --budget adult.budget\n  \
    pgmbench synthesize mine/schema.toml --epsilon 1 --delta 1e-9 --out synthetic.csv --values uniform")]
pub(crate) struct SynthesizeArgs {
    /// The name of a data set, or the path of a schema
    dataset: String,
    /// Epsilon of the release, at most 20 without --allow-weak-privacy
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Epsilon,
    /// Delta of the release, far below 1/n for n records, such as 1/n^2 or 1e-9
    #[arg(long, value_name = "D", value_parser = delta)]
    delta: Delta,
    /// Write the records to this CSV file, and the facts of the release next to it
    #[arg(long, value_name = "FILE", required_unless_present = "stand_in")]
    out: Option<PathBuf>,
    /// Charge the release to this budget file [default: the one that the schema declares]
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,
    /// Number of records [default: as in the data; a noisy count with --add-remove]
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Store the records next to the schema, as a stand-in for data that must not be distributed
    #[arg(long, conflicts_with = "out")]
    stand_in: bool,
    /// Neighbouring data sets differ by an added or removed record [default: a replaced record];
    /// the number of records is then private too
    #[arg(long)]
    add_remove: bool,
    #[command(flatten)]
    values: ValuesArgs,
    #[command(flatten)]
    weak: WeakPrivacyArgs,
    #[command(flatten)]
    force: ForceArgs,
}

/// Memory limit for the tables of the model, in bytes.
const MEMORY: u64 = 4 << 30;

impl SynthesizeArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.weak.check_epsilon(self.epsilon)?;
        let entry = Registry::default().entry(&self.dataset).input()?;
        refuse_draft(&self.dataset, entry.schema())?;
        let budget = budget_of(&entry, self.budget.as_deref())?;
        let destination = self.destination(&entry, budget.as_deref())?;
        let ReleaseTerms { epsilon, delta, neighbours } = self.terms();
        let kept = kept_guarantee(epsilon, delta, neighbours).input()?;
        let request = Request {
            dataset: &entry.schema().name,
            neighbours,
            promised: (epsilon, delta).into(),
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
        print_release_notes(&entry, &self.dataset, budget.is_some(), self.add_remove);
        // From here on noise is drawn, so the charge remains even if a later step fails.
        let paid = budget.map(|budget| PaidRelease::charge(&budget, request)).transpose()?;
        let written = self.release(&entry, &data, &destination).inspect_err(|_| {
            paid.iter().for_each(PaidRelease::explain_failure);
        })?;
        if let Some(paid) = paid {
            paid.complete(written.records_blake3);
        }
        print(|output| output.write_all(written.summary.as_bytes()))
    }

    fn destination(&self, entry: &Entry, budget: Option<&Path>) -> Result<Destination, Failure> {
        let files = entry.files();
        let mut inputs: Vec<Input> = files.iter().map(|(what, path)| (*what, &**path)).collect();
        inputs.extend(budget.map(|path| ("the budget file", path)));
        match &self.out {
            Some(out) => {
                let form = self.values.form().unwrap_or(ValueForm::Label);
                RecordWriter::new(entry.schema(), form, None).input_at("--values")?;
                RecordFiles::check(out, true, self.force.overwrite(), &inputs)
                    .map(|files| Destination::Files(files, form))
            }
            None => {
                let places = entry.stand_in_files();
                if let Some(place) = places.iter().find(|place| place.exists()) {
                    return Err(Failure::input(format!(
                        "there is a stand-in already, and a release is never replaced; move {} \
                         to another place",
                        place.parent().unwrap_or(place).display()
                    )));
                }
                Ok(Destination::StandIn)
            }
        }
    }

    fn release(
        &self,
        entry: &Entry,
        data: &Dataset,
        destination: &Destination,
    ) -> Result<Written, Failure> {
        let ReleaseTerms { epsilon, delta, neighbours } = self.terms();
        let release = synthesize(data, epsilon, delta, neighbours, self.records, MEMORY)
            .input_at(&self.dataset)?;
        destination.write(entry, &self.terms(), &release)
    }

    fn terms(&self) -> ReleaseTerms {
        let neighbours = match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        ReleaseTerms { epsilon: self.epsilon, delta: self.delta, neighbours }
    }
}
