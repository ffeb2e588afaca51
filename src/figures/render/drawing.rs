//! Draws the shapes of a scene with plotters, on a backend that implements [`Canvas`].

use std::iter;

use plotters::coord::CoordTranslate;
use plotters::drawing::{DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle};
use plotters::style::{Color, RGBAColor, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

use super::super::palette::Colour;
use super::dashes::strokes;
use super::scene::{Pen, Position, Shape, Text, at};

pub(super) type DrawResult<C> = Result<(), DrawingErrorKind<<C as DrawingBackend>::ErrorType>>;

/// A plotters backend that also draws what plotters has no element for: text at any angle and with
/// a halo, dashes of unequal lengths, readings.
pub(super) trait Canvas: DrawingBackend {
    /// Plotters' coordinates are integers: the number of steps per unit of length.
    const STEPS_PER_UNIT: f64;

    /// Draws a text at `place` instead of its own position, which is in units.
    fn draw_lettering(&mut self, text: &Text, place: BackendCoord) -> DrawResult<Self>;

    /// Draws a dashed line; `dashes` alternates between strokes and gaps, in units.
    fn draw_dashes(
        &mut self,
        path: &[BackendCoord],
        style: &ShapeStyle,
        dashes: &[f64],
    ) -> DrawResult<Self> {
        let lengths: Vec<f64> = dashes.iter().map(|dash| dash * Self::STEPS_PER_UNIT).collect();
        strokes(path, &lengths).into_iter().try_for_each(|stroke| self.draw_path(stroke, style))
    }

    /// Adds a text that is shown while the pointer is between two corners. The default, for
    /// pictures without interaction, does nothing.
    fn draw_reading(&mut self, _content: &str, _corners: [BackendCoord; 2]) -> DrawResult<Self> {
        Ok(())
    }
}

/// Draws shapes from bottom to top.
pub(super) fn draw<'a, C: Canvas>(
    shapes: impl IntoIterator<Item = &'a Shape>,
    canvas: C,
) -> Result<(), DrawingAreaErrorKind<C::ErrorType>> {
    let area = canvas
        .into_drawing_area()
        .apply_coord_spec(UnitCoordinates { steps_per_unit: C::STEPS_PER_UNIT });
    for shape in shapes {
        match shape {
            Shape::Rectangle { frame, colour } => {
                let corners = [at(frame.left, frame.top), at(frame.right(), frame.bottom())];
                area.draw(&Rectangle::new(corners, paint(*colour, 1.0).filled()))?;
            }
            Shape::Area { points, colour, opacity } => {
                area.draw(&Polygon::new(points.as_slice(), paint(*colour, *opacity)))?;
            }
            Shape::Disc { centre, radius, colour } => {
                let radius = nearest(radius * C::STEPS_PER_UNIT);
                area.draw(&Circle::new(*centre, radius, paint(*colour, 1.0).filled()))?;
            }
            Shape::Line { points, pen } if pen.dashes.is_empty() => {
                area.draw(&PathElement::new(points.as_slice(), stroke::<C>(pen)))?;
            }
            Shape::Line { points, pen } => area.draw(&Dashed { points, pen })?,
            Shape::Text(text) => area.draw(text)?,
            Shape::Reading { area: frame, content } => {
                let corners = [at(frame.left, frame.top), at(frame.right(), frame.bottom())];
                area.draw(&Reading { corners, content })?;
            }
        }
    }
    area.present()
}

/// Converts units of length to steps of a backend.
struct UnitCoordinates {
    steps_per_unit: f64,
}

impl CoordTranslate for UnitCoordinates {
    type From = Position;

    fn translate(&self, from: &Position) -> BackendCoord {
        (nearest(from.x * self.steps_per_unit), nearest(from.y * self.steps_per_unit))
    }
}

/// The nearest integer; saturates.
fn nearest(steps: f64) -> i32 {
    steps.round() as i32
}

pub(super) fn paint(Colour([red, green, blue]): Colour, opacity: f64) -> RGBAColor {
    RGBAColor(red, green, blue, opacity)
}

pub(super) fn stroke<C: Canvas>(pen: &Pen) -> ShapeStyle {
    paint(pen.colour, 1.0).stroke_width(nearest(pen.width * C::STEPS_PER_UNIT).max(1) as u32)
}

struct Dashed<'a> {
    points: &'a [Position],
    pen: &'a Pen,
}

impl<'a> PointCollection<'a, Position> for &'a Dashed<'_> {
    type Point = &'a Position;
    type IntoIter = &'a [Position];

    fn point_iter(self) -> &'a [Position] {
        self.points
    }
}

impl<C: Canvas> Drawable<C> for Dashed<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        canvas: &mut C,
        _: (u32, u32),
    ) -> DrawResult<C> {
        let path: Vec<BackendCoord> = points.collect();
        canvas.draw_dashes(&path, &stroke::<C>(self.pen), self.pen.dashes)
    }
}

impl<'a> PointCollection<'a, Position> for &'a Text {
    type Point = &'a Position;
    type IntoIter = iter::Once<&'a Position>;

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
    ) -> DrawResult<C> {
        points.try_for_each(|place| canvas.draw_lettering(self, place))
    }
}

struct Reading<'a> {
    corners: [Position; 2],
    content: &'a str,
}

impl<'a> PointCollection<'a, Position> for &'a Reading<'_> {
    type Point = &'a Position;
    type IntoIter = &'a [Position];

    fn point_iter(self) -> &'a [Position] {
        &self.corners
    }
}

impl<C: Canvas> Drawable<C> for Reading<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        canvas: &mut C,
        _: (u32, u32),
    ) -> DrawResult<C> {
        match (points.next(), points.next()) {
            (Some(first), Some(second)) => canvas.draw_reading(self.content, [first, second]),
            _ => Ok(()),
        }
    }
}
