//! `pgmbench plan`.

use clap::Args;
use pgmbench::experiment::PlannedMechanism;

use private_pgm::numeric::bytes::Bytes;

use super::about::About;
use super::experiment_args::ExperimentArgs;
use super::failure::Failure;
use super::output::print;
use super::table1;

/// Show what an experiment would do: trials, sizes of models, memory, time
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
        let trees = plan.trees();
        print(|output| {
            writeln!(output, "\nThe whole workload as one graphical model:")?;
            let asked = |name| plan.filter.keeps_dataset(name);
            for (data, tree) in
                plan.datasets.iter().zip(&trees).filter(|(data, _)| asked(&data.name))
            {
                let bytes = Bytes(tree.bytes());
                writeln!(
                    output,
                    "  {:<12} {} cliques, {} cells in the junction tree ({bytes}), {} in the largest",
                    data.name, tree.cliques, tree.cells, tree.largest
                )?;
            }
            writeln!(output)?;
            for PlannedMechanism { label, title, arms, delta, .. } in &plan.mechanisms {
                let delta = delta.map_or(String::new(), |delta| format!(", delta {delta}"));
                writeln!(output, "{title} ({label}){delta}")?;
                for arm in arms {
                    let estimation = serde_json::to_string(&arm.estimation).unwrap_or_default();
                    let estimation =
                        if arm.source.name() == "pgm" { estimation } else { String::new() };
                    writeln!(output, "  {:<10} {} {estimation}", arm.name, arm.source.summary())?;
                }
            }
            let arms: usize = plan.trials.iter().map(|trial| trial.rows.len()).sum();
            let costs = plan.costs();
            let seconds: f64 = plan.trials.iter().map(|trial| costs.trial(trial)).sum();
            writeln!(output, "\n{} trials, {arms} estimates", plan.trials.len())?;
            writeln!(
                output,
                "{} on one core, judged by the sizes of the models: a rough estimate, that \
                 may be several times too small or too large",
                About(seconds)
            )
        })
    }
}
