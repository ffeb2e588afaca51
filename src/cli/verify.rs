//! `pgmbench verify`.

use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::config::ConfigError;
use pgmbench::data::Registry;
use pgmbench::experiment::{Plan, PlanError, ReplayError, Silent, Verified, verify};
use pgmbench::results::TrialRecord;
use pgmbench::results::folder::read;
use pgmbench::results::manifest::Manifest;
use pgmbench::results::store::read_ledger;

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::output::print;
use super::results_args::ResultsArgs;

/// Run some arms again, and compare every number but the times with what is stored
///
/// The experiment is the one in the manifest, not the one that may be in a file by now. Which arms
/// are run again is drawn with a seed, from those that ended with an estimate or did not fit into
/// memory. Exit code 1 if a single bit is different.
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench verify results/fig1 --trials 10 --seed 1")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    results: ResultsArgs,
    /// How many arms
    #[arg(
        long,
        value_name = "K",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    trials: u32,
    /// Another seed draws others
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The folder of the experiment file, which its paths to schemas are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    config_dir: PathBuf,
}

impl VerifyArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = self.results.folder();
        let (manifest, recorded) = read(&folder).input()?;
        let ledger = read_ledger(&folder).input()?;
        let place = folder.display();
        if manifest.schedule.is_empty() {
            return Err(Failure::input(format!(
                "{place}: an experiment without mechanisms has nothing to run again"
            )));
        }
        let plan = self.plan(&manifest, &folder)?;
        let memory = manifest.runs.last().and_then(|run| run.memory_limit);
        let chosen = (self.trials as usize, self.seed);
        let mut printed = Ok(());
        let verified = verify(&plan, (&recorded, &ledger), memory, chosen, &Silent, |verified| {
            if printed.is_ok() {
                printed = print_verified(verified);
            }
        });
        printed?;
        if verified.is_empty() {
            return Err(Failure::input(format!("{place}: no arm has ended yet")));
        }
        let different = verified.iter().filter(|one| !one.differences.is_empty()).count();
        match different {
            0 => print(|output| writeln!(output, "{}, all the same", Count(verified.len(), "arm"))),
            _ => Err(Failure::Unexpected(anyhow::anyhow!(
                "{different} of {} arms came out different",
                verified.len()
            ))),
        }
    }

    fn plan(&self, manifest: &Manifest, folder: &Path) -> Result<Plan, Failure> {
        let file = folder.join("manifest.json");
        let missing = schemas(manifest)
            .map(|schema| self.config_dir.join(schema))
            .find(|path| !path.is_file());
        if let Some(path) = missing {
            return Err(Failure::input(format!(
                "there is no schema {}, which {} names; give the folder of the experiment file \
                 with --config-dir DIR",
                path.display(),
                file.display()
            )));
        }
        match Plan::of_manifest(manifest, &self.config_dir, &Registry::default()) {
            // The manifest has no source lines to show.
            Err(ReplayError::Plan(PlanError::Config(ConfigError::Invalid(mistake)))) => {
                Err(Failure::input(format!("{}: {}", file.display(), mistake.message)))
            }
            planned => planned.input_at(file.display()),
        }
    }
}

/// The schemas of the user's own data, relative to the folder of the experiment file.
fn schemas(manifest: &Manifest) -> impl Iterator<Item = &PathBuf> {
    let datasets = manifest.experiment.datasets.iter();
    datasets.filter_map(|dataset| Some(dataset.schema.as_ref()?.as_ref()))
}

fn print_verified(verified: &Verified) -> Result<(), Failure> {
    let Verified { row, differences } = verified;
    let TrialRecord { dataset, mechanism, arm, epsilon, trial, .. } = row;
    let name = format!("{dataset} {mechanism} {arm}, epsilon {epsilon}, trial {}", trial + 1);
    print(|output| match differences.is_empty() {
        true => writeln!(output, "{name}: the same"),
        false => writeln!(output, "{name}: {}", differences.join("; ")),
    })
}
