//! What is made of the rows of an experiment: summary, figure, claims.

use std::path::{Path, PathBuf};

use pgmbench::config::Source;
use pgmbench::experiment::Plan;
use pgmbench::figures;
use pgmbench::results::claims::{Claim, Finding, claims_table, write_claims};
use pgmbench::results::manifest::Manifest;
use pgmbench::results::summary::Summary;
use pgmbench::results::{Metric, TraceRecord, TrialRecord};

use super::failure::{Failure, ResultExt};
use super::output::print;
use super::results_args::{nothing, read_manifest, read_rows};
use super::table1;

/// The current rows of an experiment, and what they add up to.
pub(crate) struct Conclusion {
    folder: PathBuf,
    manifest: Manifest,
    rows: Vec<TrialRecord>,
    traces: Vec<TraceRecord>,
    summary: Summary,
    findings: Vec<Finding>,
}

impl Conclusion {
    /// Reads the results in a folder, without the stale ones.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let manifest = read_manifest(folder)?;
        let recorded = read_rows(folder)?.ok_or_else(|| nothing(folder))?;
        let rows = recorded.rows_of(&manifest.keys);
        let keys: std::collections::BTreeSet<&String> = manifest.keys.iter().collect();
        let mut traces = recorded.traces;
        traces.retain(|trace| keys.contains(&trace.key));
        let source = Source {
            path: folder.join("manifest.json"),
            text: manifest.configuration_text.clone(),
        };
        let claims = source.claims::<Claim>().map_err(|error| Failure::Input(error.into()))?;
        let findings = claims.iter().map(|claim| claim.as_ref().check(&rows, &traces)).collect();
        let summary = Summary::of(&rows);
        Ok(Self { folder: folder.into(), manifest, rows, traces, summary, findings })
    }

    /// Writes summary, claims and figure.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let failed = || format!("cannot write to {}", self.folder.display());
        let file = |name: &str| self.folder.join(name);
        self.summary.write_csv(&file("summary.csv")).internal_at(failed())?;
        write_claims(&file("claims.csv"), &self.findings).internal_at(failed())?;
        if let Some(chart) = figures::chart_of(&self.manifest, &self.rows, &self.traces) {
            figures::write(&chart, &self.folder).internal_at(failed())?;
        }
        Ok(())
    }

    /// Prints the table and what became of the claims.
    pub(crate) fn print(&self, plan: &Plan) -> Result<(), Failure> {
        if plan.trials.is_empty() && !plan.datasets.is_empty() {
            return table1::print_table(plan);
        }
        self.print_results()
    }

    /// Prints the table and what became of the claims.
    pub(crate) fn print_results(&self) -> Result<(), Failure> {
        print(|output| {
            if !self.rows.is_empty() {
                writeln!(
                    output,
                    "\n{}",
                    self.summary.table(Metric::of_experiment(&self.manifest))
                )?;
            }
            if !self.findings.is_empty() {
                writeln!(output, "{}", claims_table(&self.findings))?;
            }
            Ok(())
        })
    }
}
