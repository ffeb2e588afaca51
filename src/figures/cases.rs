use super::Facts;
use super::chart::{Axis, Bar, Category, Chart, Content, Panel};
use super::labels::{self, STAR, SeriesKey, distinct};
use super::tally::{Tally, left_out_note, marks_note, trials_phrase};
use crate::results::{TraceRecord, TrialRecord};

/// Error by case, such as kinds of queries: Figure 5.3.2 of KDD 2015. A panel for each data (and for
/// each epsilon, when there are several), a group of bars for each case, a bar for each mechanism and
/// estimator; medians over trials with whiskers from the smallest to the largest.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let keys = distinct(trials.iter().map(|t| SeriesKey { context: &t.mechanism, arm: &t.arm }));
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let cases = distinct(trials.iter().map(|trial| trial.case.as_str()));
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let (mut left_out, mut panels) = (Vec::new(), Vec::new());
    let places = epsilons.iter().flat_map(|&e| datasets.iter().map(move |&dataset| (e, dataset)));
    for (epsilon, dataset) in places {
        let budget = match epsilons.len() {
            ..=1 => String::new(),
            _ => format!(", epsilon = {epsilon}"),
        };
        let mut categories = Vec::new();
        for &case in &cases {
            let of_panel = |t: &&TrialRecord| t.dataset == dataset && t.epsilon == epsilon;
            let here = || trials.iter().filter(of_panel).filter(|t| t.case == case);
            let mut bars = Vec::new();
            for (series, key) in keys.iter().enumerate() {
                let mut of_key = here().filter(|t| t.mechanism == key.context && t.arm == key.arm);
                let tally = Tally::of(of_key.by_ref(), facts.metric);
                if tally.is_empty() {
                    continue;
                }
                let name = labels::mechanism_with(key.context, key.arm);
                let place = format!("{name}, {case} on {}{budget}", labels::dataset(dataset));
                left_out.extend(tally.left_out().map(|what| (place, what)));
                let (outcome, unconverged) = (tally.outcome(facts), tally.unconverged());
                bars.push(Bar { series, outcome, unconverged });
            }
            categories.push(Category { label: case.to_string(), bars });
        }
        let star = if trials.iter().any(|t| t.dataset == dataset && t.standin) { STAR } else { "" };
        let content = Content::Bars { label: String::new(), categories };
        let title = labels::dataset(dataset) + star + &budget;
        panels.push(Panel { title, y: Axis::log(facts.metric.label()), content });
    }
    let standins = trials.iter().filter(|t| t.standin).map(|t| labels::dataset(&t.dataset));
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
    let notes =
        [labels::standin_note(&distinct(standins)), marks_note(&panels), left_out_note(&left_out)];
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series: labels::series(&keys, |key| labels::mechanism_with(key.context, key.arm)),
        columns: match epsilons.len() {
            ..=1 => panels.len().min(3),
            _ => datasets.len(),
        },
        panels,
        shares_y: false,
        notes: notes.into_iter().flatten().collect(),
        footnote: facts.footnote.clone(),
    })
}
