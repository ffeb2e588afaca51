use plotters_backend::BackendCoord;

/// The strokes of a dashed line along a path. `lengths` alternates between strokes and gaps, and
/// the pattern continues around corners. Plotters' own dashes all have the same length.
pub(super) fn strokes(path: &[BackendCoord], lengths: &[f64]) -> Vec<Vec<BackendCoord>> {
    // A pattern of length 0 would never reach the end of the path.
    if lengths.iter().sum::<f64>() <= 0.0 {
        return vec![path.to_vec()];
    }
    let mut strokes = Vec::new();
    let mut pattern = lengths.iter().cycle();
    let mut remaining = pattern.next().copied().unwrap_or_default();
    let mut current: Option<Vec<BackendCoord>> = path.first().map(|&start| vec![start]);
    for pair in path.windows(2) {
        let (dx, dy) = (f64::from(pair[1].0 - pair[0].0), f64::from(pair[1].1 - pair[0].1));
        let length = dx.hypot(dy);
        let mut done = 0.0;
        while length - done > remaining {
            done += remaining;
            let share = done / length;
            let here =
                (pair[0].0 + (dx * share).round() as i32, pair[0].1 + (dy * share).round() as i32);
            current = match current.take() {
                Some(mut stroke) => {
                    stroke.push(here);
                    strokes.push(stroke);
                    None
                }
                None => Some(vec![here]),
            };
            remaining = pattern.next().copied().unwrap_or_default();
        }
        remaining -= length - done;
        if let Some(stroke) = &mut current {
            stroke.push(pair[1]);
        }
    }
    strokes.extend(current.filter(|stroke| stroke.len() > 1));
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_and_gaps_alternate_and_continue_around_corners() {
        let corner = [(0, 0), (10, 0), (10, 10)];
        let expected = vec![vec![(0, 0), (4, 0)], vec![(7, 0), (8, 0)]];
        assert_eq!(strokes(&corner[..2], &[4.0, 3.0, 1.0, 3.0]), expected);
        let expected =
            vec![vec![(0, 0), (6, 0)], vec![(8, 0), (10, 0), (10, 4)], vec![(10, 6), (10, 10)]];
        assert_eq!(strokes(&corner, &[6.0, 2.0]), expected);
    }

    #[test]
    fn paths_and_patterns_of_length_zero_terminate() {
        assert!(strokes(&[], &[2.0, 1.0]).is_empty());
        assert!(strokes(&[(3, 3)], &[2.0, 1.0]).is_empty());
        assert_eq!(strokes(&[(3, 3), (5, 3)], &[0.0, 0.0]), vec![vec![(3, 3), (5, 3)]]);
    }
}
