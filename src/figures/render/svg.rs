//! A plotters backend that writes SVG: plotters' own has no titles on hovering, and leaves the
//! length of texts to the viewer's font.

use std::convert::Infallible;

use plotters::style::ShapeStyle;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingBackend};

use super::super::chart::Chart;
use super::drawing::{Canvas, DrawResult, draw};
use super::font;
use super::markup::{escaped, fill_attributes, hex, length, path_data, stroke_attributes};
use super::scene::{Anchor, HALO, Scene, Text};

/// The scene as a document. Each text has its length as an attribute, so that it fits even if the
/// viewer uses another font.
pub(super) fn write(scene: &Scene, chart: &Chart) -> String {
    let (width, height) = (length(scene.width), length(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        font::FAMILIES,
        escaped(&chart.title),
        escaped(&chart.subtitle),
    );
    let steps = |length: f64| (length * Document::STEPS_PER_UNIT).ceil() as u32;
    let size = (steps(scene.width), steps(scene.height));
    draw(&scene.shapes, Document { out: &mut out, size }).expect("writing to a string cannot fail");
    out += "</svg>\n";
    out
}

fn units(steps: i32) -> String {
    length(f64::from(steps) / Document::STEPS_PER_UNIT)
}

struct Document<'a> {
    out: &'a mut String,
    /// In steps.
    size: (u32, u32),
}

impl Document<'_> {
    fn element(&mut self, element: &str) -> DrawResult<Self> {
        self.out.push_str(element);
        self.out.push('\n');
        Ok(())
    }

    fn line(
        &mut self,
        path: &[BackendCoord],
        style: &impl BackendStyle,
        dashes: &str,
    ) -> DrawResult<Self> {
        let element = format!(
            "<path d=\"{}\" fill=\"none\"{}{dashes}/>",
            path_data(path, Self::STEPS_PER_UNIT),
            stroke_attributes(style, Self::STEPS_PER_UNIT)
        );
        self.element(&element)
    }
}

impl DrawingBackend for Document<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult<Self> {
        Ok(())
    }

    fn present(&mut self) -> DrawResult<Self> {
        Ok(())
    }

    /// Required by plotters; shapes of a scene do not use it.
    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> DrawResult<Self> {
        self.draw_rect((x, y), (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult<Self> {
        self.line(&[from, to], style, "")
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult<Self> {
        let path: Vec<BackendCoord> = path.into_iter().collect();
        self.line(&path, style, "")
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult<Self> {
        let element = format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>",
            units(left),
            units(top),
            units(right - left),
            units(bottom - top),
            fill_attributes(style, fill, Self::STEPS_PER_UNIT),
        );
        self.element(&element)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult<Self> {
        let radius = length(f64::from(radius) / Self::STEPS_PER_UNIT);
        let element = format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\"{}/>",
            units(x),
            units(y),
            fill_attributes(style, fill, Self::STEPS_PER_UNIT),
        );
        self.element(&element)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult<Self> {
        let path: Vec<BackendCoord> = path.into_iter().collect();
        let element = format!(
            "<path d=\"{}Z\"{}/>",
            path_data(&path, Self::STEPS_PER_UNIT),
            fill_attributes(style, true, Self::STEPS_PER_UNIT)
        );
        self.element(&element)
    }
}

impl Canvas for Document<'_> {
    /// Two decimals of a CSS pixel, well below what a screen resolves.
    const STEPS_PER_UNIT: f64 = 100.0;

    fn draw_lettering(&mut self, text: &Text, (x, y): BackendCoord) -> DrawResult<Self> {
        let (x, y) = (units(x), units(y));
        let mut attributes = format!(
            "x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\" textLength=\"{}\" \
             lengthAdjust=\"spacingAndGlyphs\"",
            length(text.size),
            hex(text.colour.0),
            length(font::width(&text.content, text.size, text.bold)),
        );
        if text.bold {
            attributes += " font-weight=\"700\"";
        }
        attributes += match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        if text.turn != 0.0 {
            attributes += &format!(" transform=\"rotate({} {x} {y})\"", length(-text.turn));
        }
        if text.halo {
            attributes += &format!(
                " stroke=\"#ffffff\" stroke-width=\"{}\" stroke-linejoin=\"round\" \
                 paint-order=\"stroke\"",
                length(HALO)
            );
        }
        self.element(&format!("<text {attributes}>{}</text>", escaped(&text.content)))
    }

    fn draw_dashes(
        &mut self,
        path: &[BackendCoord],
        style: &ShapeStyle,
        dashes: &[f64],
    ) -> DrawResult<Self> {
        let dashes: Vec<String> = dashes.iter().map(|&dash| length(dash)).collect();
        self.line(path, style, &format!(" stroke-dasharray=\"{}\"", dashes.join(" ")))
    }

    fn draw_reading(&mut self, content: &str, [from, to]: [BackendCoord; 2]) -> DrawResult<Self> {
        let element = format!(
            "<g class=\"reading\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{}\" fill=\"none\" pointer-events=\"all\"/></g>",
            escaped(content),
            units(from.0),
            units(from.1),
            units(to.0 - from.0),
            units(to.1 - from.1),
        );
        self.element(&element)
    }
}
