//! `pgmbench synthesize`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dp::{Delta, Epsilon, Neighbours, ParameterError};
use pgmbench::budget_file::Request;
use pgmbench::comparison::{
    Comparison, Marginals, NoMarginal, NoisyMarginal, compare_with_answers,
};
use pgmbench::data::{Dataset, Entry, RecordWriter, Registry, ValueForm};
use pgmbench::experiment::{ReleaseMechanism, SynthesisRequest, SyntheticRelease, synthesize};
use private_pgm::domain::{AttributeId, Clique};
use private_pgm::model::Projectable;

use super::comparison_file::{check_name, write_comparison};
use super::failure::{Failure, ResultExt};
use super::output::{note, print};
use super::output_file::{ForceArgs, Input, OutputFile, facts_path};
use super::privacy_args::{WeakPrivacyArgs, delta, epsilon};
use super::release_charge::{PaidRelease, budget_of};
use super::release_files::RecordFiles;
use super::release_notes::{print_release_notes, refuse_draft};
use super::release_output::{Destination, ReleaseTerms, Written};
use super::values_args::ValuesArgs;

/// Release synthetic records of a data set under differential privacy
///
/// Measures marginals that the mechanism chooses privately, fits a graphical model to them and
/// draws records from it. The randomness is the operating system's: a release has no seed and
/// cannot be repeated. A second file, next to the records, states the guarantee and lists every
/// draw of noise. A release is never replaced. The budget file (--budget, or `budget` in the
/// schema) is charged before any noise is drawn.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv --mechanism mst\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv \\\n    \
    --quality quality.html\n  \
    pgmbench synthesize adult --epsilon 1 --delta 1e-9 --out synthetic.csv \\\n    \
    --budget adult.budget\n  \
    pgmbench synthesize mine/schema.toml --epsilon 1 --delta 1e-9 --out synthetic.csv \\\n    \
    --values uniform")]
pub(crate) struct SynthesizeArgs {
    /// The name of a data set, or the path of a schema
    dataset: String,
    /// Epsilon of the release, at most 20 without --allow-weak-privacy
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = epsilon)]
    epsilon: Epsilon,
    /// Delta of the release, far below 1/n for n records, such as 1/n^2 or 1e-9
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = gaussian_delta)]
    delta: Delta,
    /// What chooses the marginals
    #[arg(long, value_enum, default_value_t)]
    mechanism: Mechanism,
    /// aim: aim at the marginals of all sets of this many attributes
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = degree)]
    workload: usize,
    /// Write the records to this CSV file, and the facts of the release next to it
    #[arg(long, value_name = "FILE", required_unless_present = "stand_in")]
    out: Option<PathBuf>,
    /// Charge the release to this budget file [default: the one that the schema declares]
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,
    /// Write a page here that compares one- and two-way marginals of the records with the noisy
    /// answers, or a picture if the name ends in .svg or .png; uses no true records
    #[arg(long, value_name = "FILE")]
    quality: Option<PathBuf>,
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

#[derive(Clone, Copy, Default, ValueEnum)]
enum Mechanism {
    /// In rounds, the marginal that the model gets wrong most
    #[default]
    Aim,
    /// A spanning tree of two-way marginals; faster
    Mst,
}

fn degree(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(degree @ 1..=8) => Ok(degree),
        _ => Err("expected a number of attributes from 1 to 8".into()),
    }
}

/// Both mechanisms add Gaussian noise.
fn gaussian_delta(text: &str) -> Result<Delta, String> {
    delta(text).map_err(|error| match text.parse::<f64>() {
        Ok(0.0) => format!("{error}: the noise is Gaussian; choose a delta such as 1e-9"),
        _ => error,
    })
}

/// Memory limit for the tables of the model, in bytes.
const MEMORY: u64 = 4 << 30;

impl SynthesizeArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.weak.check_epsilon(self.epsilon)?;
        let entry = Registry::default().entry(&self.dataset).input()?;
        refuse_draft(&self.dataset, entry.schema())?;
        let budget = budget_of(&entry, self.budget.as_deref())?;
        let files = entry.files();
        let mut inputs: Vec<Input> = files.iter().map(|(what, path)| (*what, &**path)).collect();
        inputs.extend(budget.iter().map(|path| ("the budget file", &**path)));
        let destination = self.destination(&entry, &inputs)?;
        let quality = self.quality_file(&inputs)?;
        let synthesis = self.request();
        let SynthesisRequest { epsilon, delta, neighbours, mechanism, .. } = synthesis;
        let kept = synthesis.kept_guarantee().input()?;
        let request = Request {
            dataset: &entry.schema().name,
            neighbours,
            promised: (epsilon, delta).into(),
            kept,
            release: &destination.name(),
            mechanism: mechanism.name(),
            date: "",
        };
        if let Some(budget) = &budget {
            PaidRelease::check(budget, &request)?;
        }
        let data = entry.load().input()?;
        self.weak.check_delta(self.delta, data.len())?;
        print_release_notes(&entry, &self.dataset, budget.is_some(), self.add_remove);
        warn_about_noise(&synthesis, &data).input()?;
        // From here on noise is drawn, so the charge remains even if a later step fails.
        let paid = budget.map(|budget| PaidRelease::charge(&budget, request)).transpose()?;
        let (release, written) = self.release(&entry, &data, &destination).inspect_err(|_| {
            paid.iter().for_each(PaidRelease::explain_failure);
        })?;
        if let Some(paid) = paid {
            paid.complete(written.records_blake3);
        }
        print(|output| output.write_all(written.summary.as_bytes()))?;
        // The release is complete, whatever becomes of its page.
        match quality {
            Some(file) => write_comparison(&file, &quality_of(&release).internal()?),
            None => Ok(()),
        }
    }

    fn quality_file(&self, inputs: &[Input]) -> Result<Option<OutputFile>, Failure> {
        let facts = self.out.as_deref().map(facts_path);
        let mut inputs = inputs.to_vec();
        inputs.extend(self.out.iter().map(|out| ("the file with the records", &**out)));
        inputs.extend(facts.iter().map(|facts| ("the file with the facts", &**facts)));
        let check = |path: &PathBuf| {
            let file = OutputFile::check(path, self.force.overwrite(), &inputs)?;
            check_name(&file).map(|()| file)
        };
        self.quality.as_ref().map(check).transpose()
    }

    fn destination(&self, entry: &Entry, inputs: &[Input]) -> Result<Destination, Failure> {
        match &self.out {
            Some(out) => {
                let form = self.values.form().unwrap_or(ValueForm::Label);
                RecordWriter::new(entry.schema(), form, None).input_at("--values")?;
                RecordFiles::check(out, true, self.force.overwrite(), inputs)
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
    ) -> Result<(SyntheticRelease, Written), Failure> {
        let request = self.request();
        let release = synthesize(data, &request).input_at(&self.dataset)?;
        let SynthesisRequest { epsilon, delta, neighbours, mechanism, .. } = request;
        let terms = ReleaseTerms { epsilon, delta, neighbours, mechanism };
        let written = destination.write(entry, &terms, &release)?;
        Ok((release, written))
    }

    fn request(&self) -> SynthesisRequest {
        SynthesisRequest {
            mechanism: match self.mechanism {
                Mechanism::Aim => ReleaseMechanism::Aim,
                Mechanism::Mst => ReleaseMechanism::Mst,
            },
            degree: self.workload,
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: match self.add_remove {
                true => Neighbours::AddRemove,
                false => Neighbours::Replace,
            },
            count: self.records,
            memory_limit: MEMORY,
        }
    }
}

/// The synthetic records against the noisy answers.
fn quality_of(release: &SyntheticRelease) -> Result<Comparison, NoMarginal> {
    let SyntheticRelease { records, answers, total, .. } = release;
    let found =
        |clique: &Clique| records.project(clique).map_err(|error| NoMarginal(error.to_string()));
    let noisy = |clique: &Clique| {
        let stddev = answers.cell_variance(clique)?.sqrt();
        Some(NoisyMarginal { counts: answers.marginal(clique), stddev })
    };
    let synthetic = (records.name(), records.len(), &found as Marginals);
    compare_with_answers(records.domain(), synthetic, ("the noisy answers", *total), &noisy)
}

/// Warns if the noise of a one-way marginal is expected to exceed all counts together: for every
/// attribute, so that the release would say nothing about the records, or for some, which have too
/// many values.
///
/// With --add-remove the number of records is private. The warning depends on it, and is shown on
/// the terminal of the data holder only.
fn warn_about_noise(request: &SynthesisRequest, data: &Dataset) -> Result<(), ParameterError> {
    let domain = data.domain();
    let stddev = request.first_noise_stddev(domain.len())?;
    let expected = std::f64::consts::FRAC_2_PI.sqrt() * stddev;
    let only_noise = |id| expected * domain.size(id) as f64 > data.len() as f64;
    let drowned: Vec<AttributeId> =
        domain.declared().iter().copied().filter(|&id| only_noise(id)).collect();
    if drowned.len() == domain.len() {
        note(format_args!(
            "warning: with this epsilon and delta every count has noise of standard deviation \
             {stddev:.0}, so that the release will consist of noise alone; use a larger epsilon, \
             fewer attributes or more records (this message is confidential, as the number of \
             records may be)"
        ));
    } else if !drowned.is_empty() {
        let named = |&id: &AttributeId| format!("{} ({} values)", domain.name(id), domain.size(id));
        let named: Vec<String> = drowned.iter().map(named).collect();
        note(format_args!(
            "warning: every count has noise of standard deviation {stddev:.0}, in sum more than \
             there are records for {}: use fewer bins, merge rare values, or use a larger epsilon \
             (this message is confidential, as the number of records may be)",
            named.join(", ")
        ));
    }
    Ok(())
}
