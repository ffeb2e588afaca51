use super::Facts;
use super::chart::{Axis, Chart, Content, Line, Panel, Point, Ranges, Series};
use super::labels::{self, STAR, SeriesKey, distinct};
use super::palette;
use super::tally::{Tally, left_out_note, spread_of, trials_phrase};
use crate::results::{Metric, TraceRecord, TrialRecord};

/// Rounds that were used against those that the budget was laid out for, both logarithmic: a panel for
/// each epsilon, a line for each data, and the line that none may cross. What leads to another number
/// of rounds, such as alpha, is another mechanism of the experiment. All arms of a trial share its
/// rounds, so that the first one stands for them.
pub(super) fn chart(trials: &[TrialRecord], _: &[TraceRecord], facts: &Facts) -> Option<Chart> {
    let epsilons = distinct(trials.iter().map(|trial| trial.epsilon));
    let datasets = distinct(trials.iter().map(|trial| trial.dataset.as_str()));
    let first_arm = |trial: &&TrialRecord| {
        let same = trials.iter().find(|t| t.mechanism == trial.mechanism);
        same.is_some_and(|first| first.arm == trial.arm)
    };
    let (mut panels, mut left_out) = (Vec::new(), Vec::new());
    for &epsilon in &epsilons {
        let here: Vec<&TrialRecord> =
            trials.iter().filter(|t| t.epsilon == epsilon).filter(first_arm).collect();
        let mut lines = vec![bound(&here)];
        for (place, &dataset) in datasets.iter().enumerate() {
            let own = || here.iter().copied().filter(move |t| t.dataset == dataset);
            let name = labels::dataset(dataset);
            left_out.extend(Tally::of(own(), Metric::Rounds).left_out().map(|what| (name, what)));
            let points = limits(own()).into_iter().map(|limit| {
                let at = own().filter(|t| t.round_limit == Some(limit));
                let y = spread_of(at.filter_map(|trial| Metric::Rounds.of(trial)));
                Point { x: limit as f64, y, unconverged: 0 }
            });
            lines.push(Line { series: place + 1, points: points.collect(), end: None });
        }
        let title = match epsilons.len() {
            1 => String::new(),
            _ => format!("epsilon = {epsilon}"),
        };
        let x = Axis::log("rounds at most, 4 ln|X| / alpha^2");
        let content = Content::Lines { x, lines, ranges: Ranges::Whiskers };
        panels.push(Panel { title, y: Axis::log("rounds used"), content });
    }
    let standins = trials.iter().filter(|t| t.standin).map(|t| labels::dataset(&t.dataset));
    let keys: Vec<SeriesKey> =
        datasets.iter().map(|&dataset| SeriesKey { context: dataset, arm: dataset }).collect();
    let with_star = |key: &SeriesKey| {
        let standin = trials.iter().any(|t| t.dataset == key.arm && t.standin);
        labels::dataset(key.arm) + if standin { STAR } else { "" }
    };
    let of_data = labels::series(&keys, with_star);
    let colour = palette::bound(of_data.iter().map(|series| series.colour));
    let mut series = vec![Series { name: "at most".into(), colour, style: 1 }];
    series.extend(of_data);
    let spread = trials_phrase(trials.iter().map(|trial| trial.trial), "whiskers");
    Some(Chart {
        title: facts.title.clone(),
        subtitle: labels::joined(&[&facts.subtitle, &spread]),
        series,
        columns: panels.len().clamp(1, 3),
        panels,
        shares_y: true,
        notes: [labels::standin_note(&distinct(standins)), left_out_note(&left_out)]
            .into_iter()
            .flatten()
            .collect(),
        footnote: facts.footnote.clone(),
    })
}

/// As many rounds as there could have been.
fn bound(trials: &[&TrialRecord]) -> Line {
    let points = limits(trials.iter().copied()).into_iter().map(|limit| {
        let limit = limit as f64;
        Point { x: limit, y: spread_of([limit]), unconverged: 0 }
    });
    Line { series: 0, points: points.collect(), end: None }
}

/// The numbers of rounds that there could have been, from the smallest to the largest.
fn limits<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> Vec<usize> {
    let mut limits: Vec<usize> = trials.filter_map(|trial| trial.round_limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}
