use serde_json::Value;

use super::chart::Chart;
use super::figure;
use super::numbers::plainly;
use crate::results::manifest::{Manifest, NOTICE};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Of estimates for which the file names none, as `config::Estimation` has it.
const DEFAULT_ITERATIONS: u64 = 1000;

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
            subtitle: cut_short(&manifest.configuration, &manifest.configuration_text)
                .unwrap_or_default(),
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

/// What there is to say when estimates went on for fewer iterations than the file asks for: one that
/// was stopped early can look worse than the estimator that it is compared with.
fn cut_short(configuration: &Value, file: &str) -> Option<String> {
    let written: Value = toml::from_str(file).unwrap_or_default();
    let untold = written.pointer("/estimation/iterations").is_none();
    let asked = most_iterations(&written).max(untold.then_some(DEFAULT_ITERATIONS));
    let most = most_iterations(configuration)?;
    (Some(most) < asked).then(|| format!("estimates were stopped after {most} iterations"))
}

/// The largest number of iterations that a section on estimation has.
fn most_iterations(configuration: &Value) -> Option<u64> {
    let of_section = |(name, inner): (&String, &Value)| match name.as_str() {
        "estimation" => inner.get("iterations")?.as_u64(),
        _ => most_iterations(inner),
    };
    match configuration {
        Value::Object(sections) => sections.iter().filter_map(of_section).max(),
        Value::Array(list) => list.iter().filter_map(most_iterations).max(),
        _ => None,
    }
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

/// The chart that the configuration of these results asks for; none where it asks for none. It says
/// that it is not for release.
pub fn chart_of(
    manifest: &Manifest,
    rows: &[TrialRecord],
    traces: &[TraceRecord],
) -> Option<Chart> {
    let kind = manifest.configuration.pointer("/figure/kind")?.as_str()?;
    let mut chart = (figure(kind)?.chart)(rows, traces, &Facts::of(manifest))?;
    chart.notes.push(format!("This figure is {NOTICE}."));
    Some(chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn estimates_are_cut_short_where_the_file_asks_for_more() {
        let ran = |iterations: u64| {
            json!({
                "estimation": {"iterations": iterations},
                "mechanism": [{"arms": [{"estimation": {"iterations": iterations}}]}],
            })
        };
        let said = |iterations: u64, file: &str| cut_short(&ran(iterations), file).is_some();
        assert!(!said(1000, "") && said(999, ""), "the default");
        let told = "[estimation]\niterations = 50\n[quick]\niterations = 9";
        assert!(!said(50, told) && !said(60, told) && said(9, told));
        let of_an_arm = "[[mechanism]]\narms = [{ estimation = { iterations = 3000 } }]";
        assert!(!said(3000, of_an_arm) && said(1000, of_an_arm));
        assert_eq!(cut_short(&json!({"name": "no estimates"}), "name = 'x'"), None);
        let words = cut_short(&ran(9), told).unwrap();
        assert_eq!(words, "estimates were stopped after 9 iterations");
    }
}
