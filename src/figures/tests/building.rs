//! From trial records to charts.

use super::synthetic::{
    ended, figure_1, figure_2a, figure_2b, figure_3, figure_3_trials, five, ratio_claims, trial,
    with_rounds, with_sizes,
};
use crate::config::FigureKind;
use crate::figures::overlap::name_covered_lines;
use crate::figures::{Chart, Content, FIGURES, Facts, Figure, Outcome, Panel, figure};
use crate::results::{Metric, Status, TraceRecord, TrialRecord};

/// The figure that configurations call so.
pub(super) fn named(name: &str) -> &'static Figure {
    FIGURES.iter().find(|figure| figure.kind.name() == name).unwrap()
}

pub(super) fn chart(name: &str, trials: &[TrialRecord], traces: &[TraceRecord]) -> Chart {
    let facts = Facts {
        title: "A title".into(),
        subtitle: "epsilon = 1".into(),
        footnote: "version 0".into(),
        time_limit: Some(1800.0),
        ..Facts::default()
    };
    (named(name).chart)(trials, traces, &facts).unwrap()
}

/// The label of each group of bars, and the series and outcome of each bar.
fn groups(panel: &Panel) -> Vec<(&str, Vec<(usize, &Outcome)>)> {
    let Content::Bars { categories, .. } = &panel.content else { panic!("no bars") };
    categories
        .iter()
        .map(|c| (c.label.as_str(), c.bars.iter().map(|b| (b.series, &b.outcome)).collect()))
        .collect()
}

pub(super) fn names(chart: &Chart) -> Vec<&str> {
    chart.series.iter().map(|series| series.name.as_str()).collect()
}

fn titles(chart: &Chart) -> Vec<&str> {
    chart.panels.iter().map(|panel| panel.title.as_str()).collect()
}

#[test]
fn every_kind_has_a_unique_name_and_a_description_and_accepts_no_records() {
    for (i, kind) in FIGURES.iter().enumerate() {
        assert!(kind.about.ends_with('.'), "{}", kind.kind.name());
        assert!(FIGURES[..i].iter().all(|other| other.kind != kind.kind));
        let written = serde_json::to_value(kind.kind).unwrap();
        assert_eq!(written, kind.kind.name(), "as configurations have it");
        let empty = (kind.chart)(&[], &[], &Facts::default());
        assert!(empty.is_none_or(|chart| chart.panels.is_empty()));
    }
    assert!((figure(FigureKind::Table).chart)(&figure_1(), &[], &Facts::default()).is_none());
    assert_eq!(FIGURES.len(), 12, "one for each kind");
}

#[test]
fn panels_are_in_the_papers_order_and_datasets_in_the_order_of_records() {
    let chart = chart("bars", &figure_1(), &[]);
    assert_eq!(titles(&chart), ["PrivBayes", "DualQuery", "MWEM", "HDMM"]);
    assert_eq!(names(&chart), ["mechanism with its own estimator", "+LLS", "+PGM"]);
    let labels: Vec<&str> = groups(&chart.panels[0]).iter().map(|group| group.0).collect();
    assert_eq!(labels, ["Titanic", "Adult", "Loans*", "Stroke*"]);
    assert_eq!(
        chart.subtitle,
        "epsilon = 1 · median of 5 trials, whiskers from the smallest to the largest"
    );
}

#[test]
fn ratios_are_next_to_the_numbers_of_the_claims() {
    let facts = Facts { claims: ratio_claims(), ..Facts::default() };
    let chart = (named("ratios").chart)(&figure_1(), &[], &facts).unwrap();
    assert_eq!(titles(&chart), ["PrivBayes", "HDMM"]);
    assert_eq!(names(&chart), ["the paper", "ours"]);
    let groups = groups(&chart.panels[1]);
    assert_eq!(groups.len(), 1);
    let (label, bars) = &groups[0];
    assert_eq!(*label, "Adult");
    let median = |outcome: &Outcome| match outcome {
        Outcome::Value(shown) => shown.value,
        _ => panic!("no value"),
    };
    assert_eq!(median(bars[0].1), 3.2);
    // 0.27 against 0.085 in all five trials.
    assert!((median(bars[1].1) - 0.27 / 0.085).abs() < 1e-9);
}

#[test]
fn bars_are_medians_with_their_range() {
    let rows: Vec<TrialRecord> = [0.3, 0.1, 0.9, 0.2]
        .iter()
        .enumerate()
        .map(|(i, &error)| trial("adult", "hdmm", "pgm", i, error))
        .collect();
    let chart = chart("bars", &rows, &[]);
    assert_eq!((names(&chart), titles(&chart)), (vec!["HDMM+PGM"], vec!["HDMM"]));
    let Outcome::Value(spread) = groups(&chart.panels[0])[0].1[0].1 else { panic!("no value") };
    assert_eq!((spread.low, spread.value, spread.high), (0.1, 0.25, 0.9));
}

#[test]
fn arms_without_a_value_have_a_reason_in_place_of_a_bar() {
    let chart = chart("bars", &figure_1(), &[]);
    let reason = |panel: usize, category: usize| match groups(&chart.panels[panel])[category].1[0] {
        (0, Outcome::Failure(reason)) => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(2, 0), "infeasible: would need 2.2 GB");
    assert_eq!(reason(2, 1), "timeout after 1800 s");
    assert_eq!(reason(3, 2), "infeasible: would need 4e72 GB");
    assert!(matches!(groups(&chart.panels[2])[3].1[0].1, Outcome::Value(_)));
}

#[test]
fn notes_explain_stars_and_count_failures() {
    let mut rows = figure_1();
    for row in rows.iter_mut().filter(|r| r.mechanism == "hdmm" && r.arm == "pgm" && r.trial < 2) {
        if row.dataset == "adult" {
            row.status = Status::Failed;
            row.workload_error = Some(1e9);
        }
    }
    let chart = chart("bars", &rows, &[]);
    assert_eq!(
        chart.notes,
        [
            "* Loans and Stroke are stand-ins: synthetic records in place of data that does not \
             ship.",
            "Left out: HDMM+PGM on Adult: 2 of 5 trials failed."
        ]
    );
    let Outcome::Value(spread) = groups(&chart.panels[3])[1].1[2].1 else { panic!("no value") };
    assert!(spread.high < 1.0, "a failed trial does not count");
}

#[test]
fn bars_of_several_epsilons_are_in_separate_panels() {
    let one = five("adult", "hdmm", "pgm", 0.1);
    let two = one.iter().cloned().map(|row| TrialRecord { epsilon: 0.5, ..row });
    let rows: Vec<TrialRecord> = one.iter().cloned().chain(two).collect();
    assert_eq!(titles(&chart("bars", &rows, &[])), ["HDMM, epsilon = 1", "HDMM, epsilon = 0.5"]);
}

#[test]
fn cases_of_several_epsilons_are_in_separate_panels() {
    let chart = chart("cases", &with_sizes(), &[]);
    assert_eq!(titles(&chart), ["Nettrace, epsilon = 0.1", "Nettrace, epsilon = 1"]);
    let first = |panel: usize| match groups(&chart.panels[panel])[0] {
        ("ranges of 2", ref bars) => bars[0].1.shown().copied().unwrap(),
        ref other => panic!("{other:?}"),
    };
    let (small, large) = (first(0), first(1));
    assert_eq!((small.count, large.count), (5, 5));
    assert!(small.low > large.high, "epsilons are not mixed in one median");
}

#[test]
fn bars_show_the_metric_of_the_configuration() {
    let rows: Vec<TrialRecord> = five("adult", "hdmm", "pgm", 0.1)
        .into_iter()
        .map(|row| TrialRecord { max_error: Some(7.0), ..row })
        .collect();
    let facts = Facts { metric: Metric::MaxError, ..Facts::default() };
    let chart = (figure(FigureKind::Bars).chart)(&rows, &[], &facts).unwrap();
    assert_eq!(chart.panels[0].y.label, "largest query error");
    assert_eq!(groups(&chart.panels[0])[0].1[0].1.shown().unwrap().value, 7.0);
    assert_eq!(self::chart("bars", &rows, &[]).panels[0].y.label, "workload error");
}

#[test]
fn arms_that_ran_have_a_line_and_others_a_note() {
    let chart = chart("epsilon", &figure_2a(), &[]);
    assert_eq!(names(&chart), ["HDMM+LLS", "HDMM+PGM"]);
    assert_eq!(chart.notes, ["No line for HDMM on Adult (infeasible: would need 82 EB)."]);
    let Content::Lines { x, lines, .. } = &chart.panels[0].content else { panic!("no lines") };
    assert_eq!(x.ticks, [0.1, 0.3, 1.0, 3.0, 10.0]);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].points.iter().map(|point| point.x).collect::<Vec<_>>(), x.ticks);
    assert!((lines[0].points[2].y.unwrap().value - 0.27).abs() < 1e-12);
}

#[test]
fn an_epsilon_without_a_value_interrupts_the_line() {
    let mut rows = figure_2a();
    for row in rows.iter_mut().filter(|row| row.epsilon == 1.0) {
        row.status = Status::Timeout;
    }
    let chart = chart("epsilon", &rows, &[]);
    let Content::Lines { lines, .. } = &chart.panels[0].content else { panic!("no lines") };
    assert_eq!((lines[0].points.len(), lines[0].points[2].y), (5, None));
    assert!(chart.notes[1].contains("HDMM+LLS on Adult: 5 of 25 trials ran out of time"));
}

#[test]
fn datasets_of_different_sizes_form_one_line_with_a_line_for_the_bound() {
    let facts = Facts { metric: Metric::MaxError, ..Facts::default() };
    let kind = figure(FigureKind::Records);
    let chart = (kind.chart)(&with_rounds(), &[], &facts).unwrap();
    assert_eq!(names(&chart), ["PMW", "PMW, bound"]);
    let [panel] = &chart.panels[..] else { panic!("{} panels", chart.panels.len()) };
    let Content::Lines { lines, .. } = &panel.content else { panic!("no lines") };
    let points = |line: usize| lines[line].points.iter().map(|point| point.x).collect::<Vec<_>>();
    assert_eq!(points(0), [100.0, 1000.0, 10_000.0]);
    assert_eq!(points(1), [1000.0, 10_000.0]);
    assert_eq!(lines[1].points[0].y.unwrap().value, 0.01);
    let [measured, bound] = &chart.series[..] else { panic!("{:?}", chart.series) };
    assert_ne!(measured.colour, bound.colour, "dashes alone would mean another mechanism");
}

#[test]
fn rounds_used_are_shown_against_rounds_planned() {
    let chart = chart("rounds", &with_rounds(), &[]);
    assert_eq!(names(&chart), ["at most", "Chain 100", "Chain 1000", "Chain 10000"]);
    let Content::Lines { lines, .. } = &chart.panels[0].content else { panic!("no lines") };
    let of = |line: usize| -> Vec<(f64, f64)> {
        lines[line].points.iter().map(|point| (point.x, point.y.unwrap().value)).collect()
    };
    assert_eq!(of(0), [(100.0, 100.0), (1000.0, 1000.0), (1e4, 1e4)]);
    assert_eq!(of(2), [(1000.0, 20.0)]);
}

#[test]
fn lines_of_scaling_end_with_a_reason() {
    let chart = chart("scaling", &figure_2b(), &[]);
    assert_eq!(names(&chart), ["PGM", "MW", "LSMR"]);
    let Content::Lines { lines, .. } = &chart.panels[0].content else { panic!("no lines") };
    let ends: Vec<Option<&str>> = lines.iter().map(|line| line.end.as_deref()).collect();
    let reason = "infeasible: would need 24 GB with 9 attributes";
    assert_eq!(ends, [None, Some(reason), Some(reason)]);
    assert_eq!((lines[0].points.len(), lines[1].points.len()), (14, 6));

    let never = five("synthetic", "triples", "lsmr", 1.0).into_iter();
    let never: Vec<TrialRecord> = never.map(|r| ended(r, Status::Infeasible, Some(8e9))).collect();
    let chart = self::chart("scaling", &never, &[]);
    assert!(chart.panels.is_empty());
    assert_eq!(
        chart.notes,
        ["No line for LSMR (infeasible: would need 8.0 GB with 9 attributes)."]
    );
}

#[test]
fn traces_show_three_quantities_over_the_iterations() {
    let mut rows = figure_3();
    rows.push(TraceRecord { iteration: 0, ..rows[0].clone() });
    let chart = chart("traces", &figure_3_trials(), &rows);
    assert_eq!(titles(&chart), ["L1 loss", "L2 loss", "Workload error"]);
    assert_eq!(names(&chart), ["PGM, minimising L1 loss", "PGM, minimising L2 loss"]);
    for panel in &chart.panels {
        let Content::Lines { lines, .. } = &panel.content else { panic!("no lines") };
        for line in lines {
            assert!(line.points.iter().is_sorted_by(|a, b| a.x < b.x));
            assert!(line.points.iter().all(|point| point.x >= 1.0 && point.y.is_some()));
        }
    }
}

#[test]
fn rates_have_a_panel_per_loss_with_the_arms_that_minimise_it_and_three_powers() {
    let chart = chart("rates", &figure_3_trials(), &figure_3());
    assert_eq!(titles(&chart), ["L1 loss above its minimum", "L2 loss above its minimum"]);
    assert_eq!(chart.series.len(), 3, "two arms, and the powers");
    for (arm, panel) in chart.panels.iter().enumerate() {
        let Content::Lines { lines, .. } = &panel.content else { panic!("no lines") };
        let of = |series: usize| lines.iter().filter(move |line| line.series == series);
        assert_eq!(of(2).count(), 3, "the powers");
        let points = |series: usize| of(series).map(|line| line.points.len()).sum::<usize>();
        assert_eq!(points(1 - arm), 0, "the arm of the other loss");
        let ours = &of(arm).next().unwrap().points;
        assert!(ours.len() > 30);
        // The losses fall as 1/t and as 1/t^1.4 towards the value that they have at the end.
        let value = |index: usize| ours[index].y.unwrap().value;
        let expected = [1.0, 1.4][arm];
        let found = (value(0) / value(20)).ln() / (ours[20].x / ours[0].x).ln();
        assert!((found - expected).abs() < 0.05, "{found}");
    }
}

#[test]
fn an_estimator_has_the_same_colour_in_every_figure() {
    let colour = |chart: &Chart, name: &str| {
        chart.series.iter().find(|series| series.name.ends_with(name)).unwrap().colour
    };
    let (bars, lines) = (chart("bars", &figure_1(), &[]), chart("epsilon", &figure_2a(), &[]));
    let scaling = chart("scaling", &figure_2b(), &[]);
    assert_eq!(colour(&bars, "PGM"), colour(&lines, "PGM"));
    assert_eq!(colour(&bars, "PGM"), colour(&scaling, "PGM"));
    assert_eq!(colour(&bars, "LLS"), colour(&lines, "LLS"));
    let all: Vec<TrialRecord> = ["own", "lls", "pgm", "mw", "lsmr", "new", "newer"]
        .iter()
        .flat_map(|arm| five("adult", "hdmm", arm, 0.1))
        .collect();
    let series = chart("bars", &all, &[]).series;
    for (i, one) in series.iter().enumerate() {
        assert!(series[..i].iter().all(|other| other.colour != one.colour), "{}", one.name);
    }
}

#[test]
fn lines_that_others_cover_say_so_in_the_legend() {
    let at = |arm: &str, epsilon: f64, error: f64| TrialRecord {
        epsilon,
        ..trial("adult", "hdmm", arm, 0, error)
    };
    let curve =
        |arm: &str, errors: [f64; 2]| vec![at(arm, 0.1, errors[0]), at(arm, 1.0, errors[1])];
    let legend = |curves: &[Vec<TrialRecord>]| {
        let mut chart = chart("epsilon", &curves.concat(), &[]);
        name_covered_lines(&mut chart);
        names(&chart).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let apart = [curve("lls", [0.5, 0.2]), curve("pgm", [0.5, 0.1])];
    let plain = legend(&apart);
    assert!(plain.iter().all(|name| !name.contains("under")), "{plain:?}");
    // Half a percent is less than the width of a line.
    let alike = legend(&[curve("lls", [0.5, 0.2]), curve("pgm", [0.5, 0.201])]);
    assert_eq!(alike, [format!("{} (under {})", plain[0], plain[1]), plain[1].clone()]);
    // On another dataset the lines are apart.
    let elsewhere = |row: &TrialRecord| TrialRecord { dataset: "titanic".into(), ..row.clone() };
    let other = apart.iter().flatten().map(elsewhere).collect::<Vec<_>>();
    let alike = [curve("lls", [0.5, 0.2]), curve("pgm", [0.5, 0.2]), other];
    assert_eq!(legend(&alike)[0], format!("{} (in places under {})", plain[0], plain[1]));
}
