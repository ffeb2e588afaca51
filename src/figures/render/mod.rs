//! Draws a chart in two steps: [`layout`] turns the chart into a [`scene`] of shapes and texts with
//! positions; [`drawing`] draws the scene with plotters, on a bitmap for [`png()`] and on our own
//! backend for [`svg`](self::svg()).

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
mod pdf;
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
use crate::atomic_file::NewFile;

/// Pixels of a PNG per unit of length: 300 per inch, as journals require.
pub const PIXELS_PER_UNIT: f64 = 3.125;

/// The width of a paper's column in units: 3.3 inches.
const COLUMN: f64 = 317.0;

/// The size of a figure in units of a CSS pixel, 1/96 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    width: f64,
    height: f64,
}

impl Size {
    const MIN: f64 = 160.0;
    const MAX: f64 = 8000.0;

    /// Both must be between 160 and 8000.
    pub fn new(width: f64, height: f64) -> Result<Self, FigureError> {
        let allowed = Self::MIN..=Self::MAX;
        match allowed.contains(&width) && allowed.contains(&height) {
            true => Ok(Self { width, height }),
            false => Err(FigureError::Size { width, height, min: Self::MIN, max: Self::MAX }),
        }
    }

    /// The default size of this chart.
    pub fn natural(chart: &Chart) -> Self {
        Self::of_width(chart, layout::natural_width(chart))
    }

    /// The default height at this width, both clamped to what is allowed. Panels that do not fit
    /// next to each other are stacked.
    pub fn of_width(chart: &Chart, width: f64) -> Self {
        let within = |length: f64| length.ceil().clamp(Self::MIN, Self::MAX);
        let width = within(width);
        Self { width, height: within(layout::natural_height(chart, width)) }
    }

    pub fn width(&self) -> f64 {
        self.width
    }

    pub fn height(&self) -> f64 {
        self.height
    }
}

/// The chart as an SVG document. Text is searchable, and keeps its length in whatever font the
/// viewer has.
pub fn svg(chart: &Chart, size: Size) -> String {
    svg::write(&layout::scene(chart, size), chart)
}

/// The chart as the bytes of a PNG file, [`PIXELS_PER_UNIT`] times `size` in pixels.
pub fn png(chart: &Chart, size: Size) -> Result<Vec<u8>, FigureError> {
    png::encode(&layout::scene(chart, size))
}

/// The chart as the bytes of a PDF file.
pub fn pdf(chart: &Chart, size: Size) -> Result<Vec<u8>, FigureError> {
    pdf::encode(&layout::scene(chart, size)).map_err(FigureError::Pdf)
}

/// Writes `figure.svg`, `figure.png` and `figure.pdf` of the default size into an existing folder,
/// and `figure-column` in the same formats, which is as wide as a paper's column. Each file appears
/// complete or not at all.
pub fn write(chart: &Chart, folder: impl AsRef<Path>) -> Result<(), FigureError> {
    let (size, column) = (Size::natural(chart), Size::of_width(chart, COLUMN));
    // Compression of one picture does not run in parallel.
    let (picture, narrow) = rayon::join(|| png(chart, size), || png(chart, column));
    let files = [
        ("figure.svg", svg(chart, size).into_bytes()),
        ("figure.png", picture?),
        ("figure.pdf", pdf(chart, size)?),
        ("figure-column.svg", svg(chart, column).into_bytes()),
        ("figure-column.png", narrow?),
        ("figure-column.pdf", pdf(chart, column)?),
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
