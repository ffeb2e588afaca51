use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges, Series};
use super::labels::{self, SeriesKey, distinct};
use super::palette;
use super::tally::{Omissions, Tally, shown_of, trials_phrase};
use crate::config::{Emphasis, Statistic};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Rounds used against the number of rounds that the budget is planned for, both logarithmic.
///
/// A panel per epsilon, a line per dataset, and the diagonal as an upper bound. Mechanisms of the
/// experiment differ in their number of rounds, for example by alpha. All arms of a trial share
/// its rounds, so only the first arm counts.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let first_arm = |trial: &&TrialRecord| {
        let same = trials.iter().find(|t| t.mechanism == trial.mechanism);
        same.is_some_and(|first| first.arm == trial.arm)
    };
    let (mut panels, mut omissions) = (Vec::new(), Omissions::default());
    for &epsilon in &epsilons {
        let here: Vec<&TrialRecord> =
            trials.iter().filter(|t| t.epsilon == epsilon).filter(first_arm).collect();
        let mut lines = vec![bound(&here)];
        for (i, &dataset) in datasets.iter().enumerate() {
            let in_line = || here.iter().copied().filter(move |t| t.dataset == dataset);
            omissions.add(&labels::dataset(dataset), &Tally::of(in_line(), Metric::Rounds));
            let points = limits(in_line()).into_iter().map(|limit| {
                let at_limit = in_line().filter(|t| t.round_limit == Some(limit));
                let y = shown_of(
                    at_limit.filter_map(|trial| Metric::Rounds.of(trial)),
                    facts.statistic,
                );
                Point { x: limit as f64, y, unconverged: 0 }
            });
            lines.push(Line { series: i + 1, points: points.collect(), end: None });
        }
        let title = match epsilons.len() {
            1 => String::new(),
            _ => format!("epsilon = {epsilon}"),
        };
        let x = Axis::log("rounds at most, 4 ln|X| / alpha^2");
        let content = Content::Lines { x, lines, ranges: Ranges::Whiskers };
        panels.push(Panel { title, y: Axis::log("rounds used"), content });
    }
    let keys: Vec<SeriesKey> =
        datasets.iter().map(|&dataset| SeriesKey { context: dataset, arm: dataset }).collect();
    let with_star = |key: &SeriesKey| {
        let star = labels::star(trials.iter().filter(|trial| trial.dataset == key.arm));
        labels::dataset(key.arm) + star
    };
    let by_dataset = labels::series(&keys, with_star);
    let colour = palette::bound(by_dataset.iter().map(|series| series.colour));
    let mut series =
        vec![Series { name: "at most".into(), colour, style: 1, emphasis: Emphasis::Normal }];
    series.extend(by_dataset);
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers", facts.statistic);
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series,
        columns: panels.len().clamp(1, 3),
        panels,
        shares_y: true,
        notes: [labels::standin_note(trials)]
            .into_iter()
            .chain(omissions.notes())
            .flatten()
            .collect(),
        footnote: facts.footnote.clone(),
        ..Chart::default()
    })
}

/// The diagonal: as many rounds as planned.
fn bound(trials: &[&TrialRecord]) -> Line {
    let points = limits(trials.iter().copied()).into_iter().map(|limit| {
        let limit = limit as f64;
        Point { x: limit, y: shown_of([limit], Statistic::Median), unconverged: 0 }
    });
    Line { series: 0, points: points.collect(), end: None }
}

/// The planned numbers of rounds, in ascending order.
fn limits<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> Vec<usize> {
    let mut limits: Vec<usize> = trials.filter_map(|trial| trial.round_limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}
