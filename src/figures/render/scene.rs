use super::super::palette::Colour;

pub(super) const INK: Colour = Colour([0x22, 0x26, 0x2B]);
pub(super) const SOFT: Colour = Colour([0x5A, 0x61, 0x69]);
pub(super) const FAINT: Colour = Colour([0x6B, 0x72, 0x7A]);
pub(super) const AXIS: Colour = Colour([0x9A, 0xA0, 0xA6]);
pub(super) const GRID: Colour = Colour([0xE7, 0xE9, 0xEC]);
pub(super) const FINE_GRID: Colour = Colour([0xF3, 0xF4, 0xF6]);
pub(super) const WHITE: Colour = Colour([0xFF, 0xFF, 0xFF]);

/// The share of ink in a series' colour with which small text on white has a contrast of 4.5.
pub(super) const READABLE: f64 = 0.45;

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

    pub(super) fn corners(&self) -> Vec<At> {
        let (right, bottom) = (self.right(), self.bottom());
        vec![at(self.left, self.top), at(right, self.top), at(right, bottom), at(self.left, bottom)]
    }
}

/// A colour that lets some of what is below it through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fill {
    pub(super) colour: Colour,
    pub(super) opacity: f64,
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
    Path {
        points: Vec<At>,
        closed: bool,
        fill: Option<Fill>,
        pen: Option<Pen>,
    },
    Circle {
        centre: At,
        radius: f64,
        fill: Option<Fill>,
        pen: Option<Pen>,
    },
    Text(Text),
    /// Nothing to see: what is said to those who point there.
    Reading {
        area: Frame,
        content: String,
    },
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
        self.shapes.push(Shape::Path { points, closed: false, fill: None, pen: Some(pen) });
    }

    pub(super) fn polygon(&mut self, points: Vec<At>, colour: Colour, opacity: f64) {
        let fill = Some(Fill { colour, opacity });
        self.shapes.push(Shape::Path { points, closed: true, fill, pen: None });
    }

    /// A closed outline filled with `colour`, with a seam around it.
    pub(super) fn marker(&mut self, points: Vec<At>, colour: Colour, pen: Pen) {
        let fill = Some(Fill { colour, opacity: 1.0 });
        self.shapes.push(Shape::Path { points, closed: true, fill, pen: Some(pen) });
    }

    pub(super) fn disc(&mut self, centre: At, radius: f64, colour: Colour, pen: Pen) {
        let fill = Some(Fill { colour, opacity: 1.0 });
        self.shapes.push(Shape::Circle { centre, radius, fill, pen: Some(pen) });
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
