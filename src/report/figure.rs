//! Pictures inside the page.

use super::experiment::{Experiment, Picture};
use crate::figures::{Size, svg};

/// As wide as a telephone held upright, without the page's margins.
const PHONE: f64 = 340.0;

/// What the renderer writes; nothing of it loads or runs anything.
const ELEMENTS: [&str; 8] = ["svg", "title", "desc", "rect", "path", "circle", "text", "g"];

/// The figure of an experiment as markup.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// For wide windows and paper.
    pub(super) wide: String,
    /// For telephones, where it could be drawn anew.
    pub(super) narrow: Option<String>,
    /// The file itself.
    pub(super) file: String,
}

impl Figure {
    /// The picture, if the experiment has one.
    pub(super) fn of(experiment: &Experiment) -> Option<Self> {
        match &experiment.picture {
            Picture::None => None,
            Picture::Chart(chart) => {
                let file = svg(chart, Size::natural(chart));
                let narrow = svg(chart, Size::of_width(chart, PHONE));
                Some(Self { wide: inlined(&file), narrow: Some(inlined(&narrow)), file })
            }
            Picture::Files { wide, narrow } => {
                let taken_in = |svg: &String| is_harmless(svg).then(|| inlined(svg));
                let narrow = narrow.as_ref().and_then(taken_in);
                Some(Self { wide: taken_in(wide)?, narrow, file: wide.clone() })
            }
        }
    }
}

/// The picture as a part of the page. Of its readings the first can be reached with the keyboard,
/// and the arrows go on from there: a figure with hundreds of points is one stop.
fn inlined(svg: &str) -> String {
    let reading = |at: i32| format!("<g class=\"reading\" role=\"img\" tabindex=\"{at}\">");
    let svg = svg.replacen("role=\"img\"", "role=\"group\"", 1);
    let svg = svg.replacen("<g class=\"reading\">", &reading(0), 1);
    svg.replace("<g class=\"reading\">", &reading(-1))
}

/// Whether a file has no other elements than ours, and no attributes that load or run something.
/// Results may come from strangers.
fn is_harmless(svg: &str) -> bool {
    let mut tags = svg.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    svg.starts_with("<svg ")
        && tags.all(|tag| {
            let tag = tag.trim_start_matches('/').trim_end_matches('/');
            let name = tag.split(char::is_whitespace).next().unwrap_or_default();
            let words = tag.split(|c: char| c.is_whitespace() || c == '"' || c == '\'');
            let acts = |word: &str| {
                let word = word.to_ascii_lowercase();
                word.ends_with('=')
                    && (word.starts_with("on") || word.contains("href") || word == "style=")
            };
            ELEMENTS.contains(&name) && !words.into_iter().any(acts) && !tag.contains("url(")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_load_or_run_something_are_not_taken_in() {
        let svg =
            |inside: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>");
        assert!(is_harmless(&svg("<title>a on=b</title><rect width=\"3\"/><g><text>x</text></g>")));
        for bad in [
            "<script>alert(1)</script>",
            "<rect onclick=\"alert(1)\"/>",
            "<rect fill=\"none\"ONLOAD=\"alert(1)\"/>",
            "<rect\nonload='x'/>",
            "<image href=\"x.png\"/>",
            "<g xlink:href=\"x\"/>",
            "<rect fill=\"url(http://x)\"/>",
            "<foreignObject/>",
            "<!-- a comment -->",
        ] {
            assert!(!is_harmless(&svg(bad)), "{bad}");
        }
        assert!(!is_harmless("<!DOCTYPE svg><svg />"));
    }

    #[test]
    fn one_reading_of_a_figure_is_a_stop_of_the_keyboard() {
        let one = "<g class=\"reading\"><title>1</title></g>";
        let inlined = inlined(&format!("<svg role=\"img\">{one}{one}{one}</svg>"));
        assert_eq!(inlined.matches("tabindex=\"0\"").count(), 1);
        assert_eq!(inlined.matches("tabindex=\"-1\"").count(), 2);
        assert!(inlined.starts_with("<svg role=\"group\">"));
    }
}
