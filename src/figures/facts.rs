use std::collections::BTreeMap;

use super::chart::{Chart, Series};
use super::figure;
use super::labels::{self, SeriesKey};
use super::numbers::plainly;
use super::overlap::name_covered_lines;
use crate::config::{ArmStyle, Claim, Emphasis, Experiment, Statistic, Sweep};
use crate::results::manifest::{DatasetFacts, Manifest, NOTICE};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// What a figure needs in addition to the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub title: String,
    /// The figure appends the number of trials.
    pub subtitle: String,
    /// Version, commit, date.
    pub footnote: String,
    /// In seconds per arm, if there is one.
    pub time_limit: Option<f64>,
    pub metric: Metric,
    pub statistic: Statistic,
    /// How arms are shown, by `mechanism/arm`.
    pub arms: BTreeMap<String, ArmStyle>,
    pub sweep: Option<Sweep>,
    /// Of the experiment.
    pub claims: Vec<Claim>,
}

impl Facts {
    pub fn of(manifest: &Manifest) -> Self {
        let experiment = &manifest.experiment;
        Self {
            title: experiment.title.clone(),
            subtitle: cut_short(experiment, manifest.full_iterations).unwrap_or_default(),
            footnote: footnote(manifest),
            time_limit: experiment.limits.seconds,
            metric: experiment.metric(),
            statistic: experiment.figure.statistic,
            arms: experiment.figure.arms.clone(),
            sweep: experiment.sweep.clone(),
            claims: experiment.claims.iter().map(|claim| claim.as_ref().clone()).collect(),
        }
    }

    /// The name of an arm in legends and notes.
    pub(super) fn name_of(&self, key: &SeriesKey) -> String {
        self.given_name(key).unwrap_or_else(|| labels::mechanism_with(key.context, key.arm))
    }

    /// The name that the configuration gives to an arm.
    pub(super) fn given_name(&self, key: &SeriesKey) -> Option<String> {
        self.style_of(key).and_then(|style| style.name.clone())
    }

    fn style_of(&self, key: &SeriesKey) -> Option<&ArmStyle> {
        self.arms.get(&format!("{}/{}", key.context, key.arm))
    }

    pub(super) fn emphasis_of(&self, key: &SeriesKey) -> Emphasis {
        self.style_of(key).map(|style| style.emphasis).unwrap_or_default()
    }

    /// A series per arm, where the context of a key is its mechanism.
    pub(super) fn series(&self, keys: &[SeriesKey]) -> Vec<Series> {
        let series = labels::series(keys, |key| self.name_of(key));
        let pairs = series.into_iter().zip(keys);
        pairs.map(|(series, key)| Series { emphasis: self.emphasis_of(key), ..series }).collect()
    }

    /// The reason in place of an arm that exceeded the time limit.
    pub(super) fn timeout(&self) -> String {
        match self.time_limit {
            Some(seconds) => format!("timeout after {} s", plainly(seconds)),
            None => "timeout".into(),
        }
    }
}

/// The subtitle of a run with fewer iterations than the file specifies: an estimate that was
/// stopped early can look worse than the estimators that it is compared with.
fn cut_short(experiment: &Experiment, full_iterations: usize) -> Option<String> {
    let most = experiment.most_iterations();
    (most < full_iterations).then(|| format!("estimates were stopped after {most} iterations"))
}

fn footnote(manifest: &Manifest) -> String {
    let Some(run) = manifest.runs.last() else { return String::new() };
    let commit = run.build.commit.as_ref().map_or(String::new(), |commit| {
        let changed = if commit.is_clean { "" } else { " with changes" };
        let shown: String = commit.id.chars().take(10).collect();
        format!(", commit {shown}{changed}")
    });
    let day = run.start.split('T').next().unwrap_or_default();
    format!("pgmbench {}{commit}, {day}", run.build.version)
}

/// The chart of these results with the notice that it is not for release; `None` for kinds without
/// a picture.
pub fn chart_of(
    manifest: &Manifest,
    rows: &[TrialRecord],
    traces: &[TraceRecord],
) -> Option<Chart> {
    let kind = manifest.experiment.figure.kind;
    let mut chart = (figure(kind).chart)(rows, traces, &Facts::of(manifest))?;
    name_covered_lines(&mut chart);
    chart.notes.extend(workload_notes(&manifest.datasets));
    Some(Chart { notice: format!("This figure is {NOTICE}."), ..chart })
}

/// Where the workloads come from: `Workload of Adult: the triples of the paper.` Datasets with the
/// same origin share a sentence.
fn workload_notes(datasets: &[DatasetFacts]) -> Vec<String> {
    let note = |data: &DatasetFacts| data.workload_origin.as_ref().map(|it| it.note.clone());
    let sentence = |origin: String| {
        let same = datasets.iter().filter(|data| note(data).as_ref() == Some(&origin));
        let names: Vec<String> = same.map(|data| labels::dataset(&data.name)).collect();
        let names = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        };
        format!("Workload of {names}: {origin}.")
    };
    labels::distinct(datasets.iter().filter_map(note)).into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Source};
    use crate::results::manifest::OriginFacts;

    #[test]
    fn datasets_with_workloads_of_one_origin_share_a_sentence() {
        let data = |name: &str, note: &str| DatasetFacts {
            name: name.into(),
            blake3: String::new(),
            records: 1,
            attributes: 1,
            domain: "2e0".into(),
            queries: 1,
            standin: false,
            workload_origin: (!note.is_empty())
                .then(|| OriginFacts { published: false, note: note.into() }),
            table: None,
            predictions: Vec::new(),
            cases: Vec::new(),
        };
        let datasets = [data("a", "ours"), data("b", "theirs"), data("c", "ours"), data("d", "")];
        let expected = ["Workload of A and C: ours.", "Workload of B: theirs."];
        assert_eq!(workload_notes(&datasets), expected);
        assert!(workload_notes(&datasets[3..]).is_empty());
    }

    #[test]
    fn estimates_are_cut_short_where_the_file_asks_for_more() {
        let said = |overrides: Overrides, sections: &str| {
            let text = format!("name = 'a'\nepsilon = 1\ndatasets = ['adult']\n{sections}");
            let source = Source { path: "a.toml".into(), text };
            let written = source.parse().unwrap();
            let full = written.most_iterations();
            cut_short(&written.overridden(&overrides), full)
        };
        let stopped = |iterations: usize, sections: &str| {
            let iterations = Some(iterations);
            said(Overrides { iterations, ..Overrides::default() }, sections).is_some()
        };
        let hdmm = "[[mechanism]]\nname = 'hdmm'\n";
        assert!(!stopped(1000, hdmm) && stopped(999, hdmm), "the default");
        let told = format!("{hdmm}[estimation]\niterations = 50\n[quick]\niterations = 9");
        assert!(!stopped(50, &told) && !stopped(60, &told) && stopped(9, &told));
        let quick = Overrides { quick: true, ..Overrides::default() };
        let words = said(quick, &told).unwrap();
        assert_eq!(words, "estimates were stopped after 9 iterations");
        let arm = "arms = [{ estimator = 'pgm', estimation = { iterations = 3000 } }]";
        let of_an_arm = format!("{hdmm}{arm}");
        assert!(!stopped(3000, &of_an_arm) && stopped(1000, &of_an_arm));
        assert_eq!(said(Overrides::default(), hdmm), None);
    }
}
