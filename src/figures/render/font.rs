use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// What viewers of SVG are asked for. The first is ours; the others are about as wide.
pub(super) const FAMILIES: &str = "DejaVu Sans Condensed, Helvetica Neue, Arial, sans-serif";

/// From the baseline to the top of a capital, in sizes of the font.
pub(super) const CAPITAL: f64 = 0.73;

static REGULAR: LazyLock<Face<'static>> =
    LazyLock::new(|| embedded(dejavu::sans_condensed::regular()));
static BOLD: LazyLock<Face<'static>> = LazyLock::new(|| embedded(dejavu::sans_condensed::bold()));

fn embedded(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the font inside the program is sound")
}

pub(super) fn face(bold: bool) -> &'static Face<'static> {
    if bold { &BOLD } else { &REGULAR }
}

/// The glyphs of a text with their places along the baseline, and where the text ends, in units of
/// the font, kerned.
pub(super) fn glyphs(text: &str, bold: bool) -> (Vec<(GlyphId, f64)>, f64) {
    let face = face(bold);
    let mut placed = Vec::new();
    let mut end = 0.0;
    let mut previous = None;
    for character in text.chars() {
        let glyph = face.glyph_index(character).unwrap_or_default();
        end += previous.map_or(0.0, |previous| kerning(face, previous, glyph));
        placed.push((glyph, end));
        end += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        previous = Some(glyph);
    }
    (placed, end)
}

fn kerning(face: &Face, left: GlyphId, right: GlyphId) -> f64 {
    let tables = face.tables().kern.into_iter().flat_map(|kern| kern.subtables);
    let pair = tables
        .filter(|table| table.horizontal && !table.variable)
        .find_map(|table| table.glyphs_kerning(left, right));
    f64::from(pair.unwrap_or(0))
}

/// How long a text is.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    glyphs(text, bold).1 * size / f64::from(face(bold).units_per_em())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_long_as_its_glyphs_and_grows_with_its_size() {
        assert_eq!(width("", 10.0, false), 0.0);
        let (short, long) = (width("PGM", 10.0, false), width("PGM", 20.0, false));
        assert!((long - 2.0 * short).abs() < 1e-9 && short > 15.0);
        assert!(width("PGM", 10.0, true) > short);
        let apart = width("A", 10.0, false) + width("V", 10.0, false);
        assert!(width("AV", 10.0, false) < apart, "A and V move together");
    }

    #[test]
    fn the_font_has_the_characters_that_numbers_need() {
        for character in "0123456789.,×⁰¹²³⁴⁵⁶⁷⁸⁹⁻·*+".chars() {
            assert!(face(false).glyph_index(character).is_some(), "{character}");
        }
    }
}
