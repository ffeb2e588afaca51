use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::super::error::FigureError;
use super::super::palette::Colour;
use super::PIXELS_PER_UNIT;
use super::font;
use super::scene::{Anchor, At, Fill, Pen, Scene, Shape, Text, WHITE, pen};

/// The scene as the bytes of a PNG file.
pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>, FigureError> {
    let pixels = |length: f64| (length * PIXELS_PER_UNIT).round() as u32;
    let failed = |reason: String| FigureError::Encoding { reason };
    let mut canvas = Pixmap::new(pixels(scene.width), pixels(scene.height))
        .ok_or_else(|| failed("the picture is too large".into()))?;
    canvas.fill(Color::WHITE);
    let zoom = Transform::from_scale(PIXELS_PER_UNIT as f32, PIXELS_PER_UNIT as f32);
    for shape in &scene.shapes {
        draw(&mut canvas, shape, zoom);
    }
    canvas.encode_png().map_err(|error| failed(error.to_string()))
}

fn draw(canvas: &mut Pixmap, shape: &Shape, zoom: Transform) {
    match shape {
        Shape::Reading { .. } => {}
        Shape::Path { points, closed, fill, pen } => {
            let path = outline(points, *closed);
            paint(canvas, path, fill, pen, zoom);
        }
        Shape::Circle { centre, radius, fill, pen } => {
            let path = PathBuilder::from_circle(centre.x as f32, centre.y as f32, *radius as f32);
            paint(canvas, path, fill, pen, zoom);
        }
        Shape::Text(text) => {
            let At { x, y } = text.place;
            let turned = zoom
                .pre_translate(x as f32, y as f32)
                .pre_concat(Transform::from_rotate(-text.turn as f32));
            let path = lettering(text);
            if text.halo {
                paint(canvas, path.clone(), &None, &Some(pen(WHITE, 3.0)), turned);
            }
            let fill = Some(Fill { colour: text.colour, opacity: 1.0 });
            paint(canvas, path, &fill, &None, turned);
        }
    }
}

/// Without a path there is nothing to draw: no points, or a text of spaces.
fn paint(
    canvas: &mut Pixmap,
    path: Option<Path>,
    fill: &Option<Fill>,
    pen: &Option<Pen>,
    transform: Transform,
) {
    let Some(path) = path else { return };
    if let Some(fill) = fill {
        let colour = colour(fill.colour, fill.opacity);
        canvas.fill_path(&path, &colour, FillRule::Winding, transform, None);
    }
    if let Some(pen) = pen {
        let dashes = pen.dashes.iter().map(|&dash| dash as f32).collect();
        let stroke = Stroke {
            width: pen.width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(dashes, 0.0),
            ..Stroke::default()
        };
        canvas.stroke_path(&path, &colour(pen.colour, 1.0), &stroke, transform, None);
    }
}

fn colour(Colour([red, green, blue]): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}

fn outline(points: &[At], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    path.move_to(first.x as f32, first.y as f32);
    rest.iter().for_each(|point| path.line_to(point.x as f32, point.y as f32));
    if closed {
        path.close();
    }
    path.finish()
}

/// The outlines of a text's glyphs, its place at the origin.
fn lettering(text: &Text) -> Option<Path> {
    let face = font::face(text.bold);
    let (glyphs, end) = font::glyphs(&text.content, text.bold);
    let start = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -end / 2.0,
        Anchor::End => -end,
    };
    let scale = (text.size / f64::from(face.units_per_em())) as f32;
    let mut pencil = Pencil { path: PathBuilder::new(), scale, shift: 0.0 };
    for (glyph, along) in glyphs {
        pencil.shift = (start + along) as f32;
        face.outline_glyph(glyph, &mut pencil);
    }
    pencil.path.finish()
}

/// Follows a glyph's outline, in units of the font with y upwards.
struct Pencil {
    path: PathBuilder,
    scale: f32,
    shift: f32,
}

impl Pencil {
    fn to(&self, x: f32, y: f32) -> (f32, f32) {
        ((x + self.shift) * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pencil {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.to(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.to(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.to(x1, y1), self.to(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.to(x1, y1), self.to(x2, y2), self.to(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
