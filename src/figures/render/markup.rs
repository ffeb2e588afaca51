//! How SVG spells lengths, paths, colours and texts.

use std::fmt::Write;

use plotters_backend::{BackendCoord, BackendStyle};

/// A length with two digits behind the point.
pub(super) fn length(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Not "-0".
    (rounded + 0.0).to_string()
}

/// A path, closed if it ends where it begins.
pub(super) fn directions(path: &[BackendCoord], steps: f64) -> String {
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

/// The attributes of a shape that is either full of a colour or an outline.
pub(super) fn painted(style: &impl BackendStyle, full: bool, steps: f64) -> String {
    if !full {
        return format!(" fill=\"none\"{}", stroked(style, steps));
    }
    let colour = style.color();
    let opacity = match colour.alpha {
        less if less < 1.0 => format!(" fill-opacity=\"{}\"", length(less)),
        _ => String::new(),
    };
    format!(" fill=\"{}\"{opacity}", hexadecimal(colour.rgb.into()))
}

/// The attributes of a line.
pub(super) fn stroked(style: &impl BackendStyle, steps: f64) -> String {
    let (colour, width) = (style.color(), f64::from(style.stroke_width()) / steps);
    let opacity = match colour.alpha {
        less if less < 1.0 => format!(" stroke-opacity=\"{}\"", length(less)),
        _ => String::new(),
    };
    format!(
        " stroke=\"{}\"{opacity} stroke-width=\"{}\" stroke-linejoin=\"round\"",
        hexadecimal(colour.rgb.into()),
        length(width)
    )
}

pub(super) fn hexadecimal([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text that XML takes, on one line: characters that it does not know become U+FFFD.
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
    fn paths_that_return_are_closed() {
        assert_eq!(directions(&[(0, 0), (150, 25)], 100.0), "M0 0L1.5 0.25");
        assert_eq!(directions(&[(0, 0), (100, 0), (0, -100), (0, 0)], 100.0), "M0 0L1 0L0 -1Z");
        assert_eq!(directions(&[(7, 7), (8, 7), (7, 7)], 1.0), "M7 7L8 7L7 7", "there and back");
        assert_eq!(directions(&[], 100.0), "");
    }

    #[test]
    fn texts_are_escaped_and_lengths_are_short() {
        assert_eq!(escaped("a < b & c\u{1}"), "a &lt; b &amp; c\u{FFFD}");
        assert_eq!(escaped("a\tb\nc"), "a b c");
        assert_eq!([length(-0.001), length(1.0 / 3.0), length(12.0)], ["0", "0.33", "12"]);
    }
}
