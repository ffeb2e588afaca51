//! SVG attributes and text.

use std::fmt::Write;

use plotters_backend::{BackendCoord, BackendStyle};

/// Rounded to two decimals.
pub(super) fn length(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Not "-0".
    (rounded + 0.0).to_string()
}

/// The commands of a path, which is closed if its first and last points are equal.
pub(super) fn path_data(path: &[BackendCoord], steps: f64) -> String {
    let (path, end) = match path {
        [first, inner @ .., last] if first == last && inner.len() > 1 => {
            (&path[..=inner.len()], "Z")
        }
        open => (open, ""),
    };
    let mut out = String::new();
    for (i, &(x, y)) in path.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let (x, y) = (length(f64::from(x) / steps), length(f64::from(y) / steps));
        // Writing to a string cannot fail.
        let _ = write!(out, "{command}{x} {y}");
    }
    out + end
}

/// The attributes of a shape that is either filled or outlined.
pub(super) fn fill_attributes(style: &impl BackendStyle, is_filled: bool, steps: f64) -> String {
    if !is_filled {
        return format!(" fill=\"none\"{}", stroke_attributes(style, steps));
    }
    let colour = style.color();
    let opacity = match colour.alpha {
        less if less < 1.0 => format!(" fill-opacity=\"{}\"", length(less)),
        _ => String::new(),
    };
    format!(" fill=\"{}\"{opacity}", hex(colour.rgb.into()))
}

pub(super) fn stroke_attributes(style: &impl BackendStyle, steps: f64) -> String {
    let (colour, width) = (style.color(), f64::from(style.stroke_width()) / steps);
    let opacity = match colour.alpha {
        less if less < 1.0 => format!(" stroke-opacity=\"{}\"", length(less)),
        _ => String::new(),
    };
    format!(
        " stroke=\"{}\"{opacity} stroke-width=\"{}\" stroke-linejoin=\"round\"",
        hex(colour.rgb.into()),
        length(width)
    )
}

pub(super) fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text for an XML element, on one line. Characters that XML does not allow become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1F}' | '\u{7F}' | '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_end_where_they_begin_are_closed() {
        assert_eq!(path_data(&[(0, 0), (150, 25)], 100.0), "M0 0L1.5 0.25");
        assert_eq!(path_data(&[(0, 0), (100, 0), (0, -100), (0, 0)], 100.0), "M0 0L1 0L0 -1Z");
        assert_eq!(path_data(&[(7, 7), (8, 7), (7, 7)], 1.0), "M7 7L8 7L7 7", "there and back");
        assert_eq!(path_data(&[], 100.0), "");
    }

    #[test]
    fn texts_are_escaped_and_lengths_are_short() {
        assert_eq!(escaped("a < b & c\u{1}"), "a &lt; b &amp; c\u{FFFD}");
        assert_eq!(escaped("a\tb\nc"), "a b c");
        assert_eq!([length(-0.001), length(1.0 / 3.0), length(12.0)], ["0", "0.33", "12"]);
    }
}
