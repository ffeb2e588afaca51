use super::super::palette::Colour;
use super::font;

pub(super) const INK: Colour = Colour([0x22, 0x26, 0x2B]);
pub(super) const SOFT: Colour = Colour([0x5A, 0x61, 0x69]);
pub(super) const FAINT: Colour = Colour([0x6B, 0x72, 0x7A]);
pub(super) const AXIS: Colour = Colour([0x9A, 0xA0, 0xA6]);
pub(super) const GRID: Colour = Colour([0xE7, 0xE9, 0xEC]);
pub(super) const FINE_GRID: Colour = Colour([0xF3, 0xF4, 0xF6]);
pub(super) const WHITE: Colour = Colour([0xFF, 0xFF, 0xFF]);

/// The share of ink to mix into a series' colour for small text on white, for a contrast of 4.5.
pub(super) const READABLE: f64 = 0.45;

/// The stroke width of the halo around letters; half of it is outside of them.
pub(super) const HALO: f64 = 3.0;

/// In units; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Position {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn at(x: f64, y: f64) -> Position {
    Position { x, y }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    /// Alternating lengths of strokes and gaps; empty for a solid line.
    pub(super) dashes: &'static [f64],
}

pub(super) fn pen(colour: Colour, width: f64) -> Pen {
    Pen { colour, width, dashes: &[] }
}

/// Which part of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// The share of the text's length before its position.
    pub(super) fn share(self) -> f64 {
        match self {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        }
    }
}

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    /// On the baseline.
    pub(super) place: Position,
    pub(super) content: String,
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
    pub(super) anchor: Anchor,
    /// In degrees, counter-clockwise around `place`.
    pub(super) turn: f64,
    /// A white outline keeps the text readable on top of lines.
    pub(super) halo: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Filled.
    Rectangle {
        frame: Frame,
        colour: Colour,
    },
    /// A filled polygon.
    Area {
        points: Vec<Position>,
        colour: Colour,
        opacity: f64,
    },
    Disc {
        centre: Position,
        radius: f64,
        colour: Colour,
    },
    /// A path with round corners, closed if its first and last points are equal.
    Line {
        points: Vec<Position>,
        pen: Pen,
    },
    Text(Text),
    /// An invisible area with a text that is shown while the pointer is on it.
    Reading {
        area: Frame,
        content: String,
    },
}

impl Shape {
    /// Bounds on the y coordinates that it covers.
    pub(super) fn y_bounds(&self) -> (f64, f64) {
        /// Backends round coordinates.
        const SLACK: f64 = 0.5;
        let around = |points: &[Position], by: f64| {
            let top = points.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
            let bottom = points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
            (top - by - SLACK, bottom + by + SLACK)
        };
        match self {
            Shape::Rectangle { frame, .. } | Shape::Reading { area: frame, .. } => {
                around(&[at(frame.left, frame.top), at(frame.right(), frame.bottom())], 0.0)
            }
            Shape::Area { points, .. } => around(points, 0.0),
            Shape::Disc { centre, radius, .. } => around(&[*centre], *radius),
            Shape::Line { points, pen } => around(points, pen.width / 2.0),
            Shape::Text(text) => around(&text.corners(), HALO / 2.0),
        }
    }
}

impl Text {
    /// The corners of a box around all letters, rotated with the text.
    fn corners(&self) -> [Position; 4] {
        let length = font::width(&self.content, self.size, self.bold);
        let start = -length * self.anchor.share();
        let (sine, cosine) = self.turn.to_radians().sin_cos();
        let (below, above) = (-font::DEPTH * self.size, font::HEIGHT * self.size);
        let corners = [(0.0, below), (length, below), (length, above), (0.0, above)];
        corners.map(|(along, up)| {
            let along = start + along;
            at(self.place.x + along * cosine - up * sine, self.place.y - along * sine - up * cosine)
        })
    }
}

/// A picture as shapes with positions, from bottom to top.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Scene {
    pub(super) fn line(&mut self, from: Position, to: Position, pen: Pen) {
        self.polyline(vec![from, to], pen);
    }

    pub(super) fn polyline(&mut self, points: Vec<Position>, pen: Pen) {
        self.shapes.push(Shape::Line { points, pen });
    }

    pub(super) fn rectangle(&mut self, frame: Frame, colour: Colour) {
        self.shapes.push(Shape::Rectangle { frame, colour });
    }

    pub(super) fn area(&mut self, points: Vec<Position>, colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { points, colour, opacity });
    }

    pub(super) fn disc(&mut self, centre: Position, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Disc { centre, radius, colour });
    }

    pub(super) fn reading(&mut self, area: Frame, content: String) {
        self.shapes.push(Shape::Reading { area, content });
    }

    pub(super) fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }
}

/// Horizontal regular text in ink that starts at `place`.
pub(super) fn text(place: Position, content: impl Into<String>, size: f64) -> Text {
    Text {
        place,
        content: content.into(),
        size,
        bold: false,
        colour: INK,
        anchor: Anchor::Start,
        turn: 0.0,
        halo: false,
    }
}
