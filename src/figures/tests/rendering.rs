//! From charts to SVG and PNG.

use std::fs;
use std::io::Cursor;

use ::png::{BitDepth, ColorType, Decoder};
use roxmltree::Document;

use super::building::named;
use super::synthetic::{
    figure_1, figure_2a, figure_2b, figure_3, figure_3_trials, ratio_claims, swept, two_deltas,
    with_rounds, with_sizes,
};
use crate::config::{Emphasis, FigureKind, Statistic};
use crate::figures::{
    Axis, Bar, Category, Chart, Colour, Content, FIGURES, Facts, FigureError, Line, Outcome,
    PIXELS_PER_UNIT, Panel, Point, Ranges, Scale, Series, Shown, Size, png, svg, write,
};
use crate::results::Metric;

fn series(count: usize) -> Vec<Series> {
    let one = |i: usize| Series {
        name: format!("estimator {i}"),
        colour: Colour([(i * 37 % 200) as u8, (i * 91 % 200) as u8, 120]),
        style: i,
        emphasis: Emphasis::default(),
    };
    (0..count).map(one).collect()
}

fn shown(value: f64) -> Shown {
    let (low, high) = (value * 0.8, value * 1.3);
    Shown { value, low, high, count: 5, statistic: Statistic::Median }
}

/// One panel with a line through each list of values.
fn lines(values: &[&[f64]], scale: Scale) -> Chart {
    let axis = |label: &str| Axis { label: label.into(), scale, ticks: Vec::new() };
    let point =
        |(i, &y): (usize, &f64)| Point { x: i as f64 + 1.0, y: Some(shown(y)), unconverged: 0 };
    let line = |(series, values): (usize, &&[f64])| Line {
        series,
        points: values.iter().enumerate().map(point).collect(),
        end: Some("out of memory".into()),
    };
    let lines = values.iter().enumerate().map(line).collect();
    Chart {
        title: "Lines".into(),
        series: series(values.len()),
        panels: vec![Panel {
            title: "A panel".into(),
            y: axis("error"),
            content: Content::Lines { x: axis("size"), lines, ranges: Ranges::Bands },
        }],
        columns: 1,
        ..Chart::default()
    }
}

/// Panels with two groups of bars each; each outcome is a series.
fn bars(outcomes: &[Outcome], panels: usize, scale: Scale) -> Chart {
    let bar = |(series, outcome): (usize, &Outcome)| Bar {
        series,
        outcome: outcome.clone(),
        unconverged: 0,
    };
    let category = |name: &str| Category {
        label: name.into(),
        bars: outcomes.iter().enumerate().map(bar).collect(),
    };
    let panel = |i: usize| Panel {
        title: format!("panel {i}"),
        y: Axis { label: "error".into(), scale, ticks: Vec::new() },
        content: Content::Bars {
            label: String::new(),
            categories: vec![category("one"), category("two")],
        },
    };
    Chart {
        title: "Bars".into(),
        series: series(outcomes.len()),
        panels: (0..panels).map(panel).collect(),
        columns: 3,
        shares_y: true,
        ..Chart::default()
    }
}

/// Width, height and RGB values of a PNG file.
fn decoded(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (ColorType::Rgb, BitDepth::Eight));
    (frame.width, frame.height, pixels)
}

/// Draws the chart and checks properties of every picture: the PNG has the right size and is not
/// blank; the SVG is well-formed and contains all names; all text is inside of the picture.
fn check(chart: &Chart) {
    check_at(chart, Size::natural(chart));
}

fn check_at(chart: &Chart, size: Size) {
    let (width, height, picture) = decoded(&png(chart, size).unwrap());
    let pixels = |length: f64| (length * PIXELS_PER_UNIT).round() as u32;
    assert_eq!((width, height), (pixels(size.width()), pixels(size.height())));
    assert!(picture.chunks_exact(3).any(|pixel| pixel[0] < 128));

    let source = svg(chart, size);
    let document = Document::parse(&source).unwrap();
    let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
    let has = |label: &str| texts.iter().any(|node| node.text() == Some(label));
    for series in &chart.series {
        assert!(has(&series.name), "{}", series.name);
    }
    // Titles may have several lines.
    let words: Vec<&str> =
        texts.iter().filter_map(|node| node.text()).flat_map(str::split_whitespace).collect();
    for word in chart.panels.iter().flat_map(|panel| panel.title.split_whitespace()) {
        assert!(words.contains(&word), "{word}");
    }
    for text in texts {
        let number = |name: &str| text.attribute(name).unwrap().parse::<f64>().unwrap();
        let (x, y, length) = (number("x"), number("y"), number("textLength"));
        let start = match text.attribute("text-anchor") {
            None => 0.0,
            Some("middle") => length / 2.0,
            Some(_) => length,
        };
        let (left, right) = (x - start, x - start + length);
        let inside = match text.attribute("transform") {
            None => left >= 0.0 && right <= size.width() && y > 0.0 && y < size.height(),
            // Rotated by 90 degrees: it runs upwards from its start.
            Some(_) => {
                x > 0.0 && x < size.width() && y + start < size.height() && y > length - start
            }
        };
        assert!(inside, "{:?} is outside of the picture", text.text());
    }
    assert!(!source.contains("NaN") && !source.contains("inf\""));
}

#[test]
fn every_figure_is_drawn() {
    let facts = Facts {
        title: "Error & <time>".into(),
        subtitle: "control \u{1} characters".into(),
        footnote: "here".into(),
        claims: ratio_claims(),
        sweep: Some(two_deltas()),
        ..Facts::default()
    };
    let drawn = |name: &str| {
        let trials = match name {
            "bars" | "ratios" => figure_1(),
            "epsilon" => figure_2a(),
            "sweep" => swept(),
            "scaling" => figure_2b(),
            "sizes" | "cases" => with_sizes(),
            "records" | "rounds" => with_rounds(),
            _ => figure_3_trials(),
        };
        let metric = if name == "records" { Metric::MaxError } else { Metric::WorkloadError };
        let facts = Facts { metric, ..facts.clone() };
        (named(name).chart)(&trials, &figure_3(), &facts)
    };
    for kind in FIGURES.iter().filter(|kind| kind.kind != FigureKind::Table) {
        let chart = drawn(kind.kind.name()).unwrap();
        assert!(!chart.panels.is_empty(), "{} shows nothing", kind.kind.name());
        check(&chart);
        // The width of a paper's column, where panels are stacked.
        let column = Size::of_width(&chart, 317.0);
        check_at(&chart, column);
        assert!(column.height() < 1000.0, "{} is too high for a page", kind.kind.name());
    }
    // Reasons are shortened there.
    let bars = drawn("bars").unwrap();
    let column = svg(&bars, Size::of_width(&bars, 317.0));
    assert!(column.contains(">would need 2.2 GB</text>") && !column.contains("no value"));
    assert_eq!(Size::natural(&bars).width(), 900.0);
}

#[test]
fn extreme_and_missing_numbers_are_drawn() {
    let values: [&[&[f64]]; 7] = [
        &[],
        &[&[]],
        &[&[1.0]],
        &[&[0.0, 0.0]],
        &[&[0.0, 3.0, -2.0], &[f64::NAN, 1.0, f64::INFINITY]],
        &[&[1e-300, 1.0, 1e300], &[5.0, 5.0]],
        &[&[8000.1, 8000.2, 8000.3]],
    ];
    for values in values {
        for scale in [Scale::Log, Scale::Linear] {
            check(&lines(values, scale));
            let first = values.first().copied().unwrap_or_default();
            let outcomes: Vec<Outcome> =
                first.iter().map(|&value| Outcome::Value(shown(value))).collect();
            check(&bars(&outcomes, 1, scale));
        }
    }
    check(&Chart { title: "No panels".into(), ..Chart::default() });
}

#[test]
fn up_to_eight_panels_and_thirty_series_are_drawn() {
    let outcomes: Vec<Outcome> = (0..30)
        .map(|i| match i % 10 {
            8 => Outcome::Missing,
            9 => Outcome::Failure("infeasible: would need 384 GB".into()),
            _ => Outcome::Value(shown(f64::from(i) + 1.0)),
        })
        .collect();
    for panels in 1..=8 {
        check(&bars(&outcomes[..3], panels, Scale::Log));
    }
    check(&bars(&outcomes, 4, Scale::Log));
    let values: Vec<Vec<f64>> = (1..=30).map(|i| vec![f64::from(i); 4]).collect();
    check(&lines(&values.iter().map(Vec::as_slice).collect::<Vec<_>>(), Scale::Log));
}

#[test]
fn titles_longer_than_their_panel_are_wrapped() {
    let mut chart = bars(&[Outcome::Value(shown(1.0))], 9, Scale::Log);
    let short = [1020.0, 317.0].map(|width| Size::of_width(&chart, width).height());
    for panel in &mut chart.panels {
        panel.title = "A table with a rather long name, public marginals of order 2".into();
    }
    for (width, before) in [1020.0, 317.0].into_iter().zip(short) {
        let size = Size::of_width(&chart, width);
        check_at(&chart, size);
        assert!(size.height() > before, "the plots would be smaller");
        let source = svg(&chart, size);
        let document = Document::parse(&source).unwrap();
        let mut lines: Vec<(f64, f64)> = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter(|node| node.text().is_some_and(|text| text.starts_with("A table")))
            .map(|node| {
                let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
                (number("x"), number("x") + number("textLength"))
            })
            .collect();
        assert_eq!(lines.len(), 9);
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_apart = |pair: &[(f64, f64)]| pair[0].0 == pair[1].0 || pair[0].1 < pair[1].0;
        assert!(lines.windows(2).all(is_apart), "titles overlap: {lines:?}");
    }
}

#[test]
fn daggers_are_inside_of_the_plot() {
    let mut values = bars(
        &[Outcome::Value(shown(0.0)), Outcome::Value(shown(1e6)), Outcome::Missing],
        1,
        Scale::Log,
    );
    for panel in &mut values.panels {
        let Content::Bars { categories, .. } = &mut panel.content else { panic!("no bars") };
        for bar in categories.iter_mut().flat_map(|category| &mut category.bars) {
            bar.unconverged = 3;
        }
    }
    let mut curves = lines(&[&[1.0, 1e6, 0.0]], Scale::Log);
    let Content::Lines { lines, .. } = &mut curves.panels[0].content else { panic!("no lines") };
    lines[0].points.iter_mut().for_each(|point| point.unconverged = 1);
    // Bars without a value have no dagger.
    for (chart, marks) in [(values, 2 * 2), (curves, 3)] {
        check(&chart);
        let drawn = svg(&chart, Size::natural(&chart));
        assert_eq!(drawn.matches(">\u{2020}</text>").count(), marks);
    }
}

#[test]
fn zeros_and_missing_values_have_symbols_that_the_legend_explains() {
    let texts = |outcomes: &[Outcome], scale| {
        let chart = bars(outcomes, 1, scale);
        svg(&chart, Size::natural(&chart))
    };
    let (zero, one) = (Outcome::Value(shown(0.0)), Outcome::Value(shown(1.0)));
    let (zero_key, missing_key) = ("zero, off the logarithmic axis", "no value");
    let drawn = texts(&[zero.clone(), one.clone()], Scale::Log);
    assert!(drawn.contains(zero_key) && !drawn.contains(missing_key));
    let drawn = texts(&[zero, one.clone()], Scale::Linear);
    assert!(!drawn.contains(zero_key));
    let drawn = texts(&[Outcome::Missing, one.clone()], Scale::Linear);
    assert!(drawn.contains(missing_key));
    // Reasons that do not fit become crosses.
    let mark = Outcome::Failure("infeasible".into());
    let drawn = texts(&[mark.clone(), one.clone()], Scale::Log);
    assert!(drawn.contains(">infeasible<") && !drawn.contains(missing_key));
    let many: Vec<Outcome> = [mark].into_iter().chain(vec![one; 60]).collect();
    let drawn = texts(&many, Scale::Log);
    assert!(!drawn.contains(">infeasible<") && drawn.contains(missing_key));
}

#[test]
fn sizes_out_of_range_are_refused_and_the_smallest_is_drawn() {
    for (width, height) in [(0.0, 300.0), (300.0, 1e9), (f64::NAN, 300.0), (300.0, -5.0)] {
        assert!(matches!(Size::new(width, height), Err(FigureError::Size { .. })));
    }
    let small = Size::new(160.0, 160.0).unwrap();
    let chart = lines(&[&[1.0, 2.0], &[2.0, 1.0]], Scale::Log);
    let (width, height, _) = decoded(&png(&chart, small).unwrap());
    assert_eq!((width, height), (500, 500));
}

#[test]
fn writing_twice_gives_the_same_six_files() {
    let folder = tempfile::tempdir().unwrap();
    let chart = lines(&[&[1.0, 0.1, 0.01]], Scale::Log);
    let mut bytes = Vec::new();
    for _ in 0..2 {
        write(&chart, folder.path()).unwrap();
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        let name = |kind: &str| [format!("figure.{kind}"), format!("figure-column.{kind}")];
        let names = ["svg", "png", "pdf"].map(name);
        bytes.push(names.map(|pair| pair.map(|name| read(&name))));
    }
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6);
    let missing = folder.path().join("missing");
    let message = write(&chart, &missing).unwrap_err().to_string();
    assert!(message.contains("figure.svg") && message.contains("there is no folder"), "{message}");
}
