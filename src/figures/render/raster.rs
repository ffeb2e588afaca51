use plotters::backend::BitMapBackend;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, DrawingBackend};

use super::PIXELS_PER_UNIT;
use super::drawing::{Canvas, Drawn, stroke};
use super::lettering::Lettering;
use super::scene::{HALO, Text, WHITE, pen};

/// Plotters smooths no more than the edges of a shape, and knows whole pixels only: it draws on a
/// bitmap that is so many times as fine in both directions.
pub(super) const FINENESS: usize = 4;

/// Some rows of a picture as plotters' bitmap; to the outside it is as large as the picture.
///
/// Plotters makes one polygon of a wide path, with notches where it turns sharply and holes where it
/// comes near itself. Here each segment is a shape of its own, with a disc at each corner.
pub(super) struct Raster<'a> {
    pub(super) bitmap: BitMapBackend<'a>,
    /// The size of the picture in fine pixels.
    pub(super) size: (u32, u32),
    /// The first row that the bitmap has.
    pub(super) top: i32,
}

impl Raster<'_> {
    /// Where a place of the picture is in the bitmap.
    fn inside(&self, (x, y): BackendCoord) -> BackendCoord {
        (x, y - self.top)
    }

    fn segment(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &impl BackendStyle,
    ) -> Drawn<Self> {
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
        // Plotters' polygons have the pixels of their border in them: one less is as wide.
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

    fn ensure_prepared(&mut self) -> Drawn<Self> {
        self.bitmap.ensure_prepared()
    }

    fn present(&mut self) -> Drawn<Self> {
        self.bitmap.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Drawn<Self> {
        self.bitmap.draw_pixel(self.inside(at), colour)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn<Self> {
        self.segment(self.inside(from), self.inside(to), style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn<Self> {
        let path: Vec<BackendCoord> = path.into_iter().map(|at| self.inside(at)).collect();
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
    ) -> Drawn<Self> {
        self.bitmap.draw_rect(self.inside(from), self.inside(to), style, fill)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn<Self> {
        // The pixel of the centre counts too.
        self.bitmap.draw_circle(self.inside(centre), radius.saturating_sub(1), style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn<Self> {
        let path: Vec<BackendCoord> = path.into_iter().map(|at| self.inside(at)).collect();
        self.bitmap.fill_polygon(path, style)
    }
}

impl Canvas for Raster<'_> {
    const STEPS: f64 = PIXELS_PER_UNIT * FINENESS as f64;

    fn draw_lettering(&mut self, text: &Text, (x, y): BackendCoord) -> Drawn<Self> {
        let lettering = Lettering::new(text, Self::STEPS);
        if text.halo {
            let white = stroke::<Self>(&pen(WHITE, HALO));
            for seam in lettering.seams() {
                self.draw_path(seam.into_iter().map(|(dx, dy)| (x + dx, y + dy)), &white)?;
            }
        }
        self.draw_text(&text.content, &lettering, (x, y))
    }
}
