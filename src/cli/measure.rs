//! `pgmbench measure`.

use std::path::{Path, PathBuf};

use clap::Args;
use dp::{Delta, Epsilon, Guarantee, Neighbours};
use pgmbench::budget_file::Request;
use pgmbench::data::{Entry, Registry};
use pgmbench::experiment::{
    GuaranteeKind, MECHANISMS, MeasuredRelease, MechanismSpec, all_marginals, kept_by,
    marginals_of, measure,
};
use private_pgm::domain::Clique;
use serde_json::json;

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::output::print;
use super::output_file::{ForceArgs, Input};
use super::privacy_args::{WeakPrivacyArgs, delta, epsilon};
use super::query::listed;
use super::release_charge::{PaidRelease, budget_of};
use super::release_files::RecordFiles;
use super::release_notes::{print_release_notes, refuse_draft};

/// Mechanisms whose releases are no noisy answers to linear queries.
const NOT_ANSWERS: [&str; 1] = ["dualquery"];

/// Memory limit for tables, in bytes.
const MEMORY: u64 = 4 << 30;

/// Release noisy marginals of a data set under differential privacy
///
/// Writes a problem file for `estimate`, with the labels of the schema, and a second file next to it
/// that states the guarantee and lists every draw of noise. The randomness is the operating
/// system's: a release has no seed and cannot be repeated. A release is never replaced. The budget
/// file (--budget, or `budget` in the schema) is charged before any noise is drawn.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench measure --schema adult --mechanism gaussian --marginal sex,race --marginal age \\\n    \
    --epsilon 1 --delta 1e-9 --out problem.json\n  \
    pgmbench measure --schema mine/schema.toml --every 2 --epsilon 1 --delta 1e-9 --out problem.json\n  \
    pgmbench estimate problem.json --out model.pgm\n  \
    pgmbench query model.pgm --where 'age >= 50 and sex = Female'\n\n\
    `pgmbench list` describes the mechanisms.")]
pub(crate) struct MeasureArgs {
    /// The name of a data set, or the path of a schema
    #[arg(long)]
    schema: String,
    /// The mechanism
    #[arg(long, value_name = "M", default_value = "gaussian", value_parser = mechanism)]
    mechanism: &'static MechanismSpec,
    /// Attributes of a marginal, separated by commas (repeatable)
    #[arg(long, value_name = "ATTRS", conflicts_with = "every")]
    marginal: Vec<String>,
    /// The marginals of all sets of this many attributes [default: the workload of the schema, or
    /// 2]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=8))]
    every: Option<u8>,
    /// Epsilon of the release, at most 20 without --allow-weak-privacy
    #[arg(long, value_name = "E", value_parser = epsilon)]
    epsilon: Epsilon,
    /// Delta of the release, far below 1/n for n records, such as 1/n^2 or 1e-9; not for mechanisms
    /// of pure differential privacy, such as laplace
    #[arg(long, value_name = "D", value_parser = delta)]
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

fn mechanism(name: &str) -> Result<&'static MechanismSpec, String> {
    if NOT_ANSWERS.contains(&name) {
        return Err(
            "it publishes no noisy answers to linear queries, so that there is no problem \
                    file of its release"
                .into(),
        );
    }
    MECHANISMS.iter().copied().find(|spec| spec.name == name).ok_or_else(|| {
        let known = MECHANISMS.iter().map(|spec| spec.name);
        let known: Vec<&str> = known.filter(|name| !NOT_ANSWERS.contains(name)).collect();
        format!("expected one of {}", known.join(", "))
    })
}

impl MeasureArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.weak.check_epsilon(self.epsilon)?;
        let (promised, kept) = self.guarantees()?;
        let build = (self.mechanism.build)(&toml::Table::new());
        let mechanism = build.input_at(format!("--mechanism {}", self.mechanism.name))?;
        let neighbours = match self.add_remove {
            true if mechanism.needs_public_total() => {
                return Err(Failure::input(format!(
                    "--add-remove: {} needs to know the number of records, which is private then",
                    self.mechanism.name
                )));
            }
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        let entry = Registry::default().entry(&self.schema).input()?;
        refuse_draft(&self.schema, entry.schema())?;
        let cliques = self.cliques(&entry)?;
        let workload = marginals_of(entry.schema(), &cliques).input_at("--marginal")?;
        let budget = budget_of(&entry, self.budget.as_deref())?;
        let files = self.files(&entry, budget.as_deref())?;
        let release = self.out.display().to_string();
        let request = Request {
            dataset: &entry.schema().name,
            neighbours,
            promised,
            kept,
            release: &release,
            mechanism: self.mechanism.name,
            date: "",
        };
        if let Some(budget) = &budget {
            PaidRelease::check(budget, &request)?;
        }
        let data = entry.load().input()?;
        if let Some(delta) = self.delta {
            self.weak.check_delta(delta, data.len())?;
        }
        print_release_notes(&entry, &self.schema, budget.is_some(), self.add_remove);
        // From here on noise is drawn, so the charge remains even if a later step fails.
        let paid = budget.map(|budget| PaidRelease::charge(&budget, request)).transpose()?;
        let budget = (kept, neighbours);
        let measured = measure(&data, entry.schema(), &workload, &*mechanism, budget, MEMORY)
            .input_at(&self.schema)
            .and_then(|measured| self.write(&files, &entry, neighbours, &measured))
            .inspect_err(|_| paid.iter().for_each(PaidRelease::explain_failure))?;
        if let Some(paid) = paid {
            paid.complete(measured.checksum);
        }
        print(|output| output.write_all(measured.summary.as_bytes()))
    }

    /// What the release states, and what its mechanism keeps.
    fn guarantees(&self) -> Result<(Guarantee, Guarantee), Failure> {
        let name = self.mechanism.name;
        let (kind, epsilon) = (self.mechanism.guarantee, self.epsilon);
        let (promised, delta) = match (kind, self.delta) {
            (GuaranteeKind::Pure, Some(_)) => {
                return Err(Failure::input(format!(
                    "--delta: {name} is pure differential privacy, without a delta; omit the option"
                )));
            }
            (GuaranteeKind::Pure, None) => (epsilon.into(), None),
            (_, None) => {
                return Err(Failure::input(format!(
                    "--delta: {name} needs one, far below 1/n for n records, such as 1e-9"
                )));
            }
            (_, Some(delta)) => ((epsilon, delta).into(), Some(delta)),
        };
        let kept = kept_by(kind, epsilon, || delta.map_or_else(|| Delta::new(0.0), Ok));
        Ok((promised, kept.input_at("--delta")?))
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
        entry: &Entry,
        neighbours: Neighbours,
        measured: &MeasuredRelease,
    ) -> Result<Written, Failure> {
        let text = measured.problem.to_json() + "\n";
        let checksum = blake3::hash(text.as_bytes()).to_hex().to_string();
        let out = self.out.display();
        let ledger = serde_json::to_value(measured.ledger.lines());
        let ledger = ledger.internal_at(format!("cannot write {out}"))?;
        let delta = self.delta.map(Delta::get).unwrap_or(0.0);
        files.write(text.as_bytes(), || {
            json!({
                "dataset": entry.schema().name,
                "measurements": measured.problem.measurements.len(),
                "records_blake3": checksum,
                "epsilon": self.epsilon.get(),
                "delta": delta,
                "neighbours": neighbours,
                "mechanism": self.mechanism.name,
                "randomness": measured.randomness,
                "made_by": concat!("pgmbench ", env!("CARGO_PKG_VERSION")),
                "ledger": ledger,
            })
        })?;
        let guarantee = match self.delta {
            Some(delta) => format!("({}, {delta})-differentially", self.epsilon.get()),
            None => format!("{}-differentially", self.epsilon.get()),
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
