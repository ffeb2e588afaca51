//! `pgmbench slurm`: an experiment as a job array, and a job that collects its shards.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::about::About;
use super::count::Count;
use super::experiment_args::ExperimentArgs;
use super::failure::{Failure, ResultExt};
use super::output::{print, print_data};
use super::output_file::{OutputFile, Overwrite};
use super::results_args::ResultsArgs;
use super::shell;
use super::slurm_jobs::{queue, sbatch};
use super::status::State;
use pgmbench::limits;
use private_pgm::numeric::memory::read_at_most;

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

/// Submit an experiment as a job array, and a job that collects the shards after it
///
/// Each task of the array runs one shard into the same results folder, which all nodes must share.
/// A task that is requeued or submitted again continues its shard. The scripts are stored in slurm/
/// in the results folder.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench slurm submit configs/fig1.toml --tasks 16 --time 2:00:00 --mem 8G --dry-run\n  \
    pgmbench slurm submit configs/fig1.toml --tasks 16 --partition cpu --sbatch=--cpus-per-task=4")]
struct SubmitArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Number of tasks in the array, each with about the same share of the work
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: u16,
    /// Partition of both jobs
    #[arg(long, value_name = "P")]
    partition: Option<String>,
    /// Time limit of a task, in the format of Slurm: 2:00:00
    #[arg(long, value_name = "T")]
    time: Option<String>,
    /// Memory of a task, in the format of Slurm: 8G
    #[arg(long, value_name = "M")]
    mem: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "A")]
    account: Option<String>,
    /// Any other option of sbatch, for the array (repeatable)
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    sbatch: Vec<String>,
    /// Write to DIR/NAME
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Print the scripts and submit nothing
    #[arg(long)]
    dry_run: bool,
}

/// The ids of submitted jobs, as stored in `slurm/jobs.json` in the results folder.
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
        let program = std::env::current_exe().internal_at("cannot find the path of pgmbench")?;
        let job = Job { name, folder: &folder, program: &program };
        let (array, collect) = (self.array_script(&job)?, self.collect_script(&job)?);
        if self.dry_run {
            return print_data(|output| writeln!(output, "{array}\n{collect}"));
        }
        let scripts = job.logs();
        fs::create_dir_all(&scripts).input_at(scripts.display())?;
        let overwrite =
            Overwrite::Own(is_own, "`slurm submit` did not write it; move it elsewhere");
        let place = |file: &str| OutputFile::check(&scripts.join(file), overwrite, &[]);
        // Checked before the submission: every submitted job is recorded.
        let [array_file, collect_file, jobs_file] =
            [place("array.sh")?, place("collect.sh")?, place("jobs.json")?];
        array_file.write(array.as_bytes())?;
        let array = sbatch(&[], array_file.path())?;
        // Also after failed tasks: `collect` reports what is missing.
        let after = format!("--dependency=afterany:{array}");
        collect_file.write(collect.as_bytes())?;
        let collect = sbatch(&[&after], collect_file.path())?;
        let jobs = Jobs { array, tasks: self.tasks, collect };
        jobs_file.write(serde_json::to_string_pretty(&jobs).unwrap_or_default().as_bytes())?;
        let costs = plan.costs();
        let work = About(plan.trials.iter().map(|trial| costs.trial(trial)).sum());
        print(|output| {
            let Jobs { array, tasks, collect } = &jobs;
            let tasks = Count(*tasks, "task");
            writeln!(output, "job {array}: {tasks}, {work} of work in total")?;
            writeln!(output, "job {collect} collects into {}", folder.display())?;
            let status = ["pgmbench", "slurm", "status", &folder.display().to_string()];
            writeln!(output, "progress: {}", shell::line(status))
        })
    }

    /// The options of both jobs.
    fn common_options(&self) -> Result<Vec<String>, Failure> {
        let folder = std::env::current_dir().internal_at("cannot find the current folder")?;
        let options = [
            option("partition", &self.partition),
            option("account", &self.account),
            Some(format!("--chdir={}", folder.display())),
            Some("--open-mode=append".into()),
        ];
        Ok(options.into_iter().flatten().collect())
    }

    fn array_script(&self, job: &Job) -> Result<String, Failure> {
        let options = [
            Some(format!("--job-name=pgmbench-{}", job.name)),
            Some(format!("--array=1-{}", self.tasks)),
            Some(format!("--output={}/%A_%a.log", job.logs().display())),
            Some("--requeue".into()),
            option("time", &self.time),
            option("mem", &self.mem),
        ];
        let common = self.common_options()?;
        let options = options.into_iter().flatten().chain(common).chain(self.sbatch.clone());
        let run: Vec<String> = [job.program.display().to_string(), "run".into()]
            .into_iter()
            .chain(self.experiment.words())
            .chain(["--results".into(), self.results.display().to_string()])
            .collect();
        // The job's shell inserts the number of the task and of its processors.
        let run = format!(
            "exec {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --threads \"${{SLURM_CPUS_PER_TASK:-1}}\"",
            shell::line(run),
            self.tasks
        );
        script(options, &run)
    }

    fn collect_script(&self, job: &Job) -> Result<String, Failure> {
        let options = [
            format!("--job-name=pgmbench-{}-collect", job.name),
            format!("--output={}/collect_%j.log", job.logs().display()),
        ];
        let options = options.into_iter().chain(self.common_options()?);
        let program = job.program.display().to_string();
        let collect = shell::line([&*program, "collect", &job.folder.display().to_string()]);
        script(options, &format!("exec {collect}"))
    }
}

/// What the scripts of a submission have in common.
struct Job<'a> {
    name: &'a str,
    /// The results folder.
    folder: &'a Path,
    program: &'a Path,
}

impl Job<'_> {
    fn logs(&self) -> PathBuf {
        self.folder.join("slurm")
    }
}

fn option(name: &str, value: &Option<String>) -> Option<String> {
    value.as_ref().map(|value| format!("--{name}={value}"))
}

/// Whether the first bytes are those of a file of an earlier submission.
fn is_own(beginning: &str) -> bool {
    beginning.starts_with("#!/bin/sh\n#SBATCH --job-name=pgmbench-")
        || beginning.starts_with("{\n  \"array\": ")
}

/// A job script. An option is a comment for the shell, which ends at a line feed whatever the
/// quotes around it: what follows would be a command. Terminals show scripts and logs, too.
fn script(options: impl IntoIterator<Item = String>, command: &str) -> Result<String, Failure> {
    let mut script = "#!/bin/sh\n".to_string();
    for option in options {
        check_characters(&option)?;
        script += &format!("#SBATCH {}\n", shell::line([option]));
    }
    check_characters(command)?;
    Ok(script + command + "\n")
}

fn check_characters(text: &str) -> Result<(), Failure> {
    match text.contains(char::is_control) {
        true => Err(Failure::input(format!(
            "{text:?} would be a part of a job script, which cannot have control characters such \
             as line feeds; change the option, or the name of the file or folder"
        ))),
        false => Ok(()),
    }
}

/// Show the Slurm jobs of a submitted experiment and the progress of its results
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
        let read = fs::File::open(&path).and_then(|file| read_at_most(file, limits::TEXT));
        let text = read.input_at(format!(
            "{}: nothing was submitted; use `pgmbench slurm submit`",
            path.display()
        ))?;
        let jobs: Jobs = serde_json::from_slice(&text).input_at(path.display())?;
        let array = queue(&jobs.array)?;
        let collect = queue(&jobs.collect)?;
        print(|output| {
            let tasks = usize::from(jobs.tasks);
            let ended = tasks.saturating_sub(array.len());
            writeln!(output, "job {}: {}, {ended} ended", jobs.array, Count(tasks, "task"))?;
            array.iter().try_for_each(|task| writeln!(output, "  {task}"))?;
            match collect.first() {
                Some(job) => writeln!(output, "collecting: {job}\n"),
                None => writeln!(output, "collecting: job {} has ended\n", jobs.collect),
            }
        })?;
        match State::read(&folder) {
            Ok(state) => print(|output| state.write(output)),
            Err(_) => print(|output| writeln!(output, "no task has started yet")),
        }
    }
}
