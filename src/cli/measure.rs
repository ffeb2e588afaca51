//! `pgmbench measure`.

use std::path::{Path, PathBuf};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours};
use pgmbench::budget_file::Request;
use pgmbench::data::{Entry, Registry};
use pgmbench::experiment::{MeasuredRelease, MechanismSpec, all_marginals, marginals_of, measure};
use private_pgm::domain::Clique;
use serde_json::json;

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::measure_job::{MeasureJob, kept_guarantee, mechanism};
use super::output::print;
use super::output_file::{ForceArgs, Input};
use super::privacy_args::{WeakPrivacyArgs, delta, epsilon};
use super::query::listed;
use super::release_charge::{PaidRelease, budget_of};
use super::release_files::RecordFiles;
use super::release_notes::{print_release_notes, refuse_draft};

/// Memory limit for tables, in bytes.
const MEMORY: u64 = 4 << 30;

/// Release noisy marginals of a data set under differential privacy
///
/// What is measured is said by the options, or by an experiment file with one dataset, one
/// mechanism and one epsilon. Writes a problem file for `estimate`, with the labels of the schema,
/// and a second file next to it that states the guarantee and lists every draw of noise. The
/// randomness is the operating system's: a release has no seed and cannot be repeated. A release is
/// never replaced. The budget file (--budget, or `budget` in the schema) is charged before any
/// noise is drawn.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench measure --schema adult --mechanism gaussian --marginal sex,race \\\n    \
    --marginal age --epsilon 1 --delta 1e-9 --out problem.json\n  \
    pgmbench measure --schema mine/schema.toml --every 2 --epsilon 1 --delta 1e-9 \\\n    \
    --out problem.json\n  \
    pgmbench measure mine.toml --out problem.json\n  \
    pgmbench estimate problem.json --out model.pgm\n  \
    pgmbench query model.pgm --where 'age >= 50 and sex = Female'\n\n\
    `pgmbench list` describes the mechanisms.")]
pub(crate) struct MeasureArgs {
    /// An experiment file, in place of the options that say what is measured
    #[arg(conflicts_with_all = ["schema", "mechanism", "marginal", "every", "epsilon", "delta",
        "add_remove"])]
    config: Option<PathBuf>,
    /// The name of a data set, or the path of a schema
    #[arg(long, required_unless_present = "config")]
    schema: Option<String>,
    /// The mechanism [default: gaussian]
    #[arg(long, value_name = "M", value_parser = mechanism)]
    mechanism: Option<&'static MechanismSpec>,
    /// Attributes of a marginal, separated by commas (repeatable)
    #[arg(long, value_name = "ATTRS", conflicts_with = "every")]
    marginal: Vec<String>,
    /// The marginals of all sets of this many attributes [default: the workload of the schema, or
    /// 2]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=8))]
    every: Option<u8>,
    /// Epsilon of the release, at most 20 without --allow-weak-privacy
    #[arg(long, value_name = "E", value_parser = epsilon, required_unless_present = "config")]
    #[arg(allow_negative_numbers = true)]
    epsilon: Option<Epsilon>,
    /// Delta of the release, far below 1/n for n records, such as 1/n^2 or 1e-9; not for mechanisms
    /// of pure differential privacy, such as laplace
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = delta)]
    delta: Option<Delta>,
    /// Write the problem to this JSON file, and the facts of the release next to it
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Charge the release to this budget file [default: the one that the schema declares]
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,
    /// Neighbouring data sets differ by an added or removed record [default: a replaced record];
    /// the number of records is then private too
    #[arg(long)]
    add_remove: bool,
    #[command(flatten)]
    weak: WeakPrivacyArgs,
    #[command(flatten)]
    force: ForceArgs,
}

impl MeasureArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let job = match (&self.config, &self.schema, self.epsilon) {
            (Some(config), ..) => MeasureJob::from_config(config)?,
            (None, Some(schema), Some(epsilon)) => self.job(schema, epsilon)?,
            _ => return Err(Failure::input("expected an experiment file, or --schema")),
        };
        self.weak.check_epsilon(job.epsilon)?;
        let is_add_remove = job.neighbours == Neighbours::AddRemove;
        if is_add_remove && job.mechanism.needs_public_total() {
            return Err(Failure::input(format!(
                "--add-remove: {} needs to know the number of records, which is private then",
                job.mechanism_name
            )));
        }
        refuse_draft(&job.dataset, job.entry.schema())?;
        let budget = budget_of(&job.entry, self.budget.as_deref())?;
        let files = self.files(&job.entry, budget.as_deref())?;
        let release = self.out.display().to_string();
        let request = Request {
            dataset: &job.entry.schema().name,
            neighbours: job.neighbours,
            promised: job.promised(),
            kept: job.kept,
            release: &release,
            mechanism: job.mechanism_name,
            date: "",
        };
        if let Some(budget) = &budget {
            PaidRelease::check(budget, &request)?;
        }
        let data = job.entry.load().input()?;
        if let Some(delta) = job.delta {
            self.weak.check_delta(delta, data.len())?;
        }
        print_release_notes(&job.entry, &job.dataset, budget.is_some(), is_add_remove);
        // From here on noise is drawn, so the charge remains even if a later step fails.
        let paid = budget.map(|budget| PaidRelease::charge(&budget, request)).transpose()?;
        let spent = (job.kept, job.neighbours);
        let schema = job.entry.schema();
        let measured = measure(&data, schema, &job.workload, &*job.mechanism, spent, MEMORY)
            .input_at(&job.dataset)
            .and_then(|measured| self.write(&files, &job, &measured))
            .inspect_err(|_| paid.iter().for_each(PaidRelease::explain_failure))?;
        if let Some(paid) = paid {
            paid.complete(measured.checksum);
        }
        print(|output| output.write_all(measured.summary.as_bytes()))
    }

    /// What the options say.
    fn job(&self, schema: &str, epsilon: Epsilon) -> Result<MeasureJob, Failure> {
        let gaussian = || mechanism("gaussian").map_err(Failure::input);
        let spec = self.mechanism.map_or_else(gaussian, Ok)?;
        let kept = kept_guarantee(spec, epsilon, self.delta)?;
        let build = (spec.build)(&toml::Table::new());
        let mechanism = build.input_at(format!("--mechanism {}", spec.name))?;
        let entry = Registry::default().entry(schema).input()?;
        let cliques = self.cliques(&entry)?;
        Ok(MeasureJob {
            workload: marginals_of(entry.schema(), &cliques).input_at("--marginal")?,
            entry,
            dataset: schema.into(),
            mechanism_name: spec.name,
            mechanism,
            epsilon,
            delta: self.delta,
            neighbours: match self.add_remove {
                true => Neighbours::AddRemove,
                false => Neighbours::Replace,
            },
            kept,
        })
    }

    /// The marginals of the workload.
    fn cliques(&self, entry: &Entry) -> Result<Vec<Clique>, Failure> {
        let schema = entry.schema();
        match (&self.marginal[..], self.every, &schema.workload) {
            ([], Some(size), _) => {
                all_marginals(schema.domain(), usize::from(size)).input_at("--every")
            }
            ([], None, Some(workload)) => Ok(workload.triples.clone()),
            ([], None, None) => all_marginals(schema.domain(), 2).input_at("--every"),
            (listed_marginals, ..) => listed_marginals
                .iter()
                .map(|text| listed(schema.domain(), text, &[]).map(Clique::new))
                .collect(),
        }
    }

    fn files(&self, entry: &Entry, budget: Option<&Path>) -> Result<RecordFiles, Failure> {
        let files = entry.files();
        let mut inputs: Vec<Input> = files.iter().map(|(what, path)| (*what, &**path)).collect();
        inputs.extend(budget.map(|path| ("the budget file", path)));
        RecordFiles::check(&self.out, true, self.force.overwrite(), &inputs)
    }

    fn write(
        &self,
        files: &RecordFiles,
        job: &MeasureJob,
        measured: &MeasuredRelease,
    ) -> Result<Written, Failure> {
        let text = measured.problem.to_json() + "\n";
        let checksum = blake3::hash(text.as_bytes()).to_hex().to_string();
        let out = self.out.display();
        let ledger = serde_json::to_value(measured.ledger.lines());
        let ledger = ledger.internal_at(format!("cannot write {out}"))?;
        let (epsilon, delta) = (job.epsilon.get(), job.delta.map(Delta::get));
        files.write(text.as_bytes(), || {
            json!({
                "dataset": job.entry.schema().name,
                "measurements": measured.problem.measurements.len(),
                "records_blake3": checksum,
                "epsilon": epsilon,
                "delta": delta.unwrap_or(0.0),
                "neighbours": job.neighbours,
                "mechanism": job.mechanism_name,
                "randomness": measured.randomness,
                "made_by": concat!("pgmbench ", env!("CARGO_PKG_VERSION")),
                "ledger": ledger,
            })
        })?;
        let guarantee = match delta {
            Some(delta) => format!("({epsilon}, {delta})-differentially"),
            None => format!("{epsilon}-differentially"),
        };
        let summary = format!(
            "written  {out}: {}\n\
             private  {guarantee}, noise from the operating system; {} lists {}\n\
             next     pgmbench estimate {out} --out {}\n",
            Count(measured.problem.measurements.len(), "noisy marginal"),
            files.facts_path().display(),
            Count(measured.ledger.lines().len(), "draw"),
            self.out.with_extension("pgm").display(),
        );
        Ok(Written { checksum, summary })
    }
}

struct Written {
    checksum: String,
    /// For the terminal.
    summary: String,
}
