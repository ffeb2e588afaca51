use super::Facts;
use super::chart::{Axis, Bar, Category, Chart, Content, Panel};
use super::labels::{self, STAR, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, marks_note, trials_phrase};
use crate::results::{TraceRecord, TrialRecord};

/// Error by mechanism, data and estimator: the paper's Figure 1.
///
/// A panel for each mechanism (and for each epsilon, when there are several), the paper's four
/// first; the data in order of appearance; medians over trials with whiskers from the smallest to
/// the largest. An arm that does not run has the reason in place of its bar.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let arms = estimators(trials);
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let mut panel_keys = distinct(trials.iter().map(|t| (t.mechanism.as_str(), t.epsilon)));
    panel_keys.sort_by_key(|(mechanism, _)| labels::mechanism_rank(mechanism));
    let mechanisms = distinct(panel_keys.iter().map(|key| key.0));

    let mut left_out = Vec::new();
    let mut panels = Vec::new();
    for &(mechanism, epsilon) in &panel_keys {
        let rows: Vec<&TrialRecord> =
            trials.iter().filter(|t| t.mechanism == mechanism && t.epsilon == epsilon).collect();
        let mut categories = Vec::new();
        for &dataset in &datasets {
            let rows = || rows.iter().copied().filter(move |t| t.dataset == dataset);
            let mut bars = Vec::new();
            for (series, &arm) in arms.iter().enumerate() {
                let of_arm: Vec<&TrialRecord> = rows().filter(|t| t.arm == arm).collect();
                if of_arm.is_empty() {
                    continue;
                }
                let tally = Tally::of(of_arm, facts.metric);
                let name = labels::mechanism_with(mechanism, arm);
                let place = format!("{name} on {}", labels::dataset(dataset));
                left_out.extend(tally.left_out().map(|what| (place, what)));
                let (outcome, unconverged) = (tally.outcome(facts), tally.unconverged());
                bars.push(Bar { series, outcome, unconverged });
            }
            let star = if rows().any(|t| t.standin) { STAR } else { "" };
            categories.push(Category { label: labels::dataset(dataset) + star, bars });
        }
        let title = match epsilons.len() {
            ..=1 => labels::mechanism(mechanism),
            _ => format!("{}, epsilon = {epsilon}", labels::mechanism(mechanism)),
        };
        let content = Content::Bars { label: String::new(), categories };
        panels.push(Panel { title, y: Axis::log(facts.metric.label()), content });
    }

    let standins = trials.iter().filter(|t| t.standin).map(|t| labels::dataset(&t.dataset));
    let keys: Vec<SeriesKey> = arms.iter().map(|&arm| SeriesKey { context: "", arm }).collect();
    let series = labels::series(&keys, |key| match (mechanisms.as_slice(), key.arm) {
        ([mechanism], arm) => labels::mechanism_with(mechanism, arm),
        (_, "own") => "mechanism with its own estimator".into(),
        (_, arm) => format!("+{}", labels::arm(arm)),
    });
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
    let notes =
        [labels::standin_note(&distinct(standins)), marks_note(&panels), left_out_note(&left_out)];
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series,
        columns: if panels.len() == 1 { 1 } else { 2 },
        panels,
        shares_y: true,
        notes: notes.into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
    })
}

/// The mechanism's own estimator first and PGM last, as in the paper, whatever ran first.
fn estimators(trials: &[TrialRecord]) -> Vec<&str> {
    let mut arms = distinct(trials.iter().map(|trial| trial.arm.as_str()));
    arms.sort_by_key(|&arm| match arm {
        "own" => 0,
        "pgm" => 2,
        _ => 1,
    });
    arms
}
