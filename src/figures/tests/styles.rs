//! Means, emphasis, and whiskers that the axis cuts.

use std::collections::BTreeMap;

use super::building::named;
use super::synthetic::trial;
use crate::config::{ArmStyle, Emphasis, Statistic};
use crate::figures::{Chart, Content, Facts, Line, Size, svg};
use crate::results::TrialRecord;

/// Three trials at two budgets.
fn rows(arm: &str, errors: [f64; 3]) -> Vec<TrialRecord> {
    let at = |epsilon: f64| {
        let row = move |(i, &error): (usize, &f64)| TrialRecord {
            epsilon,
            ..trial("adult", "hdmm", arm, i, error)
        };
        errors.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    [0.1, 1.0].into_iter().flat_map(at).collect()
}

fn chart(trials: &[TrialRecord], facts: &Facts) -> Chart {
    (named("epsilon").chart)(trials, &[], facts).unwrap()
}

fn picture(chart: &Chart) -> String {
    svg(chart, Size::natural(chart))
}

fn lines(chart: &Chart) -> &[Line] {
    match &chart.panels[0].content {
        Content::Lines { lines, .. } => lines,
        Content::Bars { .. } => panic!("no lines"),
    }
}

#[test]
fn means_have_whiskers_of_one_standard_error() {
    let facts = Facts { statistic: Statistic::Mean, ..Facts::default() };
    let chart = chart(&rows("pgm", [0.2, 0.4, 0.9]), &facts);
    let shown = lines(&chart)[0].points[0].y.unwrap();
    // As in the test of standard errors, a tenth of it.
    let error = (13.0f64 / 3.0).sqrt() / 10.0;
    assert!((shown.value - 0.5).abs() < 1e-12);
    assert!((shown.low - (0.5 - error)).abs() < 1e-12);
    assert!((shown.high - (0.5 + error)).abs() < 1e-12);
    assert!(chart.subtitle.contains("mean of 3 trials"), "{}", chart.subtitle);
    let drawn = picture(&chart);
    assert!(drawn.contains("with a standard error of 0.208167"), "readings say what is shown");
}

#[test]
fn main_arms_are_drawn_last_and_widest_under_their_own_names() {
    let style = |name: &str, emphasis| ArmStyle { name: Some(name.into()), emphasis };
    let arms = BTreeMap::from([
        ("hdmm/pgm".into(), style("The method", Emphasis::Main)),
        ("hdmm/lls".into(), style("Another", Emphasis::Extra)),
    ]);
    let facts = Facts { arms, ..Facts::default() };
    let errors = [0.2, 0.4, 0.9];
    let trials = [rows("pgm", errors), rows("lls", errors), rows("own", errors)].concat();
    let chart = chart(&trials, &facts);
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["The method", "Another", "HDMM"]);
    let order: Vec<usize> = lines(&chart).iter().map(|line| line.series).collect();
    assert_eq!(order, [1, 2, 0], "the extra arm is below, the main arm above");
    let drawn = picture(&chart);
    let widths = drawn.split("stroke-width=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let widest = widths.filter_map(|width| width.parse().ok()).fold(0.0, f64::max);
    assert!(widest > 2.9, "1.7 times the width of 1.8: {widest}");
}

#[test]
fn a_whisker_that_ends_near_zero_does_not_stretch_the_axis() {
    let near_zero = chart(&rows("pgm", [0.2, 0.4, 1e-7]), &Facts::default());
    let drawn = picture(&near_zero);
    assert!(drawn.contains("continues beyond the axis"), "the legend explains the arrowhead");
    for label in [">0.001</text>", ">0.00001</text>", ">10⁻"] {
        assert!(!drawn.contains(label), "the axis ends at a tenth of 0.2: {label}");
    }
    let ordinary = picture(&chart(&rows("pgm", [0.2, 0.4, 0.1]), &Facts::default()));
    assert!(!ordinary.contains("continues beyond the axis"));
}
