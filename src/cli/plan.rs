//! `pgmbench plan`.

use std::io::{self, Write};

use clap::Args;
use pgmbench::config::Estimation;
use pgmbench::experiment::{Plan, PlannedMechanism};
use private_pgm::numeric::bytes::Bytes;

use super::about::About;
use super::count::Count;
use super::experiment_args::ExperimentArgs;
use super::failure::Failure;
use super::output::print;
use super::table1;

/// Show the trials of an experiment, the sizes of its models, and the expected time
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench plan configs/fig1.toml")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    experiment: ExperimentArgs,
}

impl PlanArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let plan = self.experiment.plan()?;
        table1::print_table(&plan)?;
        print(|output| {
            write_models(&plan, output)?;
            plan.mechanisms.iter().try_for_each(|mechanism| write_mechanism(mechanism, output))?;
            let estimates: usize = plan.trials.iter().map(|trial| trial.rows.len()).sum();
            let costs = plan.costs();
            let seconds: f64 = plan.trials.iter().map(|trial| costs.trial(trial)).sum();
            let trials = Count(plan.trials.len(), "trial");
            writeln!(output, "\n{trials}, {}", Count(estimates, "estimate"))?;
            let unknown = match &plan.unknown_costs()[..] {
                [] => String::new(),
                names => format!("; the time of {} is not known and not in it", names.join(", ")),
            };
            writeln!(
                output,
                "{} on one core, predicted from the sizes of the models: a rough estimate that \
                 may be several times too small or too large{unknown}",
                About(seconds)
            )
        })
    }
}

fn write_models(plan: &Plan, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "\nThe whole workload as one graphical model:")?;
    let trees = plan.trees();
    let all = plan.datasets.iter().zip(&trees);
    for (data, tree) in all.filter(|(data, _)| plan.filter.keeps_dataset(&data.name)) {
        writeln!(
            output,
            "  {:<12} {}, {} cells in the junction tree ({}), {} in the largest",
            data.name,
            Count(tree.cliques, "clique"),
            tree.cells,
            Bytes(tree.bytes()),
            tree.largest
        )?;
    }
    writeln!(output)
}

fn write_mechanism(mechanism: &PlannedMechanism, output: &mut dyn Write) -> io::Result<()> {
    let PlannedMechanism { label, title, arms, delta, command, .. } = mechanism;
    let delta = delta.map_or(String::new(), |delta| format!(", delta {delta}"));
    writeln!(output, "{title} ({label}){delta}")?;
    if let Some(command) = command {
        writeln!(output, "  {:<10} `{command}`; its guarantee is not verified", "command")?;
    }
    for arm in arms {
        writeln!(output, "  {:<10} {}", arm.name, arm.source.summary())?;
        if arm.source.name() == "pgm" {
            writeln!(output, "  {:<10} {}", "", settings(&arm.estimation))?;
        }
    }
    Ok(())
}

/// The settings as in an experiment file: `algorithm = accelerated, iterations = 1000`.
fn settings(estimation: &Estimation) -> String {
    let written = serde_json::to_value(estimation).unwrap_or_default();
    let settings = written.as_object().into_iter().flatten();
    let stated = settings.filter(|(_, value)| !value.is_null());
    let texts = stated.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name} = {text}"),
        None => format!("{name} = {value}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}
