//! The shapes of a scene as elements of plotters, on any back end that knows a few things more than
//! plotters asks for.

use std::iter;

use plotters::coord::CoordTranslate;
use plotters::drawing::{DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle};
use plotters::style::{Color, RGBAColor, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

use super::super::palette::Colour;
use super::dashes::strokes;
use super::scene::{At, Pen, Shape, Text, at};

/// What comes of a step of drawing on a back end.
pub(super) type Drawn<C> = Result<(), DrawingErrorKind<<C as DrawingBackend>::ErrorType>>;

/// A back end of plotters for whole scenes: texts at any angle and with a halo, lines of unequal
/// strokes, and readings are not in plotters' own vocabulary.
pub(super) trait Canvas: DrawingBackend {
    /// Plotters' places are whole numbers: how many of them go into a unit of length.
    const STEPS: f64;

    /// Draws a text whose place is there.
    fn draw_lettering(&mut self, text: &Text, place: BackendCoord) -> Drawn<Self>;

    /// Draws a line of strokes and gaps, whose lengths in units take turns.
    fn draw_dashes(
        &mut self,
        path: &[BackendCoord],
        style: &ShapeStyle,
        dashes: &[f64],
    ) -> Drawn<Self> {
        let lengths: Vec<f64> = dashes.iter().map(|dash| dash * Self::STEPS).collect();
        strokes(path, &lengths).into_iter().try_for_each(|stroke| self.draw_path(stroke, style))
    }

    /// Has something to say to those who point between two corners. Paper has not.
    fn draw_reading(&mut self, _content: &str, _corners: [BackendCoord; 2]) -> Drawn<Self> {
        Ok(())
    }
}

/// Draws shapes, the lowest first.
pub(super) fn draw<'a, C: Canvas>(
    shapes: impl IntoIterator<Item = &'a Shape>,
    canvas: C,
) -> Result<(), DrawingAreaErrorKind<C::ErrorType>> {
    let area = canvas.into_drawing_area().apply_coord_spec(Grid { steps: C::STEPS });
    for shape in shapes {
        match shape {
            Shape::Block { frame, colour } => {
                let corners = [at(frame.left, frame.top), at(frame.right(), frame.bottom())];
                area.draw(&Rectangle::new(corners, paint(*colour, 1.0).filled()))?;
            }
            Shape::Area { points, colour, opacity } => {
                area.draw(&Polygon::new(points.as_slice(), paint(*colour, *opacity)))?;
            }
            Shape::Disc { centre, radius, colour } => {
                let radius = whole(radius * C::STEPS);
                area.draw(&Circle::new(*centre, radius, paint(*colour, 1.0).filled()))?;
            }
            Shape::Line { points, pen } if pen.dashes.is_empty() => {
                area.draw(&PathElement::new(points.as_slice(), stroke::<C>(pen)))?;
            }
            Shape::Line { points, pen } => area.draw(&Dashed { points, pen })?,
            Shape::Text(text) => area.draw(text)?,
            Shape::Reading { area: there, content } => {
                let corners = [at(there.left, there.top), at(there.right(), there.bottom())];
                area.draw(&Reading { corners, content })?;
            }
        }
    }
    area.present()
}

/// Units of length in steps of a back end.
struct Grid {
    steps: f64,
}

impl CoordTranslate for Grid {
    type From = At;

    fn translate(&self, from: &At) -> BackendCoord {
        (whole(from.x * self.steps), whole(from.y * self.steps))
    }
}

/// The next whole number, or the last one that there is.
fn whole(steps: f64) -> i32 {
    steps.round() as i32
}

pub(super) fn paint(Colour([red, green, blue]): Colour, opacity: f64) -> RGBAColor {
    RGBAColor(red, green, blue, opacity)
}

pub(super) fn stroke<C: Canvas>(pen: &Pen) -> ShapeStyle {
    paint(pen.colour, 1.0).stroke_width(whole(pen.width * C::STEPS).max(1) as u32)
}

struct Dashed<'a> {
    points: &'a [At],
    pen: &'a Pen,
}

impl<'a> PointCollection<'a, At> for &'a Dashed<'_> {
    type Point = &'a At;
    type IntoIter = &'a [At];

    fn point_iter(self) -> &'a [At] {
        self.points
    }
}

impl<C: Canvas> Drawable<C> for Dashed<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        canvas: &mut C,
        _: (u32, u32),
    ) -> Drawn<C> {
        let path: Vec<BackendCoord> = points.collect();
        canvas.draw_dashes(&path, &stroke::<C>(self.pen), self.pen.dashes)
    }
}

impl<'a> PointCollection<'a, At> for &'a Text {
    type Point = &'a At;
    type IntoIter = iter::Once<&'a At>;

    fn point_iter(self) -> Self::IntoIter {
        iter::once(&self.place)
    }
}

impl<C: Canvas> Drawable<C> for Text {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        canvas: &mut C,
        _: (u32, u32),
    ) -> Drawn<C> {
        points.try_for_each(|place| canvas.draw_lettering(self, place))
    }
}

struct Reading<'a> {
    corners: [At; 2],
    content: &'a str,
}

impl<'a> PointCollection<'a, At> for &'a Reading<'_> {
    type Point = &'a At;
    type IntoIter = &'a [At];

    fn point_iter(self) -> &'a [At] {
        &self.corners
    }
}

impl<C: Canvas> Drawable<C> for Reading<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        canvas: &mut C,
        _: (u32, u32),
    ) -> Drawn<C> {
        match (points.next(), points.next()) {
            (Some(first), Some(second)) => canvas.draw_reading(self.content, [first, second]),
            _ => Ok(()),
        }
    }
}
