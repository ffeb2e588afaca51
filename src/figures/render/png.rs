use std::error::Error;

use plotters::backend::BitMapBackend;
use rayon::prelude::*;

use super::super::error::FigureError;
use super::PIXELS_PER_UNIT;
use super::drawing::draw;
use super::raster::{Raster, SUPERSAMPLING};
use super::scene::Scene;

/// RGB.
const CHANNELS: usize = 3;

/// Rows of pixels per band: the samples of all rows at once would take gigabytes, and with smaller
/// bands more texts are drawn twice.
const BAND: usize = 96;

pub(super) fn encode(scene: &Scene) -> Result<Vec<u8>, FigureError> {
    let pixels = |length: f64| (length * PIXELS_PER_UNIT).round() as usize;
    let (width, height) = (pixels(scene.width), pixels(scene.height));
    let picture = drawn(scene, (width, height), BAND)?;
    compressed(&picture, width as u32, height as u32).map_err(failed)
}

fn failed(error: impl Error) -> FigureError {
    FigureError::Encoding { reason: error.to_string() }
}

/// The pixels of the scene, drawn in independent bands.
fn drawn(
    scene: &Scene,
    (width, height): (usize, usize),
    rows_per_band: usize,
) -> Result<Vec<u8>, FigureError> {
    let mut picture = vec![0; width * height * CHANNELS];
    let bands = picture.par_chunks_mut(width * rows_per_band * CHANNELS).enumerate();
    bands.try_for_each_init(Vec::new, |samples, (i, rows)| {
        draw_band(scene, (width, height), i * rows_per_band, samples, rows)
    })?;
    Ok(picture)
}

/// Draws the rows from `first` on; `samples` is a buffer to reuse.
fn draw_band(
    scene: &Scene,
    (width, height): (usize, usize),
    first: usize,
    samples: &mut Vec<u8>,
    rows: &mut [u8],
) -> Result<(), FigureError> {
    let count = rows.len() / (width * CHANNELS);
    samples.clear();
    samples.resize(rows.len() * SUPERSAMPLING * SUPERSAMPLING, 0xFF);
    let size = |width: usize, height: usize| {
        ((width * SUPERSAMPLING) as u32, (height * SUPERSAMPLING) as u32)
    };
    let raster = Raster {
        bitmap: BitMapBackend::with_buffer(samples, size(width, count)),
        size: size(width, height),
        top: (first * SUPERSAMPLING) as i32,
    };
    let (top, bottom) = (first as f64 / PIXELS_PER_UNIT, (first + count) as f64 / PIXELS_PER_UNIT);
    let visible = scene.shapes.iter().filter(|shape| {
        let (highest, lowest) = shape.y_bounds();
        highest <= bottom && lowest >= top
    });
    draw(visible, raster).map_err(failed)?;
    let sample_rows = samples.chunks_exact(width * SUPERSAMPLING * CHANNELS * SUPERSAMPLING);
    for (row, samples) in rows.chunks_exact_mut(width * CHANNELS).zip(sample_rows) {
        downsample(samples, row);
    }
    Ok(())
}

/// Sets each pixel of a row to the mean of its samples.
fn downsample(samples: &[u8], row: &mut [u8]) {
    const COUNT: u16 = (SUPERSAMPLING * SUPERSAMPLING) as u16;
    let mut sums = vec![0u16; row.len() * SUPERSAMPLING];
    for line in samples.chunks_exact(sums.len()) {
        sums.iter_mut().zip(line).for_each(|(sum, &value)| *sum += u16::from(value));
    }
    let pixels = row.chunks_exact_mut(CHANNELS);
    for (pixel, sums) in pixels.zip(sums.chunks_exact(CHANNELS * SUPERSAMPLING)) {
        // Half of the divisor, so that the mean is rounded to nearest.
        let mut totals = [COUNT / 2; CHANNELS];
        for sum in sums.chunks_exact(CHANNELS) {
            totals.iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
        pixel.iter_mut().zip(totals).for_each(|(value, total)| *value = (total / COUNT) as u8);
    }
}

/// Charts are large areas of one colour: files are smallest without filters, and higher levels of
/// compression gain little.
fn compressed(picture: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(4));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::super::palette::Colour;
    use super::super::scene::{Anchor, Frame, Pen, Shape, Text, WHITE, at, pen, text};
    use super::*;

    const BLACK: Colour = Colour([0; 3]);
    /// The width and the height of pictures here, in units and in pixels.
    const SIDE: f64 = 160.0;
    const PIXELS: usize = 500;

    /// How dark each pixel is when these shapes are drawn, from 0 to 1.
    fn inked(shapes: Vec<Shape>) -> Vec<f64> {
        let scene = Scene { width: SIDE, height: SIDE, shapes };
        let picture = drawn(&scene, (PIXELS, PIXELS), BAND).unwrap();
        picture.chunks_exact(CHANNELS).map(|rgb| 1.0 - f64::from(rgb[0]) / 255.0).collect()
    }

    /// The ink of a picture, in square units.
    fn ink(shapes: Vec<Shape>) -> f64 {
        inked(shapes).iter().sum::<f64>() / PIXELS_PER_UNIT.powi(2)
    }

    fn word(bold: bool, turn: f64) -> Shape {
        let word = text(at(80.0, 80.0), "Haloed words", 12.0);
        Shape::Text(Text { bold, turn, anchor: Anchor::Middle, colour: BLACK, ..word })
    }

    #[test]
    fn bold_text_has_more_ink() {
        let (regular, bold) = (ink(vec![word(false, 0.0)]), ink(vec![word(true, 0.0)]));
        assert!(regular > 100.0 && bold > 1.3 * regular, "{regular} {bold}");
    }

    #[test]
    fn rotated_text_has_the_same_amount_of_ink() {
        let upright = ink(vec![word(false, 0.0)]);
        // Columns and rows of pixels that have some ink.
        let extent = |turn: f64| {
            let picture = inked(vec![word(false, turn)]);
            let all = picture.iter().sum::<f64>() / PIXELS_PER_UNIT.powi(2);
            assert!((all / upright - 1.0).abs() < 0.01, "{all} {upright}");
            let dark = |i: &usize| picture[*i] > 0.5;
            let count = |of: fn(usize) -> usize| {
                let places = (0..PIXELS * PIXELS).filter(dark).map(of);
                places.collect::<std::collections::BTreeSet<_>>().len()
            };
            (count(|i| i % PIXELS), count(|i| i / PIXELS))
        };
        let (lying, standing, slanted) = (extent(0.0), extent(90.0), extent(35.0));
        assert!(lying.0 > 4 * lying.1 && standing.1 > 4 * standing.0, "{lying:?} {standing:?}");
        assert!(slanted.0 > slanted.1 && slanted.1 > 2 * lying.1, "{slanted:?}");
    }

    #[test]
    fn translucent_shapes_show_what_is_below() {
        let square = |left: f64| {
            let points = vec![
                at(left, 20.0),
                at(left + 60.0, 20.0),
                at(left + 60.0, 140.0),
                at(left, 140.0),
            ];
            Shape::Area { points, colour: BLACK, opacity: 0.16 }
        };
        let picture = inked(vec![square(20.0), square(60.0)]);
        let there = |x: f64| picture[PIXELS / 2 * PIXELS + (x * PIXELS_PER_UNIT) as usize];
        assert!((there(40.0) - 0.16).abs() < 0.01 && (there(100.0) - 0.16).abs() < 0.01);
        assert!((there(70.0) - (1.0 - 0.84 * 0.84)).abs() < 0.02, "{}", there(70.0));
        assert_eq!(there(10.0), 0.0);
    }

    #[test]
    fn lines_are_as_wide_as_their_pen_at_any_angle_and_dashes_leave_gaps() {
        for degrees in [0.0_f64, 10.0, 45.0, 80.0, 90.0, 130.0] {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            let end = |side: f64| at(80.0 + side * 50.0 * cosine, 80.0 + side * 50.0 * sine);
            for (width, dashes, share) in
                [(1.0, &[][..], 1.0), (1.8, &[], 1.0), (1.8, &[6.0, 4.0], 0.6)]
            {
                let pen = Pen { dashes, ..pen(BLACK, width) };
                let all = ink(vec![Shape::Line { points: vec![end(-1.0), end(1.0)], pen }]);
                let expected = 100.0 * width * share;
                assert!((all / expected - 1.0).abs() < 0.06, "{degrees} {width}: {all}");
            }
        }
    }

    #[test]
    fn corners_of_lines_are_round_and_rectangles_are_exact() {
        let block = Frame { left: 20.0, top: 30.0, width: 64.0, height: 32.0 };
        assert!((ink(vec![Shape::Rectangle { frame: block, colour: BLACK }]) - 2048.0).abs() < 1.0);
        let points = vec![at(20.0, 100.0), at(80.0, 40.0), at(140.0, 100.0)];
        let picture = inked(vec![Shape::Line { points, pen: pen(BLACK, 10.0) }]);
        let above =
            |by: f64| picture[((40.0 - by) * PIXELS_PER_UNIT) as usize * PIXELS + PIXELS / 2];
        assert_eq!((above(4.0), above(6.0)), (1.0, 0.0), "round, not pointed");
    }

    #[test]
    fn a_halo_separates_text_from_lines() {
        let points = vec![at(20.0, 76.0), at(140.0, 76.0)];
        let line = Shape::Line { points, pen: pen(BLACK, 20.0) };
        let Shape::Text(word) = word(false, 0.0) else { unreachable!() };
        let with = |halo: bool| {
            let word = Text { halo, colour: WHITE, ..word.clone() };
            ink(vec![line.clone(), Shape::Text(word)])
        };
        assert!(with(true) < with(false) - 200.0, "{} {}", with(true), with(false));
    }

    #[test]
    fn bands_do_not_change_the_picture() {
        let zigzag = (0..40).map(|i| at(4.0 * f64::from(i), 80.0 + 70.0 * f64::from(i * i).sin()));
        let points: Vec<_> = zigzag.collect();
        let line = Shape::Line { points: points.clone(), pen: pen(BLACK, 1.8) };
        let area = Shape::Area { points, colour: Colour([200, 0, 50]), opacity: 0.3 };
        let disc = Shape::Disc { centre: at(80.0, 61.0), radius: 40.3, colour: BLACK };
        let shapes = vec![disc, area, line, word(true, 35.0), word(false, 90.0)];
        let scene = Scene { width: SIDE, height: SIDE, shapes };
        let at_once = drawn(&scene, (PIXELS, PIXELS), PIXELS).unwrap();
        assert!(drawn(&scene, (PIXELS, PIXELS), 7).unwrap() == at_once);
    }
}
