//! All claims of kept results as one page of Markdown: paper, ours, verdict, and why they differ.

use super::experiment::Experiment;
use crate::config::Claim;
use crate::config::claim::Role;
use crate::figures::{Facts, labels};
use crate::results::claims::{Finding, Verdict};
use crate::results::manifest::DatasetFacts;
use crate::results::number;

/// The heading of experiments that name no document.
const NO_DOCUMENT: &str = "Document not recorded";

/// What that means for the count.
const NO_ROLES: &str = "These results name no document. If an earlier version kept them, they have \
                        no roles either, and all of their claims count as printed statements.";

/// The beginning of the page, by which it is recognised.
pub const HEADING: &str = "# Reproduction\n";

/// The claims of all experiments, by document. It depends on the given results only.
pub fn reproduction(experiments: &[Experiment]) -> String {
    let mut text = format!(
        "{HEADING}\n{}\n\n\
         Made from kept results by `pgmbench report --results results/reference --markdown \
         docs/reproduction.md`; not edited by hand. [results.md](results.md#claims) defines \
         verdicts and intervals. Values of the authors' code, our expectations, conditions of our \
         choices and invariants are listed apart and not counted.\n",
        headline(experiments)
    );
    let with_claims = || experiments.iter().filter(|experiment| !experiment.findings.is_empty());
    let documents = labels::distinct(with_claims().map(document));
    for name in documents {
        text += &format!("\n## {name}\n");
        if name == NO_DOCUMENT {
            text += &format!("\n{NO_ROLES}\n");
        }
        for experiment in with_claims().filter(|experiment| document(experiment) == name) {
            text += &section(experiment);
        }
    }
    text
}

/// The count of the printed statements, as a sentence.
pub fn headline(experiments: &[Experiment]) -> String {
    let all = experiments.iter().flat_map(|experiment| &experiment.findings);
    let printed: Vec<&Finding> = all.filter(|it| it.role == Role::Statement).collect();
    let count = |verdict| printed.iter().filter(|it| it.verdict == verdict).count();
    let [holds, differs, open] = [Verdict::Holds, Verdict::Differs, Verdict::CannotTell].map(count);
    format!(
        "Of {} statements printed in the papers, {holds} hold, {differs} differ, and these results \
         cannot tell about {open}.",
        printed.len()
    )
}

fn document(experiment: &Experiment) -> &str {
    experiment.manifest.experiment.document.as_deref().unwrap_or(NO_DOCUMENT)
}

fn section(experiment: &Experiment) -> String {
    let manifest = &experiment.manifest;
    let mut text = format!(
        "\n### `{}`: {}\n\nResults of {}.\n",
        manifest.name(),
        manifest.experiment.title,
        Facts::of(manifest).footnote
    );
    let numbered: Vec<(usize, &Finding)> = (1..).zip(&experiment.findings).collect();
    let is_printed = |(_, finding): &&(usize, &Finding)| finding.role == Role::Statement;
    let printed: Vec<_> = numbered.iter().filter(is_printed).copied().collect();
    let others: Vec<_> = numbered.iter().filter(|it| !is_printed(it)).copied().collect();
    text += &table(experiment, "statement of the paper", &printed);
    text += &table(experiment, "not printed in the paper", &others);
    let mut notes = String::new();
    for (index, finding) in numbered.iter().filter(|(_, it)| it.verdict != Verdict::Holds) {
        notes += &format!("- {index}: {}\n", reason(claim(experiment, *index), finding));
    }
    for data in &manifest.datasets {
        if let Some(origin) = &data.workload_origin {
            notes += &format!("- Workload of {}: {}.\n", labels::dataset(&data.name), origin.note);
        }
    }
    match notes.is_empty() {
        true => text,
        false => format!("{text}\n{notes}"),
    }
}

/// The claim behind a finding, which is the one at the same place.
fn claim(experiment: &Experiment, index: usize) -> Option<&Claim> {
    let claim = experiment.manifest.experiment.claims.get(index - 1)?.as_ref();
    (claim.says() == experiment.findings[index - 1].says).then_some(claim)
}

fn table(experiment: &Experiment, heading: &str, rows: &[(usize, &Finding)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n| | {heading} | where | paper | ours | interval | verdict | data | workload |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for &(index, finding) in rows {
        let claim = claim(experiment, index);
        let says = match finding.role {
            Role::Statement => finding.says.clone(),
            role => format!("{} ({})", finding.says, role.name()),
        };
        let cells = [
            index.to_string(),
            says,
            claim.map(Claim::place).unwrap_or_default().into(),
            finding.paper.clone(),
            finding.ours.clone(),
            interval(finding),
            verdict(finding.verdict),
            data(experiment, claim),
            workload(experiment, claim),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// A verdict other than `holds` is set in bold.
fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds => verdict.to_string(),
        Verdict::Differs | Verdict::CannotTell => format!("**{verdict}**"),
    }
}

fn interval(finding: &Finding) -> String {
    match (finding.low, finding.high, finding.coverage) {
        (Some(low), Some(high), Some(coverage)) => {
            format!("{} to {}, {:.1} %", number(low), number(high), 100.0 * coverage)
        }
        _ => String::new(),
    }
}

/// Why the verdict is not `holds`, and the explanation of the configuration.
fn reason(claim: Option<&Claim>, finding: &Finding) -> String {
    let verdict = finding.verdict;
    let explanation = match (claim.and_then(Claim::why_different), verdict) {
        (Some(why), _) => why,
        (None, Verdict::Differs) => "No explanation is recorded.",
        (None, _) => "",
    };
    format!("{verdict}: {}. {explanation}", finding.why).trim_end().to_string()
}

/// The datasets that a claim is about: its own, or all.
fn datasets<'a>(experiment: &'a Experiment, claim: Option<&Claim>) -> Vec<&'a DatasetFacts> {
    let named = claim.and_then(Claim::dataset);
    let all = experiment.manifest.datasets.iter();
    all.filter(|data| named.is_none_or(|name| name == data.name)).collect()
}

fn data(experiment: &Experiment, claim: Option<&Claim>) -> String {
    let experiment_file = &experiment.manifest.experiment;
    let drawn = |data: &DatasetFacts| {
        let mut asked = experiment_file.datasets.iter();
        asked.any(|asked| *asked.name.as_ref() == data.name && asked.chain.is_some())
    };
    let of = |data: &&DatasetFacts| match data.standin {
        true => "stand-in",
        false if experiment_file.scaling.is_some() || drawn(data) => "generated",
        false => "original",
    };
    labels::distinct(datasets(experiment, claim).iter().map(of)).join(", ")
}

fn workload(experiment: &Experiment, claim: Option<&Claim>) -> String {
    let of = |data: &&DatasetFacts| match &data.workload_origin {
        Some(origin) if origin.published => "the paper's",
        Some(_) => "ours",
        None => "not recorded",
    };
    labels::distinct(datasets(experiment, claim).iter().map(of)).join(", ")
}
