//! Figures as inline SVG.

use super::experiment::{Experiment, Picture};
use crate::figures::{Size, svg};

/// The width of a phone in portrait orientation, without the margins of the page, in pixels.
const PHONE_WIDTH: f64 = 340.0;

/// The elements that our renderer writes. None of them loads or runs anything.
const ELEMENTS: [&str; 8] = ["svg", "title", "desc", "rect", "path", "circle", "text", "g"];

/// Their attributes.
const ATTRIBUTES: [&str; 28] = [
    "class",
    "cx",
    "cy",
    "d",
    "fill",
    "fill-opacity",
    "font-family",
    "font-size",
    "font-weight",
    "height",
    "lengthAdjust",
    "paint-order",
    "pointer-events",
    "r",
    "role",
    "stroke",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "textLength",
    "transform",
    "viewBox",
    "width",
    "x",
    "xmlns",
    "y",
];

/// Markup of the figure of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// For wide windows and print.
    pub(super) wide: String,
    /// For phones; `None` in results without rows that have only the wide file.
    pub(super) narrow: Option<String>,
    /// The SVG file for download.
    pub(super) file: String,
}

impl Figure {
    /// `None` if the experiment has no figure, or an unsafe one.
    pub(super) fn of(experiment: &Experiment) -> Option<Self> {
        match &experiment.picture {
            Picture::None => None,
            Picture::Chart(chart) => {
                let file = svg(chart, Size::natural(chart));
                let narrow = svg(chart, Size::of_width(chart, PHONE_WIDTH));
                Some(Self { wide: inlined(&file), narrow: Some(inlined(&narrow)), file })
            }
            Picture::Files { wide, narrow } => {
                let checked = |svg: &String| is_safe_to_inline(svg).then(|| inlined(svg));
                let narrow = narrow.as_ref().and_then(checked);
                Some(Self { wide: checked(wide)?, narrow, file: wide.clone() })
            }
        }
    }
}

/// The figure as a part of the page. Only its first reading is in the tab order, and the arrow keys
/// move between readings (roving tabindex), so that hundreds of points are one tab stop.
fn inlined(svg: &str) -> String {
    let reading =
        |tab_index: i32| format!("<g class=\"reading\" role=\"img\" tabindex=\"{tab_index}\">");
    let svg = svg.replacen("role=\"img\"", "role=\"group\"", 1);
    let svg = svg.replacen("<g class=\"reading\">", &reading(0), 1);
    svg.replace("<g class=\"reading\">", &reading(-1))
}

/// Whether an SVG is written as our renderer writes it: its elements and attributes alone, every
/// element closed, and no value that loads something. Results may come from untrusted sources.
fn is_safe_to_inline(svg: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut tags = svg.split('<').skip(1).peekable();
    while let Some(rest) = tags.next() {
        let Some((tag, text)) = rest.split_once('>') else { return false };
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else {
            let Some(name) = safe_element(tag) else { return false };
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        // What follows the outermost element would be a part of the page.
        if open.is_empty() && (tags.peek().is_some() || !text.trim().is_empty()) {
            return false;
        }
    }
    svg.starts_with("<svg ") && open.is_empty()
}

/// The name of the element that a tag begins, if it and all of its attributes are those of our
/// renderer. A value that holds `<` or `>` has been cut off, and has no closing quotation mark.
fn safe_element(tag: &str) -> Option<&str> {
    let tag = tag.strip_suffix('/').unwrap_or(tag);
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    while !rest.trim().is_empty() {
        let (attribute, after) = rest.trim_start().split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        // References and escapes could spell anything.
        let loads = value.contains(['&', '\\']) || value.to_ascii_lowercase().contains("url");
        if !ATTRIBUTES.contains(&attribute) || loads {
            return None;
        }
        rest = after;
    }
    ELEMENTS.contains(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_load_or_run_something_are_not_inlined() {
        let svg =
            |inside: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>");
        let harmless = "<title>a on=b</title><rect width=\"3\"/><g><text>x</text></g>";
        assert!(is_safe_to_inline(&svg(harmless)));
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
            // A value may hold the end of a tag.
            "<g class=\">\" onclick=\"alert(1)\"></g>",
            "<g class='>' onclick='alert(1)'></g>",
            "<rect onload = \"alert(1)\"/>",
            "<rect width=3 onload=alert(1) />",
            "<rect fill=\"&#117;rl(http://x)\"/>",
            "<rect fill=\"\\75 rl(http://x)\"/>",
            "<rect fill=\"URL(http://x)\"/>",
            "<g>",
            "</g>",
            "</svg><g></g><svg>",
            "</svg>text<svg>",
            "<rect",
        ] {
            assert!(!is_safe_to_inline(&svg(bad)), "{bad}");
        }
        assert!(!is_safe_to_inline("<!DOCTYPE svg><svg />"));
    }

    #[test]
    fn one_reading_of_a_figure_is_in_the_tab_order() {
        let one = "<g class=\"reading\"><title>1</title></g>";
        let inlined = inlined(&format!("<svg role=\"img\">{one}{one}{one}</svg>"));
        assert_eq!(inlined.matches("tabindex=\"0\"").count(), 1);
        assert_eq!(inlined.matches("tabindex=\"-1\"").count(), 2);
        assert!(inlined.starts_with("<svg role=\"group\">"));
    }
}
