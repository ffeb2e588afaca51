use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId};

/// For viewers of SVG. The first is the embedded font; the others have a similar width.
pub(super) const FAMILIES: &str = "DejaVu Sans Condensed, Helvetica Neue, Arial, sans-serif";

/// The height of capital letters, in font sizes.
pub(super) const CAPITAL: f64 = 0.73;

/// Upper bounds on how far a glyph extends above and below the baseline, in font sizes.
pub(super) const HEIGHT: f64 = 1.3;
pub(super) const DEPTH: f64 = 0.5;

static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| embedded(dejavu::sans_condensed::regular()));
static BOLD: LazyLock<FontRef<'static>> =
    LazyLock::new(|| embedded(dejavu::sans_condensed::bold()));

fn embedded(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the embedded font can be parsed")
}

pub(super) fn face(bold: bool) -> &'static FontRef<'static> {
    if bold { &BOLD } else { &REGULAR }
}

/// Font units per font size.
pub(super) fn units_per_size(bold: bool) -> f64 {
    f64::from(face(bold).units_per_em().expect("the embedded font has a scale"))
}

/// The glyphs of a text with their positions along the baseline, and the length of the text, with
/// kerning, in font units.
pub(super) fn glyphs(text: &str, bold: bool) -> (Vec<(GlyphId, f64)>, f64) {
    let face = face(bold);
    let mut placed = Vec::new();
    let mut end = 0.0;
    let mut previous = None;
    for character in text.chars() {
        let glyph = face.glyph_id(character);
        let kerning = previous.map_or(0.0, |previous| face.kern_unscaled(previous, glyph));
        end += f64::from(kerning);
        placed.push((glyph, end));
        end += f64::from(face.h_advance_unscaled(glyph));
        previous = Some(glyph);
    }
    (placed, end)
}

pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    glyphs(text, bold).1 * size / units_per_size(bold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_scales_with_the_size_and_includes_kerning() {
        assert_eq!(width("", 10.0, false), 0.0);
        let (short, long) = (width("PGM", 10.0, false), width("PGM", 20.0, false));
        assert!((long - 2.0 * short).abs() < 1e-9 && short > 15.0);
        assert!(width("PGM", 10.0, true) > short);
        let apart = width("A", 10.0, false) + width("V", 10.0, false);
        assert!(width("AV", 10.0, false) < apart, "A and V move together");
    }

    #[test]
    fn every_glyph_is_within_height_and_depth() {
        for bold in [false, true] {
            let (face, size) = (face(bold), units_per_size(bold) as f32);
            let glyphs = (0..face.glyph_count() as u16).map(GlyphId);
            for outline in glyphs.filter_map(|glyph| face.outline(glyph)) {
                let (top, bottom) = (outline.bounds.min.y / size, outline.bounds.max.y / size);
                assert!(top <= HEIGHT as f32 && -bottom <= DEPTH as f32, "{top} {bottom}");
            }
        }
    }

    #[test]
    fn the_font_has_all_characters_of_numbers() {
        for character in "0123456789.,×⁰¹²³⁴⁵⁶⁷⁸⁹⁻·*+".chars() {
            assert_ne!(face(false).glyph_id(character), GlyphId(0), "{character}");
        }
    }
}
