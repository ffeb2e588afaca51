use super::{Comparison, Distance, LARGEST};
use crate::config::{Emphasis, Statistic};
use crate::figures::{
    Axis, Bar, Category, Chart, Colour, Content, Outcome, Panel, Scale, Series, Shown,
};
use crate::results::Spread;

/// Attributes that are shown at most, those with the largest distances.
const SHOWN: usize = 24;

const SERIES: [(&str, Colour); LARGEST] = [
    ("alone", Colour([0x00, 0x72, 0xB2])),
    ("in pairs", Colour([0xE6, 0x9F, 0x00])),
    ("in triples", Colour([0x00, 0x9E, 0x73])),
];

/// The distances of the marginals with each attribute, a bar per size: the median, and whiskers to
/// the smallest and the largest.
pub fn chart(comparison: &Comparison) -> Chart {
    let mut attributes: Vec<&str> = Vec::new();
    // From the largest distance.
    for name in comparison.marginals.iter().flat_map(|marginal| &marginal.attributes) {
        if !attributes.contains(&name.as_str()) {
            attributes.push(name);
        }
    }
    let left_out = attributes.len().saturating_sub(SHOWN);
    attributes.truncate(SHOWN);
    let bars = |name: &str| {
        let bar = |series: usize| {
            let of = |marginal: &&Distance| {
                marginal.attributes.len() == series + 1
                    && marginal.attributes.iter().any(|other| other == name)
            };
            let distances = comparison.marginals.iter().filter(of).map(|m| m.distance);
            let outcome = Outcome::Value(Shown::of(&Spread::of(distances)?, Statistic::Median));
            Some(Bar { series, outcome, unconverged: 0 })
        };
        (0..SERIES.len()).filter_map(bar).collect::<Vec<Bar>>()
    };
    let categories =
        attributes.iter().map(|&name| Category { label: name.into(), bars: bars(name) }).collect();
    let mut notes = vec![
        "Bars are medians over all marginals with the attribute, whiskers reach from the smallest \
         to the largest."
            .to_string(),
    ];
    if left_out > 0 {
        notes.push(format!("{left_out} attributes with smaller distances are left out."));
    }
    let series = SERIES.iter().take(comparison.sizes.len()).map(|(name, colour)| Series {
        name: (*name).into(),
        colour: *colour,
        style: 0,
        emphasis: Emphasis::Normal,
    });
    Chart {
        title: format!("{} against {}", comparison.synthetic, comparison.reference.name),
        subtitle: "total variation distance of marginals, 0: equal, 1: nothing in common".into(),
        series: series.collect(),
        panels: vec![Panel {
            title: String::new(),
            y: Axis {
                label: "total variation distance".into(),
                scale: Scale::Linear,
                ticks: Vec::new(),
            },
            content: Content::Bars { label: String::new(), categories },
        }],
        columns: 1,
        shares_y: true,
        notes,
        notice: comparison.notice.clone(),
        footnote: format!("pgmbench {}", env!("CARGO_PKG_VERSION")),
    }
}
