use askama::Template;

use super::{Association, Comparison, Distance, chart};
use crate::figures::{Size, svg};

/// Rows of the tables of the worst marginals and pairs.
const ROWS: usize = 20;

/// Of the picture on narrow screens, in pixels of CSS.
const PHONE_WIDTH: f64 = 340.0;

#[derive(Template)]
#[template(path = "comparison.html", config = "src/comparison/askama.toml")]
struct Page<'a> {
    comparison: &'a Comparison,
    worst: &'a [Distance],
    associations: &'a [Association],
    wide: String,
    narrow: String,
    version: &'static str,
}

impl Page<'_> {
    /// Three digits.
    fn number(&self, value: &f64) -> String {
        format!("{value:.3}")
    }

    fn has_noise(&self) -> bool {
        self.worst.iter().any(|marginal| marginal.noise.is_some())
    }
}

/// One self-contained page that loads nothing.
pub fn page(comparison: &Comparison) -> Result<String, askama::Error> {
    let chart = chart(comparison);
    let picture = |size| {
        let svg = svg(&chart, size);
        // An XML declaration has no place inside a page.
        svg[svg.find("<svg").unwrap_or(0)..].to_string()
    };
    let first = |length: usize| length.min(ROWS);
    let page = Page {
        comparison,
        worst: &comparison.marginals[..first(comparison.marginals.len())],
        associations: &comparison.associations[..first(comparison.associations.len())],
        wide: picture(Size::natural(&chart)),
        narrow: picture(Size::of_width(&chart, PHONE_WIDTH)),
        version: env!("CARGO_PKG_VERSION"),
    };
    page.render()
}
