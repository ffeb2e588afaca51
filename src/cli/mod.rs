//! Arguments, printing and exit codes. The library does the work.
//!
//! Exit codes: 0 for success, 2 for bad input or usage, 130 after Ctrl-C, 1 for
//! everything else.

mod about;
mod archive;
mod audit;
mod budget;
mod build;
mod choice;
mod collect;
mod comparison_file;
mod completions;
mod conclude;
mod condition;
mod count;
mod datasets;
mod diff;
mod engine_files;
mod error_bar_args;
mod estimate;
mod estimate_report;
mod evaluate;
mod experiment_args;
mod failure;
mod interrupt;
mod list;
mod marginals;
mod measure;
mod measure_job;
mod model_description;
mod output;
mod output_file;
mod output_format;
mod peak_memory;
mod plan;
mod plot;
mod predict;
mod privacy_args;
mod progress;
mod query;
mod release_charge;
mod release_files;
mod release_notes;
mod release_output;
mod report;
mod results_args;
mod run;
mod schema;
mod shell;
mod slurm;
mod slurm_jobs;
mod status;
mod synth;
mod synthesize;
mod table;
mod table1;
mod trial_progress;
mod values_args;
mod verify;

use std::borrow::Cow;
use std::panic;
use std::process::{self, ExitCode};
use std::thread;

use clap::{CommandFactory, Parser, Subcommand};
use private_pgm::numeric::memory;

use failure::{Failure, ResultExt};
use output::{note, printable};

/// Graphical models from noisy marginals, for differential privacy.
#[derive(Parser)]
#[command(
    version,
    about = "Graphical models from noisy marginals, for differential privacy",
    long_about = "Graphical models from noisy marginals, for differential privacy.\n\n\
        A privacy mechanism publishes noisy answers to counting queries. `run` compares \
        estimators on such answers, with the data sets and mechanisms of an experiment file. \
        `measure` releases noisy answers about your own data, and `synthesize` synthetic records. \
        `estimate` fits a distribution to noisy answers, `query` computes other answers from it, \
        and `synth` draws records from it. These three never read private data, so they cost no \
        privacy budget.",
    after_help = "Examples:\n  \
        pgmbench run configs/fig1.toml\n  \
        pgmbench estimate problem.json --out model.pgm\n  \
        pgmbench query model.pgm --marginal age,sex\n  \
        pgmbench synth model.pgm --records 1000 --seed 1 --out synthetic.csv\n\n\
        Exit codes:\n  \
        0    all done\n  \
        1    something failed\n  \
        2    bad input: the message says what to change\n  \
        130  interrupted; finished work is kept"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Use this many threads [default: one per core]; results do not depend on it
    #[arg(long, global = true, value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Plan(plan::PlanArgs),
    Status(status::StatusArgs),
    Verify(verify::VerifyArgs),
    Collect(collect::CollectArgs),
    Diff(diff::DiffArgs),
    Archive(archive::ArchiveArgs),
    Slurm(slurm::SlurmArgs),
    Plot(plot::PlotArgs),
    Report(report::ReportArgs),
    List(list::ListArgs),
    Schema(schema::SchemaArgs),
    Datasets(datasets::DatasetsArgs),
    Synthesize(synthesize::SynthesizeArgs),
    Measure(measure::MeasureArgs),
    Evaluate(evaluate::EvaluateArgs),
    Budget(budget::BudgetArgs),
    Audit(audit::AuditArgs),
    Predict(predict::PredictArgs),
    Estimate(estimate::EstimateArgs),
    Query(query::QueryArgs),
    Synth(synth::SynthArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

pub(crate) fn main() -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        note(format_args!("error: internal error (please report): {panic}"));
    }));
    match panic::catch_unwind(|| run(parse())) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        Err(panic) => match memory::in_panic(&*panic) {
            Some(error) => Failure::Unexpected(error.into()).report(),
            None => ExitCode::FAILURE,
        },
    }
}

/// The arguments. Ends the program with a message where they are wrong.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let text = error.render().to_string();
        if let (true, Cow::Owned(shown)) = (error.use_stderr(), printable(&text)) {
            note(shown.trim_end());
            process::exit(error.exit_code());
        }
        error.exit()
    })
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().internal()?;
    }
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = cli.threads.map_or_else(cores, usize::from);
    match cli.command {
        Command::Run(args) => args.run(threads),
        Command::Plan(args) => args.run(),
        Command::Status(args) => args.run(),
        Command::Verify(args) => args.run(),
        Command::Collect(args) => args.run(),
        Command::Diff(args) => args.run(),
        Command::Archive(args) => args.run(),
        Command::Slurm(args) => args.run(),
        Command::Plot(args) => args.run(),
        Command::Report(args) => args.run(),
        Command::List(args) => args.run(),
        Command::Schema(args) => args.run(),
        Command::Datasets(args) => args.run(),
        Command::Synthesize(args) => args.run(),
        Command::Measure(args) => args.run(),
        Command::Evaluate(args) => args.run(),
        Command::Budget(args) => args.run(),
        Command::Audit(args) => args.run(),
        Command::Predict(args) => args.run(),
        Command::Estimate(args) => args.run(),
        Command::Query(args) => args.run(),
        Command::Synth(args) => args.run(),
        Command::Completions(args) => args.run(Cli::command()),
        Command::Man(args) => args.run(Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
