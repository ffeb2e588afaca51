use super::Facts;
use super::chart::{Axis, Bar, Category, Chart, Content, Panel};
use super::labels::{self, SeriesKey, distinct};
use super::tally::{Omissions, Tally, trials_phrase, unconverged_mark_note};
use crate::results::{TraceRecord, TrialRecord};

/// Error by case, such as kinds of queries: Figure 5.3.2 of KDD 2015.
///
/// A panel per dataset (and per epsilon, if there are several), a group of bars per case, a bar per
/// mechanism and estimator. Bars are medians over trials, whiskers reach from the smallest to the
/// largest value.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let keys = distinct(trials.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }));
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let cases = distinct(trials.iter().map(|trial| trial.case.as_str()));
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let (mut omissions, mut panels) = (Omissions::default(), Vec::new());
    let panel_keys = epsilons.iter().flat_map(|&e| datasets.iter().map(move |&name| (e, name)));
    for (epsilon, dataset) in panel_keys {
        let budget = match epsilons.len() {
            ..=1 => String::new(),
            _ => format!(", epsilon = {epsilon}"),
        };
        let mut categories = Vec::new();
        for &case in &cases {
            let in_panel = |t: &&TrialRecord| t.dataset == dataset && t.epsilon == epsilon;
            let in_group = trials.iter().filter(in_panel).filter(|t| t.case == case);
            let in_group: Vec<&TrialRecord> = in_group.collect();
            let place = format!("{case} on {}{budget}", labels::dataset(dataset));
            let bars = bars(&in_group, &keys, &place, facts, &mut omissions);
            categories.push(Category { label: case.to_string(), bars });
        }
        let star = labels::star(trials.iter().filter(|trial| trial.dataset == dataset));
        let content = Content::Bars { label: String::new(), categories };
        let title = labels::dataset(dataset) + star + &budget;
        panels.push(Panel { title, y: Axis::of(facts.metric), content });
    }
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers", facts.statistic);
    let explanations = [labels::standin_note(trials), unconverged_mark_note(&panels)];
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: facts.series(&keys),
        columns: match epsilons.len() {
            ..=1 => panels.len().min(3),
            _ => datasets.len(),
        },
        panels,
        shares_y: false,
        notes: explanations.into_iter().chain(omissions.notes()).flatten().collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// The bars of one group; `place` names the group in notes.
fn bars(
    in_group: &[&TrialRecord],
    keys: &[SeriesKey],
    place: &str,
    facts: &Facts,
    omissions: &mut Omissions,
) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (series, key) in keys.iter().enumerate() {
        let in_bar = in_group.iter().filter(|t| t.mechanism == key.context && t.arm == key.arm);
        let tally = Tally::of(in_bar.copied(), facts.metric);
        if !tally.is_empty() {
            let name = facts.name_of(key);
            omissions.add(&format!("{name}, {place}"), &tally);
            bars.push(tally.bar(series, facts));
        }
    }
    bars
}
