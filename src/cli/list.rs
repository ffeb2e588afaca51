//! `pgmbench list`.

use std::io::{self, Write};

use clap::Args;
use pgmbench::data::Registry;
use pgmbench::experiment::{ARMS, GuaranteeKind, MECHANISMS};
use pgmbench::figures::FIGURES;

use super::datasets::state;
use super::failure::{Failure, ResultExt};
use super::output::print;

/// Show what experiments can name: mechanisms, estimators, data sets, figures
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench list")]
pub(crate) struct ListArgs {}

impl ListArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let entries = Registry::default().entries().input()?;
        print(|output| {
            writeln!(output, "Mechanisms ([[mechanism]] name = ...)")?;
            for kind in MECHANISMS {
                line(output, kind.name, kind.summary)?;
                let guarantee = match kind.guarantee {
                    GuaranteeKind::Pure => "epsilon",
                    GuaranteeKind::Approximate => "epsilon and delta",
                    GuaranteeKind::Concentrated => "epsilon and delta, counted as rho",
                };
                line(
                    output,
                    "",
                    &format!(
                        "{}; {guarantee}; own estimator: {}",
                        kind.reference, kind.own_estimator
                    ),
                )?;
                for offer in kind.extra_estimators {
                    line(output, "", &format!("arm {}: {}", offer.name, offer.summary))?;
                }
                for parameter in kind.parameters {
                    let text = format!(
                        "{} = {}: {}",
                        parameter.name, parameter.default, parameter.meaning
                    );
                    line(output, "", &text)?;
                }
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
                line(output, figure.name, figure.about)?;
            }
            Ok(())
        })
    }
}

fn line(output: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(output, "  {name:<14} {text}")
}
