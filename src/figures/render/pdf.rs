//! Writes a scene as a PDF file of one page: vector graphics for papers. Letters are outlines, so
//! that no font is embedded; the text of a figure is in its SVG.

use std::fmt::Write as _;
use std::io::Write;

use ab_glyph::{OutlineCurve, Point};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::super::palette::Colour;
use super::lettering::Lettering;
use super::scene::{HALO, Position, Scene, Shape, Text, at};

/// PDF counts in 1/72 inch, scenes in 1/96.
const POINTS_PER_UNIT: f64 = 0.75;
/// The control points of a Bezier curve for a quarter of a circle of radius 1: the largest distance
/// from the circle is 0.03 %.
const QUARTER: f64 = 0.552_284_75;

/// The bytes of the file. The same scene gives the same bytes.
pub(super) fn encode(scene: &Scene) -> std::io::Result<Vec<u8>> {
    let (width, height) = (POINTS_PER_UNIT * scene.width, POINTS_PER_UNIT * scene.height);
    let mut page = Page::default();
    // In a scene, y grows downwards.
    let scale = number(POINTS_PER_UNIT);
    page.line(format_args!("{scale} 0 0 -{scale} 0 {} cm 1 J 1 j", number(height)));
    scene.shapes.iter().for_each(|shape| page.shape(shape));
    let mut compressed = ZlibEncoder::new(Vec::new(), Compression::default());
    compressed.write_all(page.content.as_bytes())?;
    let compressed = compressed.finish()?;
    let states: Vec<String> = (1..)
        .zip(&page.opacities)
        .map(|(place, opacity)| format!("/G{place} << /ca {} >>", number(*opacity)))
        .collect();
    let stream = format!("<< /Length {} /Filter /FlateDecode >>", compressed.len());
    let objects = [
        ("<< /Type /Catalog /Pages 2 0 R >>".to_string(), None),
        ("<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_string(), None),
        (
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources \
                 << /ExtGState << {} >> >> >>",
                number(width),
                number(height),
                states.join(" ")
            ),
            None,
        ),
        (stream, Some(compressed)),
    ];
    file(&objects)
}

/// Objects 1, 2, ... with the table of their places.
fn file(objects: &[(String, Option<Vec<u8>>)]) -> std::io::Result<Vec<u8>> {
    // The second line has bytes above 127, by which programs recognise a binary file.
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut places = Vec::new();
    for (number, (dictionary, stream)) in (1..).zip(objects) {
        places.push(bytes.len());
        write!(bytes, "{number} 0 obj\n{dictionary}\n")?;
        if let Some(stream) = stream {
            bytes.extend_from_slice(b"stream\n");
            bytes.extend_from_slice(stream);
            bytes.extend_from_slice(b"\nendstream\n");
        }
        bytes.extend_from_slice(b"endobj\n");
    }
    let table = bytes.len();
    write!(bytes, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1)?;
    for place in places {
        writeln!(bytes, "{place:010} 00000 n ")?;
    }
    write!(
        bytes,
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    )?;
    Ok(bytes)
}

/// At most three decimals: a thousandth of a unit is below what a printer resolves.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The operators of a page.
#[derive(Default)]
struct Page {
    content: String,
    /// Those in use, by the numbers of their graphics states from 1 on.
    opacities: Vec<f64>,
}

impl Page {
    fn line(&mut self, operators: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.content, "{operators}");
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { frame, colour } => {
                self.fill_colour(*colour);
                let [x, y] = [frame.left, frame.top].map(number);
                let [width, height] = [frame.width, frame.height].map(number);
                self.line(format_args!("{x} {y} {width} {height} re f"));
            }
            Shape::Area { points, colour, opacity } => {
                self.fill_colour(*colour);
                let state = self.opacity(*opacity);
                self.line(format_args!("q /G{state} gs"));
                self.path(points);
                self.line(format_args!("h f Q"));
            }
            Shape::Disc { centre, radius, colour } => {
                self.fill_colour(*colour);
                self.circle(*centre, *radius);
            }
            Shape::Line { points, pen } => {
                self.stroke_colour(pen.colour);
                let dashes: Vec<String> = pen.dashes.iter().map(|&dash| number(dash)).collect();
                let width = number(pen.width);
                self.line(format_args!("{width} w [{}] 0 d", dashes.join(" ")));
                self.path(points);
                let closed = points.len() > 2 && points.first() == points.last();
                self.line(format_args!("{}", if closed { "s" } else { "S" }));
            }
            Shape::Text(text) => self.text(text),
            // Paper has no pointer.
            Shape::Reading { .. } => {}
        }
    }

    fn opacity(&mut self, opacity: f64) -> usize {
        let known = self.opacities.iter().position(|&other| other == opacity);
        known.unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        }) + 1
    }

    fn fill_colour(&mut self, colour: Colour) {
        self.line(format_args!("{} rg", shares(colour)));
    }

    fn stroke_colour(&mut self, colour: Colour) {
        self.line(format_args!("{} RG", shares(colour)));
    }

    fn path(&mut self, points: &[Position]) {
        for (place, point) in points.iter().enumerate() {
            let operator = if place == 0 { "m" } else { "l" };
            self.line(format_args!("{} {operator}", pair(*point)));
        }
    }

    fn circle(&mut self, centre: Position, radius: f64) {
        let on = |x: f64, y: f64| pair(at(centre.x + radius * x, centre.y + radius * y));
        self.line(format_args!("{} m", on(1.0, 0.0)));
        let (mut x, mut y) = (1.0, 0.0);
        for _ in 0..4 {
            let (next_x, next_y) = (-y, x);
            let first = on(x + QUARTER * next_x, y + QUARTER * next_y);
            let second = on(next_x + QUARTER * x, next_y + QUARTER * y);
            self.line(format_args!("{first} {second} {} c", on(next_x, next_y)));
            (x, y) = (next_x, next_y);
        }
        self.line(format_args!("f"));
    }

    fn text(&mut self, text: &Text) {
        if text.halo {
            self.stroke_colour(super::scene::WHITE);
            self.line(format_args!("{} w [] 0 d", number(HALO)));
            self.outlines(text);
            self.line(format_args!("S"));
        }
        self.fill_colour(text.colour);
        self.outlines(text);
        self.line(format_args!("f"));
    }

    fn outlines(&mut self, text: &Text) {
        let shown = |from: Point| {
            let (x, y) = (f64::from(from.x), f64::from(from.y));
            pair(at(text.place.x + x, text.place.y + y))
        };
        let between = |a: Point, b: Point| {
            let part = |a: f32, b: f32| a + (b - a) * 2.0 / 3.0;
            Point { x: part(a.x, b.x), y: part(a.y, b.y) }
        };
        for curves in Lettering::new(text, 1.0).outlines() {
            let mut last = None;
            for curve in curves {
                let (start, end, operators) = match curve {
                    OutlineCurve::Line(a, b) => (a, b, format!("{} l", shown(b))),
                    OutlineCurve::Quad(a, b, c) => {
                        let (first, second) = (shown(between(a, b)), shown(between(c, b)));
                        (a, c, format!("{first} {second} {} c", shown(c)))
                    }
                    OutlineCurve::Cubic(a, b, c, d) => {
                        (a, d, format!("{} {} {} c", shown(b), shown(c), shown(d)))
                    }
                };
                if last != Some(start) {
                    self.line(format_args!("{} m", shown(start)));
                }
                self.line(format_args!("{operators}"));
                last = Some(end);
            }
        }
        // An empty text has no path to paint.
        self.line(format_args!("0 0 m"));
    }
}

fn pair(point: Position) -> String {
    format!("{} {}", number(point.x), number(point.y))
}

/// Red, green and blue from 0 to 1.
fn shares(Colour(bytes): Colour) -> String {
    bytes.map(|byte| number(f64::from(byte) / 255.0)).join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::scene::{Frame, pen, text};
    use super::*;

    fn scene() -> Scene {
        let mut scene = Scene { width: 400.0, height: 200.0, shapes: Vec::new() };
        let colour = Colour([255, 0, 51]);
        scene.rectangle(Frame { left: 10.0, top: 20.0, width: 30.0, height: 40.0 }, colour);
        scene.area(vec![at(0.0, 0.0), at(5.0, 5.0), at(0.0, 5.0)], colour, 0.25);
        scene.disc(at(50.0, 60.0), 3.0, colour);
        scene.line(at(1.0, 2.0), at(3.0, 4.0), pen(colour, 1.5));
        scene.text(text(at(100.0, 100.0), "PGM", 12.0));
        scene.text(text(at(100.0, 120.0), "", 12.0));
        scene
    }

    /// The operators of the page.
    fn content(bytes: &[u8]) -> String {
        let find = |what: &[u8]| bytes.windows(what.len()).position(|at| at == what).unwrap();
        let (start, end) = (find(b"stream\n") + 7, find(b"\nendstream"));
        let mut text = String::new();
        flate2::read::ZlibDecoder::new(&bytes[start..end]).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_table_leads_to_the_objects() {
        let bytes = encode(&scene()).unwrap();
        assert_eq!(bytes, encode(&scene()).unwrap());
        let tail = String::from_utf8_lossy(&bytes[bytes.len() - 400..]).into_owned();
        let table = tail.split("startxref\n").nth(1).unwrap().lines().next().unwrap();
        let table: usize = table.parse().unwrap();
        assert!(bytes[table..].starts_with(b"xref\n0 5\n"));
        let lines = String::from_utf8_lossy(&bytes[table..]).into_owned();
        for (number, line) in (1..5).zip(lines.lines().skip(3)) {
            let place: usize = line[..10].parse().unwrap();
            assert!(bytes[place..].starts_with(format!("{number} 0 obj\n").as_bytes()), "{line}");
            assert_eq!(line.len() + 1, 20, "entries have 20 bytes");
        }
        let page = String::from_utf8_lossy(&bytes).into_owned();
        assert!(page.contains("/MediaBox [0 0 300 150]") && page.contains("/G1 << /ca 0.25 >>"));
    }

    #[test]
    fn shapes_become_operators_and_letters_outlines() {
        let content = content(&encode(&scene()).unwrap());
        assert!(content.starts_with("0.75 0 0 -0.75 0 150 cm"), "{content}");
        assert!(content.contains("1 0 0.2 rg\n10 20 30 40 re f\n"), "{content}");
        assert!(content.contains("1.5 w [] 0 d\n1 2 m\n3 4 l\nS\n"), "{content}");
        assert_eq!(content.matches("q /G1 gs").count(), content.matches("h f Q").count());
        // P, G and M have curves and straight lines.
        let letters = content.rsplit_once("0.133").unwrap().0;
        assert!(letters.matches(" c\n").count() > 8 && letters.matches(" l\n").count() > 10);
    }
}
