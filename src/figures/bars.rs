use super::Facts;
use super::chart::{Axis, Category, Chart, Content, Panel};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, trials_phrase, unconverged_mark_note};
use crate::results::{TraceRecord, TrialRecord};

/// Error by mechanism, dataset and estimator: the paper's Figure 1.
///
/// A panel per mechanism (and per epsilon, if there are several), the paper's four first; a group
/// of bars per dataset in order of appearance. Bars are medians over trials, whiskers reach from
/// the smallest to the largest value. An arm without a value has the reason in place of its bar.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let arms = estimators(trials);
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let mut panel_keys = distinct(trials.iter().map(|t| (t.mechanism.as_str(), t.epsilon)));
    panel_keys.sort_by_key(|(mechanism, _)| labels::mechanism_rank(mechanism));
    let mechanisms = distinct(panel_keys.iter().map(|key| key.0));

    let mut omissions = Omissions::default();
    let mut panels = Vec::new();
    for &(mechanism, epsilon) in &panel_keys {
        let in_panel = trials.iter().filter(|t| t.mechanism == mechanism && t.epsilon == epsilon);
        let in_panel: Vec<&TrialRecord> = in_panel.collect();
        let group = |&dataset: &&str| group(&in_panel, dataset, &arms, facts, &mut omissions);
        let categories = datasets.iter().map(group).collect();
        let title = match epsilons.len() {
            ..=1 => labels::mechanism(mechanism),
            _ => format!("{}, epsilon = {epsilon}", labels::mechanism(mechanism)),
        };
        let content = Content::Bars { label: String::new(), categories };
        panels.push(Panel { title, y: Axis::of(facts.metric), content });
    }

    let keys: Vec<SeriesKey> = arms.iter().map(|&arm| SeriesKey { context: "", arm }).collect();
    let series = labels::series(&keys, |key| match (mechanisms.as_slice(), key.arm) {
        ([mechanism], arm) => labels::mechanism_with(mechanism, arm),
        (_, "own") => "mechanism with its own estimator".into(),
        (_, arm) => format!("+{}", labels::arm(arm)),
    });
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers", facts.statistic);
    let explanations = [labels::standin_note(trials), unconverged_mark_note(&panels)];
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series,
        columns: if panels.len() == 1 { 1 } else { 2 },
        panels,
        shares_y: true,
        notes: explanations.into_iter().chain(omissions.notes()).flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// The bars of one dataset in a panel.
fn group(
    in_panel: &[&TrialRecord],
    dataset: &str,
    arms: &[&str],
    facts: &Facts,
    omissions: &mut Omissions,
) -> Category {
    let in_group = || in_panel.iter().copied().filter(|trial| trial.dataset == dataset);
    let mut bars = Vec::new();
    for (series, &arm) in arms.iter().enumerate() {
        let in_bar: Vec<&TrialRecord> = in_group().filter(|trial| trial.arm == arm).collect();
        let Some(first) = in_bar.first() else { continue };
        let name = labels::mechanism_with(&first.mechanism, arm);
        let tally = Tally::of(in_bar, facts.metric);
        omissions.add(&format!("{name} on {}", labels::dataset(dataset)), &tally);
        bars.push(tally.bar(series, facts));
    }
    Category { label: labels::dataset(dataset) + labels::star(in_group()), bars }
}

/// The mechanism's own estimator first and PGM last, as in the paper.
fn estimators(trials: &[TrialRecord]) -> Vec<&str> {
    let mut arms = distinct(trials.iter().map(|trial| trial.arm.as_str()));
    arms.sort_by_key(|&arm| match arm {
        "own" => 0,
        "pgm" => 2,
        _ => 1,
    });
    arms
}
