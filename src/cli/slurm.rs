//! `pgmbench slurm`: an experiment as a job array, and a job that collects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::about::About;
use super::experiment_args::ExperimentArgs;
use super::failure::{Failure, ResultExt};
use super::output::print;
use super::output_file::{OutputFile, Overwrite};
use super::results_args::ResultsArgs;
use super::shell;
use super::status::State;

/// Run an experiment on a cluster with Slurm
#[derive(Args)]
pub(crate) struct SlurmArgs {
    #[command(subcommand)]
    command: SlurmCommand,
}

#[derive(Subcommand)]
enum SlurmCommand {
    Submit(Box<SubmitArgs>),
    Status(SlurmStatusArgs),
}

impl SlurmArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            SlurmCommand::Submit(args) => args.run(),
            SlurmCommand::Status(args) => args.run(),
        }
    }
}

/// Submit an experiment as a job array, and a job that collects when the array has ended
///
/// Each task of the array runs one shard into the same results folder, which all nodes must see. A
/// task that is requeued, or submitted again, goes on where it was. The scripts are kept beside the
/// results, in slurm/.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench slurm submit configs/fig1.toml --tasks 16 --time 2:00:00 --mem 8G --dry-run\n  \
    pgmbench slurm submit configs/fig1.toml --tasks 16 --partition cpu --sbatch=--cpus-per-task=4")]
struct SubmitArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// How many tasks the array has, each with a fair share of the trials
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: u16,
    /// The partition to run in
    #[arg(long, value_name = "P")]
    partition: Option<String>,
    /// The longest that a task may take, as Slurm has it: 2:00:00
    #[arg(long, value_name = "T")]
    time: Option<String>,
    /// The memory of a task, as Slurm has it: 8G
    #[arg(long, value_name = "M")]
    mem: Option<String>,
    /// The account that pays
    #[arg(long, value_name = "A")]
    account: Option<String>,
    /// Anything else that sbatch understands, for the array; may be given several times
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    sbatch: Vec<String>,
    /// Write to DIR/NAME
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Print the scripts and submit nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was submitted: `slurm/jobs.json` in the folder of the results.
#[derive(Debug, Serialize, Deserialize)]
struct Jobs {
    array: String,
    tasks: u16,
    collect: String,
}

const JOBS: &str = "slurm/jobs.json";

impl SubmitArgs {
    fn run(self) -> Result<(), Failure> {
        let plan = self.experiment.plan()?;
        let name = plan.experiment.name.as_ref();
        let folder = self.results.join(name);
        let program = std::env::current_exe().internal_at("cannot tell where pgmbench is")?;
        let (array, collect) = self.scripts(name, &folder, &program)?;
        if self.dry_run {
            return print(|output| writeln!(output, "{array}\n{collect}"));
        }
        let scripts = folder.join("slurm");
        fs::create_dir_all(&scripts).input_at(scripts.display())?;
        let place =
            |file: &str| OutputFile::check(&scripts.join(file), Overwrite::Own(is_own), &[]);
        // All of them first: nothing is submitted that could not be noted down.
        let [array_file, collect_file, jobs_file] =
            [place("array.sh")?, place("collect.sh")?, place("jobs.json")?];
        array_file.write(array.as_bytes())?;
        let array = sbatch(&[], array_file.path())?;
        // Whatever becomes of the tasks: what is missing is told.
        let after = format!("--dependency=afterany:{array}");
        collect_file.write(collect.as_bytes())?;
        let collect = sbatch(&[&after], collect_file.path())?;
        let jobs = Jobs { array, tasks: self.tasks, collect };
        jobs_file.write(serde_json::to_string_pretty(&jobs).unwrap_or_default().as_bytes())?;
        let costs = plan.costs();
        let work = About(plan.trials.iter().map(|trial| costs.trial(trial)).sum());
        print(|output| {
            let Jobs { array, tasks, collect } = &jobs;
            writeln!(output, "job {array}: {tasks} tasks, {work} of work in all")?;
            writeln!(output, "job {collect} collects into {}", folder.display())?;
            let status = ["pgmbench", "slurm", "status", &folder.display().to_string()];
            writeln!(output, "how far it is: {}", shell::line(status))
        })
    }

    /// The script of the array, and that of the job that collects.
    fn scripts(
        &self,
        name: &str,
        folder: &Path,
        program: &Path,
    ) -> Result<(String, String), Failure> {
        let here = std::env::current_dir().internal_at("there is no current folder")?;
        let logs = folder.join("slurm");
        let given = |option: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("--{option}={value}"))
        };
        let common = [
            given("partition", &self.partition),
            given("account", &self.account),
            Some(format!("--chdir={}", here.display())),
            Some("--open-mode=append".into()),
        ];
        let common: Vec<String> = common.into_iter().flatten().collect();
        let array = [
            Some(format!("--job-name=pgmbench-{name}")),
            Some(format!("--array=1-{}", self.tasks)),
            Some(format!("--output={}/%A_%a.log", logs.display())),
            Some("--requeue".into()),
            given("time", &self.time),
            given("mem", &self.mem),
        ];
        let array = array.into_iter().flatten().chain(common.clone()).chain(self.sbatch.clone());
        let collect = [
            format!("--job-name=pgmbench-{name}-collect"),
            format!("--output={}/collect_%j.log", logs.display()),
        ];
        let program = program.display().to_string();
        let results = self.results.display().to_string();
        let run: Vec<String> = [program.clone(), "run".into()]
            .into_iter()
            .chain(self.experiment.words())
            .chain(["--results".into(), results])
            .collect();
        // The shell of the job fills in which task it is, and how many processors it has.
        let run = format!(
            "exec {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"",
            shell::line(run),
            self.tasks
        );
        let collecting = [&program, "collect", &folder.display().to_string()].map(String::from);
        let collecting = format!("exec {}", shell::line(collecting));
        Ok((script(array, &run), script(collect.into_iter().chain(common), &collecting)))
    }
}

/// Whether a file begins as one of an earlier submission does.
fn is_own(beginning: &str) -> bool {
    beginning.starts_with("#!/bin/sh\n#SBATCH --job-name=pgmbench-")
        || beginning.starts_with("{\n  \"array\": ")
}

fn script(options: impl IntoIterator<Item = String>, command: &str) -> String {
    let lines = options.into_iter().map(|option| format!("#SBATCH {}\n", shell::line([option])));
    format!("#!/bin/sh\n{}{command}\n", lines.collect::<String>())
}

/// Submits a script; the number of the job.
fn sbatch(options: &[&str], script: &Path) -> Result<String, Failure> {
    let output = Command::new("sbatch").arg("--parsable").args(options).arg(script).output();
    let output = output.input_at("cannot start sbatch; is this a machine of the cluster?")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::input(format!("sbatch refuses: {}", said.trim())));
    }
    // On clusters of clusters the number is followed by a name.
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.trim().split(';').next().unwrap_or_default().to_string())
}

/// Say what Slurm is doing with an experiment that was submitted, and how far the results are
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench slurm status results/fig1")]
struct SlurmStatusArgs {
    #[command(flatten)]
    results: ResultsArgs,
}

impl SlurmStatusArgs {
    fn run(self) -> Result<(), Failure> {
        let folder = self.results.folder();
        let path = folder.join(JOBS);
        let text = fs::read_to_string(&path)
            .input_at(format!("{}: nothing was submitted from here", path.display()))?;
        let jobs: Jobs = serde_json::from_str(&text).input_at(path.display())?;
        let array = queue(&jobs.array)?;
        let collect = queue(&jobs.collect)?;
        print(|output| {
            let gone = usize::from(jobs.tasks).saturating_sub(array.len());
            writeln!(output, "job {}: {} tasks, {gone} have ended", jobs.array, jobs.tasks)?;
            array.iter().try_for_each(|task| writeln!(output, "  {task}"))?;
            match collect.first() {
                Some(job) => writeln!(output, "collecting: {job}\n"),
                None => writeln!(output, "collecting: job {} has ended\n", jobs.collect),
            }
        })?;
        match State::read(&folder) {
            Ok(state) => print(|output| state.write(output)),
            Err(_) => print(|output| writeln!(output, "no task has begun yet")),
        }
    }
}

/// The tasks of a job that wait or run, a line each. Slurm forgets jobs that have ended, and then
/// calls their numbers invalid.
fn queue(job: &str) -> Result<Vec<String>, Failure> {
    let format = "--format=%i %T %M %R";
    let arguments = ["--noheader", "--array", "--states=all", "--jobs", job, format];
    let output = Command::new("squeue").args(arguments).output();
    let output = output.input_at("cannot start squeue; is this a machine of the cluster?")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !complaint.contains("Invalid job id") {
        let message = format!("squeue has failed: {}", complaint.trim());
        return Err(Failure::Unexpected(anyhow::anyhow!(message)));
    }
    let said = String::from_utf8_lossy(&output.stdout).to_string();
    let over = ["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL"];
    let is_over = |line: &&str| over.iter().any(|state| line.contains(state));
    Ok(said.lines().filter(|line| !is_over(line)).map(|line| line.trim().into()).collect())
}
