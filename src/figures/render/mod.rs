//! From a chart to a picture, in two steps: [`layout`] turns the chart into a [`scene`] of lines,
//! shapes and texts at their places; [`drawing`] draws the scene with plotters, on a back end that
//! is plotters' bitmap for [`png()`] and writes a document for [`svg`](self::svg()).

mod bars;
mod dashes;
mod drawing;
mod font;
mod layout;
mod legend;
mod lettering;
mod lines;
mod markup;
mod panel;
mod paragraph;
mod placing;
mod png;
mod raster;
mod reading;
mod scale;
mod scene;
mod svg;
mod symbols;

use std::io::Write;
use std::path::Path;

use super::chart::Chart;
use super::error::FigureError;
use crate::storage::NewFile;

/// Pixels of a PNG for each unit of length, in both directions: 300 an inch, as journals want them.
pub const PIXELS_PER_UNIT: f64 = 3.125;

/// The width of a paper's column, 3.3 inches, in units.
const COLUMN: f64 = 317.0;

/// The size of a picture, in units of a CSS pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    width: f64,
    height: f64,
}

impl Size {
    const LEAST: f64 = 160.0;
    const MOST: f64 = 8000.0;

    /// A width and a height, each between 160 and 8000.
    pub fn new(width: f64, height: f64) -> Result<Self, FigureError> {
        let allowed = Self::LEAST..=Self::MOST;
        match allowed.contains(&width) && allowed.contains(&height) {
            true => Ok(Self { width, height }),
            false => Err(FigureError::Size { width, height, least: Self::LEAST, most: Self::MOST }),
        }
    }

    /// The size in which this chart looks well.
    pub fn natural(chart: &Chart) -> Self {
        Self::of_width(chart, layout::natural_width(chart))
    }

    /// The height in which this chart looks well at a width, as far as both are allowed: panels
    /// that have no room side by side stand below each other.
    pub fn of_width(chart: &Chart, width: f64) -> Self {
        let within = |length: f64| length.ceil().clamp(Self::LEAST, Self::MOST);
        let width = within(width);
        Self { width, height: within(layout::natural_height(chart, width)) }
    }

    /// The width.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height.
    pub fn height(&self) -> f64 {
        self.height
    }
}

/// The chart as an SVG document. Every text is a text, and keeps its length in whatever font the
/// viewer has.
pub fn svg(chart: &Chart, size: Size) -> String {
    svg::write(&layout::scene(chart, size), chart)
}

/// The chart as a PNG file of [`PIXELS_PER_UNIT`] times the size.
pub fn png(chart: &Chart, size: Size) -> Result<Vec<u8>, FigureError> {
    png::encode(&layout::scene(chart, size))
}

/// Writes `figure.svg` and `figure.png` of the chart's natural size into an existing folder, and
/// `figure-column.svg` and `figure-column.png` of the width of a paper's column, with letters that are
/// readable there. Each of them appears complete or not at all.
pub fn write(chart: &Chart, folder: impl AsRef<Path>) -> Result<(), FigureError> {
    let (size, column) = (Size::natural(chart), Size::of_width(chart, COLUMN));
    // Cores cannot share the packing of one picture.
    let (picture, narrow) = rayon::join(|| png(chart, size), || png(chart, column));
    let files = [
        ("figure.svg", svg(chart, size).into_bytes()),
        ("figure.png", picture?),
        ("figure-column.svg", svg(chart, column).into_bytes()),
        ("figure-column.png", narrow?),
    ];
    for (name, bytes) in files {
        let path = folder.as_ref().join(name);
        let stored = NewFile::create(&path).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.commit()
        });
        stored.map_err(|source| FigureError::Io { path, source })?;
    }
    Ok(())
}
