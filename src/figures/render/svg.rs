use std::fmt::Write;

use super::super::chart::Chart;
use super::super::palette::Colour;
use super::font;
use super::scene::{Anchor, At, Fill, Pen, Scene, Shape, Text};

/// The scene as a document. Each text has its length with it, so that it fits into its place even
/// when the viewer has another font.
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
    for shape in &scene.shapes {
        out += &element(shape);
        out.push('\n');
    }
    out += "</svg>\n";
    out
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Path { points, closed, fill, pen } => {
            let end = if *closed { "Z" } else { "" };
            format!("<path d=\"{}{end}\"{}/>", directions(points), painted(fill, pen))
        }
        Shape::Circle { centre, radius, fill, pen } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            length(centre.x),
            length(centre.y),
            length(*radius),
            painted(fill, pen)
        ),
        Shape::Text(text) => text_element(text),
        Shape::Reading { area, content } => format!(
            "<g class=\"reading\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{}\" fill=\"none\" pointer-events=\"all\"/></g>",
            escaped(content),
            length(area.left),
            length(area.top),
            length(area.width),
            length(area.height),
        ),
    }
}

fn text_element(text: &Text) -> String {
    let At { x, y } = text.place;
    let (x, y) = (length(x), length(y));
    let mut attributes = format!(
        "x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\" textLength=\"{}\" \
         lengthAdjust=\"spacingAndGlyphs\"",
        length(text.size),
        hexadecimal(text.colour),
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
        attributes += " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                        paint-order=\"stroke\"";
    }
    format!("<text {attributes}>{}</text>", escaped(&text.content))
}

fn directions(points: &[At]) -> String {
    let mut out = String::new();
    for (i, point) in points.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(out, "{command}{} {}", length(point.x), length(point.y));
    }
    out
}

fn painted(fill: &Option<Fill>, pen: &Option<Pen>) -> String {
    let mut out = match fill {
        Some(fill) => format!(" fill=\"{}\"", hexadecimal(fill.colour)),
        None => " fill=\"none\"".into(),
    };
    if let Some(fill) = fill.filter(|fill| fill.opacity < 1.0) {
        out += &format!(" fill-opacity=\"{}\"", length(fill.opacity));
    }
    if let Some(pen) = pen {
        let (colour, width) = (hexadecimal(pen.colour), length(pen.width));
        out += &format!(" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
        if !pen.dashes.is_empty() {
            let dashes: Vec<String> = pen.dashes.iter().map(|&dash| length(dash)).collect();
            out += &format!(" stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    out
}

/// Two digits behind the point are a fiftieth of a dense screen's pixel.
fn length(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Not "-0".
    (rounded + 0.0).to_string()
}

fn hexadecimal(Colour([red, green, blue]): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text that XML takes: characters that it does not know become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\u{0}'..='\u{1F}' | '\u{7F}' | '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            _ => out.push(character),
        }
    }
    out
}
