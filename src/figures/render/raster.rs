use plotters::backend::BitMapBackend;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingBackend};

use super::PIXELS_PER_UNIT;
use super::drawing::{Canvas, DrawResult, stroke};
use super::lettering::Lettering;
use super::scene::{HALO, Text, WHITE, pen};

/// Samples per pixel in both directions: plotters antialiases only some edges, and its coordinates
/// are integers.
pub(super) const SUPERSAMPLING: usize = 4;

/// A band of a picture as plotters' bitmap, in the coordinates of the whole picture.
///
/// Plotters fills a wide path as one polygon, with notches at sharp corners and holes where it is
/// close to itself. Here each segment is its own polygon, with a disc at each corner.
pub(super) struct Raster<'a> {
    pub(super) bitmap: BitMapBackend<'a>,
    /// The size of the whole picture in samples.
    pub(super) size: (u32, u32),
    /// The row of samples at which the band starts.
    pub(super) top: i32,
}

impl Raster<'_> {
    /// From coordinates of the picture to coordinates of the band.
    fn in_band(&self, (x, y): BackendCoord) -> BackendCoord {
        (x, y - self.top)
    }

    fn segment(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &impl BackendStyle,
    ) -> DrawResult<Self> {
        let width = style.stroke_width().max(1) as i32;
        let half = width / 2;
        if from.0 == to.0 || from.1 == to.1 {
            let ((left, right), (top, bottom)) =
                ((from.0.min(to.0), from.0.max(to.0)), (from.1.min(to.1), from.1.max(to.1)));
            let (first, last) = match from.0 == to.0 {
                true => ((left - half, top), (left - half + width, bottom)),
                false => ((left, top - half), (right, top - half + width)),
            };
            return self.bitmap.draw_rect(first, last, style, true);
        }
        // Plotters' polygons include the pixels of their border, so they are one pixel wider.
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let reach = f64::from(width - 1) / 2.0 / dx.hypot(dy);
        let corner = |(x, y): BackendCoord, side: f64| {
            let next = |value: f64| (value + 0.5).floor() as i32;
            (x + next(-dy * reach * side), y + next(dx * reach * side))
        };
        let corners = [corner(from, 1.0), corner(to, 1.0), corner(to, -1.0), corner(from, -1.0)];
        self.bitmap.fill_polygon(corners, style)
    }
}

impl DrawingBackend for Raster<'_> {
    type ErrorType = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult<Self> {
        self.bitmap.ensure_prepared()
    }

    fn present(&mut self) -> DrawResult<Self> {
        self.bitmap.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> DrawResult<Self> {
        self.bitmap.draw_pixel(self.in_band(at), colour)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult<Self> {
        self.segment(self.in_band(from), self.in_band(to), style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult<Self> {
        let path: Vec<BackendCoord> = path.into_iter().map(|at| self.in_band(at)).collect();
        path.windows(2).try_for_each(|pair| self.segment(pair[0], pair[1], style))?;
        let closed = path.len() > 2 && path.first() == path.last();
        let corners = path.iter().skip(if closed { 0 } else { 1 }).rev().skip(1);
        let radius = style.stroke_width().saturating_sub(1) / 2;
        corners.copied().try_for_each(|at| self.bitmap.draw_circle(at, radius, style, true))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult<Self> {
        self.bitmap.draw_rect(self.in_band(from), self.in_band(to), style, fill)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult<Self> {
        // Plotters does not count the pixel of the centre in the radius.
        self.bitmap.draw_circle(self.in_band(centre), radius.saturating_sub(1), style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult<Self> {
        let path: Vec<BackendCoord> = path.into_iter().map(|at| self.in_band(at)).collect();
        self.bitmap.fill_polygon(path, style)
    }
}

impl Canvas for Raster<'_> {
    const STEPS_PER_UNIT: f64 = PIXELS_PER_UNIT * SUPERSAMPLING as f64;

    fn draw_lettering(&mut self, text: &Text, (x, y): BackendCoord) -> DrawResult<Self> {
        let lettering = Lettering::new(text, Self::STEPS_PER_UNIT);
        if text.halo {
            let white = stroke::<Self>(&pen(WHITE, HALO));
            for path in lettering.halo_paths() {
                self.draw_path(path.into_iter().map(|(dx, dy)| (x + dx, y + dy)), &white)?;
            }
        }
        self.draw_text(&text.content, &lettering, (x, y))
    }
}
