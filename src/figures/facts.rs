use super::chart::Chart;
use super::figure;
use super::numbers::plainly;
use crate::results::manifest::Manifest;
use crate::results::{Metric, TraceRecord, TrialRecord};

/// What the records do not know about the figure that is made of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The headline.
    pub title: String,
    /// A line beneath it: the budget, the workload. The figure adds the number of trials.
    pub subtitle: String,
    /// Where the numbers come from: version, commit, date.
    pub footnote: String,
    /// The seconds that an arm may take, where that is known.
    pub time_limit: Option<f64>,
    /// The number that is shown.
    pub metric: Metric,
}

impl Facts {
    /// Those that a manifest has.
    pub fn of(manifest: &Manifest) -> Self {
        let configured = |path: &str| manifest.configuration.pointer(path);
        let title = configured("/title").and_then(|title| title.as_str());
        Self {
            title: title.unwrap_or_default().into(),
            subtitle: cut_short(manifest).unwrap_or_default(),
            footnote: footnote(manifest),
            time_limit: configured("/limits/seconds").and_then(|seconds| seconds.as_f64()),
            metric: Metric::of_experiment(manifest),
        }
    }

    /// What stands for an arm that ran out of time.
    pub(super) fn timeout(&self) -> String {
        match self.time_limit {
            Some(seconds) => format!("timeout after {} s", plainly(seconds)),
            None => "timeout".into(),
        }
    }
}

/// What there is to say when the command line has changed how long estimates go on: an estimate that was
/// stopped early can look worse than the estimator that it is compared with.
fn cut_short(manifest: &Manifest) -> Option<String> {
    let words = &manifest.runs.last()?.command_line;
    let is_cut = |word: &String| word == "--quick" || word.starts_with("--iterations");
    let iterations = manifest.configuration.pointer("/estimation/iterations")?.as_u64()?;
    words
        .iter()
        .any(is_cut)
        .then(|| format!("estimates were stopped after {iterations} iterations"))
}

/// Version, commit and day.
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

/// The chart that the configuration of these results asks for; none where it asks for none.
pub fn chart_of(
    manifest: &Manifest,
    rows: &[TrialRecord],
    traces: &[TraceRecord],
) -> Option<Chart> {
    let kind = manifest.configuration.pointer("/figure/kind")?.as_str()?;
    (figure(kind)?.chart)(rows, traces, &Facts::of(manifest))
}
