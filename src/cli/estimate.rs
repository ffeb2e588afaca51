//! `pgmbench estimate`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::config::ByteSize;
use private_pgm::fit::{
    Algorithm, Constant, EstimateError, Fit, OracleKind, Progress, Settings, SettingsError,
    SettingsLayer, StepSize,
};
use private_pgm::loss::Norm;
use private_pgm::model::Model;
use private_pgm::problem::Problem;

use super::choice::one_of;
use super::engine_files::{is_standard, read_model, read_problem};
use super::estimate_report::EstimateReport;
use super::failure::{Failure, ResultExt};
use super::output::{note, print, print_data, print_json};
use super::output_file::{ForceArgs, OutputFile};
use super::progress::{Spinner, Trace};

/// Estimate a model from noisy measurements
///
/// Reads a problem (attributes, noisy answers, standard deviations), finds the distribution whose
/// answers are closest to the measured ones, and writes it as a model file for `query` and `synth`.
/// The printed gap is a certificate: no distribution has a loss that is smaller by more than the
/// gap.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench estimate problem.json --out model.pgm\n  \
    pgmbench estimate problem.json --out model.pgm --gap 0.01 --memory-limit 2GiB --json")]
pub(crate) struct EstimateArgs {
    /// The problem, a JSON file (format: docs/formats.md); - for the standard input
    problem: PathBuf,
    /// Write the model to this file; - for the standard output
    #[arg(long, value_name = "MODEL")]
    out: PathBuf,
    /// Algorithm that minimises the loss
    #[arg(long, default_value_t = Algorithm::Auto, value_parser = one_of::<Algorithm>())]
    algorithm: Algorithm,
    /// Distance between the model's answers and the measured ones
    #[arg(long, default_value_t = Norm::L2, value_parser = one_of::<Norm>())]
    loss: Norm,
    /// Maximum number of iterations [default: as many as take a few seconds, between 2000 and two
    /// million; unlimited with --gap]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// Stop when the loss is proven to be at most G above its minimum [default: 1e-11 of the loss
    /// (1e-8 of the L1 loss), or 1e-12]
    #[arg(long, value_name = "G", allow_negative_numbers = true, value_parser = not_negative)]
    gap: Option<f64>,
    /// Computation of marginals; loopy and convex are approximations for models whose junction tree
    /// is too large
    #[arg(long, default_value_t = OracleKind::Exact, value_parser = one_of::<OracleKind>())]
    oracle: OracleKind,
    /// Maximum memory for tables, such as 500MB or 2GiB [default: half of the machine's memory]
    #[arg(long, value_name = "BYTES")]
    memory_limit: Option<ByteSize>,
    /// Step size of mirror: line-search, constant, decreasing (as 1/t), inverse-root (as
    /// 1/sqrt(t)), a number (constant), decreasing=NUMBER or inverse-root=NUMBER (a first step)
    /// [default: line-search; decreasing for the L1 loss]
    #[arg(long, allow_negative_numbers = true)]
    step: Option<StepSize>,
    /// Constant of dual-averaging (spectral, smoothness or a number; default: spectral) and of
    /// accelerated (adaptive, smoothness or a number; default: adaptive)
    #[arg(long, allow_negative_numbers = true)]
    constant: Option<Constant>,
    /// Start from the potentials of this model instead of the uniform distribution
    #[arg(long, value_name = "MODEL")]
    warm_start: Option<PathBuf>,
    /// Write iteration, seconds, L1 and L2 loss and gap to this CSV file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    /// Print a JSON object instead of a summary
    #[arg(long)]
    json: bool,
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&number: &f64| number >= 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number that is not negative".into())
}

impl EstimateArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let (out, trace_out) = self.check()?;
        let settings = self.settings()?;
        let problem = read_problem(&self.problem)?;
        let warm_start = match &self.warm_start {
            Some(path) => Some(self.read_start(path, &problem)?),
            None => None,
        };
        let spinner = Spinner::start();
        let mut trace = Trace::new();
        let observer = |progress: &Progress<'_>| {
            spinner.show(progress);
            if self.trace.is_some() {
                trace.record(progress);
            }
        };
        let estimate = Fit::new(&problem)
            .settings(settings)
            .warm_start(warm_start.as_ref())
            .memory_limit(self.memory_limit.map(|limit| limit.0))
            .both_losses(self.trace.is_some())
            .observer(observer)
            .run()
            .map_err(|error| self.failure(error))?;
        drop(spinner);
        if let (Some(path), Some(start)) = (&self.warm_start, &warm_start)
            && !fits_somewhere(start, &estimate.model)
        {
            note(format_args!(
                "note: no clique of {} is contained in a clique of the problem; the estimate \
                 started from the uniform distribution",
                path.display()
            ));
        }
        // Either both files are written or none.
        let trace_file = trace_out.map(|file| file.stage(trace.as_bytes())).transpose()?;
        let report = EstimateReport::new(&problem, &estimate);
        let Some(out) = out else {
            print_data(|output| estimate.model.write(output).map_err(io::Error::other))?;
            trace_file.map_or(Ok(()), |file| file.commit())?;
            // The standard output is the model.
            let mut summary = Vec::new();
            let _ = report.summarise(&self.out, &mut summary);
            note(String::from_utf8_lossy(&summary).trim_end());
            return Ok(());
        };
        let mut model_file = out.start()?;
        let cannot_write = || format!("cannot write {}", self.out.display());
        estimate.model.write(&mut model_file).internal_at(cannot_write())?;
        model_file.commit()?;
        trace_file.map_or(Ok(()), |file| file.commit())?;
        match self.json {
            true => print_json(&report),
            false => print(|output| report.summarise(&self.out, output)),
        }
    }

    /// The model to start from. Attributes that it shares with the problem must have the same size.
    fn read_start(&self, path: &Path, problem: &Problem) -> Result<Model, Failure> {
        let model = read_model(path)?;
        let domain = model.domain();
        for &id in domain.declared() {
            let (name, size) = (domain.name(id), domain.size(id));
            let here = problem.domain.id(name).map(|id| problem.domain.size(id));
            if let Some(here) = here.filter(|&here| here != size) {
                return Err(Failure::input(format!(
                    "--warm-start: {name:?} has {size} values in {} and {here} in {}",
                    path.display(),
                    self.problem.display()
                )));
            }
        }
        Ok(model)
    }

    fn failure(&self, error: EstimateError) -> Failure {
        let mut message = format!("{}: {error}", self.problem.display());
        if matches!(error, EstimateError::OutOfMemory(_)) {
            // The problem is not wrong: another process, or a limit like ulimit -v, has the rest.
            message += "; the estimate needs more memory than this process can have now";
            return Failure::Unexpected(anyhow::anyhow!(message));
        }
        if matches!(error, EstimateError::TooLarge(_)) {
            if self.memory_limit.is_none() {
                message += "; the limit is half of this machine's memory, change it with \
                            --memory-limit";
            }
            if self.oracle == OracleKind::Exact {
                message += "; --oracle loopy and --oracle convex approximate the marginals without \
                            a junction tree";
            }
        }
        Failure::input(message)
    }

    /// Checks the output paths before anything is read. Returns those of the model, unless it is
    /// the standard output, and of the trace.
    fn check(&self) -> Result<(Option<OutputFile>, Option<OutputFile>), Failure> {
        let is_standard_output = is_standard(&self.out);
        if is_standard_output && self.json {
            return Err(Failure::input(
                "--json and --out - both write to the standard output; write the model to a file",
            ));
        }
        let mut inputs = vec![("the problem file", self.problem.as_path())];
        inputs.extend(self.warm_start.iter().map(|path| ("the model to start from", &**path)));
        let overwrite = self.force.overwrite();
        let out = match is_standard_output {
            true => None,
            false => Some(OutputFile::check(&self.out, overwrite, &inputs)?),
        };
        inputs.push(("the model of --out", &self.out));
        let trace = self.trace.iter().map(|trace| OutputFile::check(trace, overwrite, &inputs));
        Ok((out, trace.collect::<Result<Vec<_>, _>>()?.pop()))
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let layer = SettingsLayer {
            algorithm: Some(self.algorithm),
            constant: self.constant,
            step: self.step,
            iterations: self.iterations.map(|iterations| iterations as usize),
            gap: self.gap,
            loss: Some(self.loss),
            oracle: Some(self.oracle),
        };
        let failure =
            |error: SettingsError| Failure::input(format!("--{}: {error}", error.setting()));
        Settings::try_from(layer).map_err(failure)
    }
}

/// Whether a clique of one model is contained in a clique of the other, so that its potentials can
/// be the start of an estimate.
fn fits_somewhere(one: &Model, other: &Model) -> bool {
    let names = |model: &Model| -> Vec<BTreeSet<String>> {
        let names = |clique| model.domain().names(clique).into_iter().map(String::from).collect();
        model.layout().cliques().iter().map(names).collect()
    };
    let larger = names(other);
    let fits = |clique: &BTreeSet<String>| larger.iter().any(|larger| clique.is_subset(larger));
    names(one).iter().any(|clique| !clique.is_empty() && fits(clique))
}
