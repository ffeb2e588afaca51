//! `pgmbench list`.

use std::io::{self, Write};

use clap::Args;
use pgmbench::data::Registry;
use pgmbench::experiment::{ARMS, GuaranteeKind, MECHANISMS, MechanismSpec};
use pgmbench::figures::FIGURES;

use super::datasets::state;
use super::failure::{Failure, ResultExt};
use super::output::print;

/// List the mechanisms, estimators, data sets and figures that experiments can use
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench list")]
pub(crate) struct ListArgs {}

impl ListArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let entries = Registry::default().entries().input()?;
        print(|output| {
            writeln!(output, "Mechanisms ([[mechanism]] name = ...)")?;
            for mechanism in MECHANISMS {
                list_mechanism(output, mechanism)?;
            }
            writeln!(output, "\nEstimators (arms = [...])")?;
            for arm in ARMS {
                line(output, arm.name, arm.summary)?;
            }
            writeln!(output, "\nData sets (datasets = [...])")?;
            for entry in &entries {
                let schema = entry.schema();
                let text = format!("{} ({})", schema.title, state(entry.availability()));
                line(output, &schema.name, &text)?;
            }
            writeln!(output, "\nFigures ([figure] kind = ...)")?;
            for figure in FIGURES {
                line(output, figure.kind.name(), figure.about)?;
            }
            Ok(())
        })
    }
}

fn list_mechanism(output: &mut dyn Write, mechanism: &MechanismSpec) -> io::Result<()> {
    line(output, mechanism.name, mechanism.summary)?;
    let guarantee = match mechanism.guarantee {
        GuaranteeKind::Pure => "epsilon",
        GuaranteeKind::Approximate => "epsilon and delta",
        GuaranteeKind::Concentrated => "epsilon and delta, counted as rho",
    };
    let (reference, own) = (mechanism.reference, mechanism.own_estimator);
    line(output, "", &format!("{reference}; {guarantee}; own estimator: {own}"))?;
    for estimator in mechanism.extra_estimators {
        line(output, "", &format!("arm {}: {}", estimator.name, estimator.summary))?;
    }
    for parameter in mechanism.parameters {
        let (name, default) = (parameter.name, parameter.default);
        line(output, "", &format!("{name} = {default}: {}", parameter.meaning))?;
    }
    Ok(())
}

fn line(output: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(output, "  {name:<14} {text}")
}
