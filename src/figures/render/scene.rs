use super::super::palette::Colour;
use super::font;

pub(super) const INK: Colour = Colour([0x22, 0x26, 0x2B]);
pub(super) const SOFT: Colour = Colour([0x5A, 0x61, 0x69]);
pub(super) const FAINT: Colour = Colour([0x6B, 0x72, 0x7A]);
pub(super) const AXIS: Colour = Colour([0x9A, 0xA0, 0xA6]);
pub(super) const GRID: Colour = Colour([0xE7, 0xE9, 0xEC]);
pub(super) const FINE_GRID: Colour = Colour([0xF3, 0xF4, 0xF6]);
pub(super) const WHITE: Colour = Colour([0xFF, 0xFF, 0xFF]);

/// The share of ink in a series' colour with which small text on white has a contrast of 4.5.
pub(super) const READABLE: f64 = 0.45;

/// The width of the pen that draws a halo around letters, half of which is outside of them.
pub(super) const HALO: f64 = 3.0;

/// A place; y grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn at(x: f64, y: f64) -> At {
    At { x, y }
}

/// A rectangle.
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

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    /// Lengths of strokes and gaps in turn; empty for a solid line.
    pub(super) dashes: &'static [f64],
}

pub(super) fn pen(colour: Colour, width: f64) -> Pen {
    Pen { colour, width, dashes: &[] }
}

/// Which side of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// Which share of the text is before its place.
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
    /// A point on its baseline.
    pub(super) place: At,
    pub(super) content: String,
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
    pub(super) anchor: Anchor,
    /// Degrees around its place, counter-clockwise.
    pub(super) turn: f64,
    /// A white seam that keeps it readable on top of lines.
    pub(super) halo: bool,
}

/// What a picture is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A rectangle full of colour.
    Block {
        frame: Frame,
        colour: Colour,
    },
    /// What is inside of a closed path.
    Area {
        points: Vec<At>,
        colour: Colour,
        /// Less than 1 lets some of what is below through.
        opacity: f64,
    },
    Disc {
        centre: At,
        radius: f64,
        colour: Colour,
    },
    /// A path, closed if it ends where it begins. Its corners are round.
    Line {
        points: Vec<At>,
        pen: Pen,
    },
    Text(Text),
    /// Nothing to see: what is said to those who point there.
    Reading {
        area: Frame,
        content: String,
    },
}

impl Shape {
    /// Heights between which it stays.
    pub(super) fn heights(&self) -> (f64, f64) {
        /// Back ends round places.
        const SLACK: f64 = 0.5;
        let around = |points: &[At], by: f64| {
            let top = points.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
            let bottom = points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
            (top - by - SLACK, bottom + by + SLACK)
        };
        match self {
            Shape::Block { frame, .. } | Shape::Reading { area: frame, .. } => {
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
    /// The corners of a box that has all letters in it, turned like the text.
    fn corners(&self) -> [At; 4] {
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

/// A picture: shapes from the lowest to the topmost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Scene {
    pub(super) fn line(&mut self, from: At, to: At, pen: Pen) {
        self.polyline(vec![from, to], pen);
    }

    pub(super) fn polyline(&mut self, points: Vec<At>, pen: Pen) {
        self.shapes.push(Shape::Line { points, pen });
    }

    pub(super) fn block(&mut self, frame: Frame, colour: Colour) {
        self.shapes.push(Shape::Block { frame, colour });
    }

    pub(super) fn area(&mut self, points: Vec<At>, colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { points, colour, opacity });
    }

    pub(super) fn disc(&mut self, centre: At, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Disc { centre, radius, colour });
    }

    pub(super) fn reading(&mut self, area: Frame, content: String) {
        self.shapes.push(Shape::Reading { area, content });
    }

    pub(super) fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }
}

/// A text in ink, upright, that starts at its place.
pub(super) fn text(place: At, content: impl Into<String>, size: f64) -> Text {
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
