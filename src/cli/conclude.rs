//! Prints the results of an experiment.

use pgmbench::config::Metric;
use pgmbench::experiment::{Analysis, AnalysisError, Plan};
use pgmbench::results::claims::claims_table;

use super::failure::Failure;
use super::output::print;
use super::table1;

/// Prints the results; for an experiment without trials, the table of its datasets first.
pub(crate) fn print_conclusions(plan: &Plan, analysis: &Analysis) -> Result<(), Failure> {
    if plan.trials.is_empty() && !plan.datasets.is_empty() {
        table1::print_table(plan)?;
    }
    print_results(analysis)
}

/// Prints the summary and the verdicts on the claims.
pub(crate) fn print_results(analysis: &Analysis) -> Result<(), Failure> {
    let Analysis { manifest, rows, summary, findings, .. } = analysis;
    print(|output| {
        if !rows.is_empty() {
            let shown = manifest.experiment.metric();
            writeln!(output, "\n{}", summary.table(shown))?;
            for metric in [Metric::Coverage, Metric::BoundCoverage] {
                let mut with_it = summary.clone();
                with_it.groups.retain(|group| group.spread(metric).is_some());
                if !with_it.groups.is_empty() && metric != shown {
                    writeln!(output, "{}", with_it.table(metric))?;
                }
            }
        }
        if !findings.is_empty() {
            writeln!(output, "{}", claims_table(findings))?;
        }
        Ok(())
    })
}

/// Results that cannot be read are bad input.
impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Folder(_) => Self::Input(error.into()),
            error => Self::Unexpected(error.into()),
        }
    }
}
