use super::scene::{Frame, Position, at};

/// Between a label and its point.
const DISTANCE: f64 = 9.0;
/// Between sampled points of a curve.
const SAMPLING: f64 = 3.0;

/// What labels should not cover.
pub(super) struct Obstacles {
    plot: Frame,
    points: Vec<Position>,
    labels: Vec<Frame>,
}

impl Obstacles {
    pub(super) fn new(plot: Frame) -> Self {
        Self { plot, points: Vec::new(), labels: Vec::new() }
    }

    pub(super) fn curve(&mut self, curve: &[Position]) {
        self.points.extend(curve);
        for pair in curve.windows(2) {
            let (dx, dy) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
            let steps = (dx.hypot(dy) / SAMPLING).clamp(1.0, 1000.0);
            let between = |i: usize| i as f64 / steps;
            let places = (1..steps as usize).map(between);
            self.points.extend(places.map(|t| at(pair[0].x + t * dx, pair[0].y + t * dy)));
        }
    }

    /// The cost of a label there: high outside of the plot and on other labels, lower on curves.
    fn cost(&self, label: &Frame) -> f64 {
        let plot = &self.plot;
        let overhangs = [
            plot.left - label.left,
            label.right() - plot.right(),
            plot.top - label.top,
            label.bottom() - plot.bottom(),
        ];
        let outside: f64 = overhangs.into_iter().filter(|&by| by > 0.0).sum();
        let overlaps = |other: &&Frame| {
            label.left < other.right()
                && other.left < label.right()
                && label.top < other.bottom()
                && other.top < label.bottom()
        };
        let covered = self.labels.iter().filter(overlaps).count();
        let inside = |point: &&Position| {
            (label.left - 3.0..label.right() + 3.0).contains(&point.x)
                && (label.top - 2.0..label.bottom() + 2.0).contains(&point.y)
        };
        let hidden = self.points.iter().filter(inside).count();
        1000.0 * outside + 10_000.0 * covered as f64 + 20.0 * hidden as f64
    }
}

/// The candidate position around `tip` with the lowest cost for a label of this size, which becomes
/// an obstacle for later labels.
pub(super) fn place_label(
    tip: Position,
    width: f64,
    height: f64,
    obstacles: &mut Obstacles,
) -> Frame {
    let (right, left) = (tip.x + DISTANCE, tip.x - DISTANCE - width);
    let centred = tip.y - height / 2.0;
    let shifts = (0..=24).flat_map(|i| [6.0 * f64::from(i), -6.0 * f64::from(i)]);
    let left_or_right = shifts.clone().flat_map(|shift| {
        [(right, centred + shift, shift.abs()), (left, centred + shift, shift.abs() + 4.0)]
    });
    let above_or_below = shifts.flat_map(|shift| {
        let x = tip.x - width / 2.0 + shift;
        let (above, below) = (tip.y - DISTANCE - height, tip.y + DISTANCE);
        [(x, above, shift.abs() + 5.0), (x, below, shift.abs() + 6.0)]
    });
    let candidates = left_or_right.chain(above_or_below).map(|(left, top, distance)| {
        let frame = Frame { left, top, width, height };
        (frame, obstacles.cost(&frame) + distance)
    });
    let best = candidates.min_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map_or(Frame { left: right, top: centred, width, height }, |(frame, _)| frame);
    obstacles.labels.push(best);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Frame = Frame { left: 0.0, top: 0.0, width: 300.0, height: 200.0 };

    #[test]
    fn a_label_is_right_of_its_point_without_obstacles() {
        let label = place_label(at(100.0, 100.0), 50.0, 20.0, &mut Obstacles::new(PLOT));
        assert_eq!(label, Frame { left: 109.0, top: 90.0, width: 50.0, height: 20.0 });
    }

    #[test]
    fn labels_stay_in_the_plot_and_off_each_other_and_off_curves() {
        let mut obstacles = Obstacles::new(PLOT);
        obstacles.curve(&[at(0.0, 100.0), at(300.0, 100.0)]);
        let labels: Vec<Frame> =
            (0..3).map(|_| place_label(at(290.0, 100.0), 60.0, 20.0, &mut obstacles)).collect();
        for (i, a) in labels.iter().enumerate() {
            assert!(a.left >= 0.0 && a.right() <= 300.0 && a.top >= 0.0 && a.bottom() <= 200.0);
            assert!(a.bottom() <= 100.0 || a.top >= 100.0, "{a:?} is on the curve");
            for b in &labels[..i] {
                let apart = a.right() <= b.left
                    || b.right() <= a.left
                    || a.bottom() <= b.top
                    || b.bottom() <= a.top;
                assert!(apart, "{a:?} {b:?}");
            }
        }
    }
}
