//! A text style for plotters' bitmaps.
//!
//! Plotters' own style ignores the left side bearing of glyphs, so that spacing is uneven, uses
//! another size than the font's, and rotates by multiples of 90 degrees only. This one places
//! outlines where the layout expects them, at any angle. Pixel coverage is computed by the crate
//! that plotters uses too.

use std::convert::Infallible;

use ab_glyph::{Font, OutlineCurve, Point, point};
use ab_glyph_rasterizer::Rasterizer;
use plotters::style::Color;
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, FontFamily, FontStyle};

use super::drawing::paint;
use super::font;
use super::scene::Text;

pub(super) struct Lettering<'a> {
    text: &'a Text,
    pixels_per_unit: f64,
}

impl<'a> Lettering<'a> {
    pub(super) fn new(text: &'a Text, pixels_per_unit: f64) -> Self {
        Self { text, pixels_per_unit }
    }

    /// The outlines of the glyphs, in pixels relative to the text's position.
    pub(super) fn outlines(&self) -> impl Iterator<Item = Vec<OutlineCurve>> {
        let Text { content, bold, anchor, turn, .. } = self.text;
        let (glyphs, end) = font::glyphs(content, *bold);
        let start = -end * anchor.share();
        let scale = self.size() / font::units_per_size(*bold);
        let (sine, cosine) = turn.to_radians().sin_cos();
        let face = font::face(*bold);
        // Spaces have no outline.
        let outlined = move |(glyph, along)| Some((face.outline(glyph)?, start + along));
        glyphs.into_iter().filter_map(outlined).map(move |(outline, along)| {
            // In the font, y grows upwards.
            let placed = |from: Point| {
                let (x, y) = (scale * (f64::from(from.x) + along), scale * f64::from(from.y));
                point((x * cosine - y * sine) as f32, (-x * sine - y * cosine) as f32)
            };
            outline.curves.iter().map(|curve| transformed(curve, placed)).collect()
        })
    }

    /// The outlines as closed paths, in pixels relative to the text's position.
    pub(super) fn halo_paths(&self) -> Vec<Vec<BackendCoord>> {
        let pixel = |at: Point| (at.x.round() as i32, at.y.round() as i32);
        let mut paths: Vec<Vec<BackendCoord>> = Vec::new();
        for curve in self.outlines().flatten() {
            let points = sampled(&curve).map(pixel);
            match paths.last_mut() {
                Some(path) if path.last() == Some(&points[0]) => path.extend(&points[1..]),
                _ => paths.push(points.to_vec()),
            }
        }
        paths
    }
}

impl BackendTextStyle for Lettering<'_> {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        paint(self.text.colour, 1.0).to_backend_color()
    }

    fn size(&self) -> f64 {
        self.text.size * self.pixels_per_unit
    }

    fn style(&self) -> FontStyle {
        if self.text.bold { FontStyle::Bold } else { FontStyle::Normal }
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(font::FAMILIES)
    }

    /// Plotters shifts a text by the size of this box to its anchor. These outlines are already
    /// at the anchor.
    fn layout_box(&self, _: &str) -> Result<(BackendCoord, BackendCoord), Infallible> {
        Ok(((0, 0), (0, 0)))
    }

    fn draw<E, Pixel: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _: &str,
        place: BackendCoord,
        mut pixel: Pixel,
    ) -> Result<Result<(), E>, Infallible> {
        let colour = self.color();
        let mut drawn = Ok(());
        for curves in self.outlines() {
            coverage(&curves, |x, y, share| {
                if share > 0.0 && drawn.is_ok() {
                    let colour = colour.mix(f64::from(share.min(1.0)));
                    drawn = pixel(place.0 + x, place.1 + y, colour);
                }
            });
        }
        Ok(drawn)
    }
}

/// Calls `visit` with each pixel in the bounding box of an outline and the share of it inside.
fn coverage(curves: &[OutlineCurve], mut visit: impl FnMut(i32, i32, f32)) {
    let hull = || curves.iter().flat_map(control_points);
    let least = |of: fn(Point) -> f32| hull().map(of).fold(f32::INFINITY, f32::min).floor();
    let most = |of: fn(Point) -> f32| hull().map(of).fold(f32::NEG_INFINITY, f32::max).ceil();
    let (left, top) = (least(|point| point.x), least(|point| point.y));
    let (width, height) = (most(|point| point.x) - left, most(|point| point.y) - top);
    let mut rasterizer = Rasterizer::new(width as usize, height as usize);
    for curve in curves {
        match transformed(curve, |from| point(from.x - left, from.y - top)) {
            OutlineCurve::Line(a, b) => rasterizer.draw_line(a, b),
            OutlineCurve::Quad(a, b, c) => rasterizer.draw_quad(a, b, c),
            OutlineCurve::Cubic(a, b, c, d) => rasterizer.draw_cubic(a, b, c, d),
        }
    }
    let (left, right) = (left as i32, left as i32 + width as i32);
    let (mut x, mut y) = (left, top as i32);
    rasterizer.for_each_pixel(|_, share| {
        visit(x, y, share);
        x += 1;
        if x == right {
            (x, y) = (left, y + 1);
        }
    });
}

/// Points whose convex hull contains the curve.
fn control_points(curve: &OutlineCurve) -> [Point; 4] {
    match *curve {
        OutlineCurve::Line(a, b) => [a, a, b, b],
        OutlineCurve::Quad(a, b, c) => [a, b, b, c],
        OutlineCurve::Cubic(a, b, c, d) => [a, b, c, d],
    }
}

fn transformed(curve: &OutlineCurve, to: impl Fn(Point) -> Point) -> OutlineCurve {
    match *curve {
        OutlineCurve::Line(a, b) => OutlineCurve::Line(to(a), to(b)),
        OutlineCurve::Quad(a, b, c) => OutlineCurve::Quad(to(a), to(b), to(c)),
        OutlineCurve::Cubic(a, b, c, d) => OutlineCurve::Cubic(to(a), to(b), to(c), to(d)),
    }
}

/// The ends of a curve and its middle, which suffice for a halo of several pixels.
fn sampled(curve: &OutlineCurve) -> [Point; 3] {
    let middle = |a: Point, b: Point| point((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
    match *curve {
        OutlineCurve::Line(a, b) => [a, middle(a, b), b],
        OutlineCurve::Quad(a, b, c) => [a, middle(middle(a, b), middle(b, c)), c],
        OutlineCurve::Cubic(a, b, c, d) => {
            let (first, inner, last) = (middle(a, b), middle(b, c), middle(c, d));
            [a, middle(middle(first, inner), middle(inner, last)), d]
        }
    }
}
