use super::chart::{Chart, Content, Line, Point};
use crate::config::Emphasis;

/// The largest quotient of two values that look alike: 1 % is less than the width of a line in a
/// panel over a factor of ten. Our choice.
const ALIKE: f64 = 1.01;

/// Names lines that later ones cover: `A (under B)`, or `A (in places under B)` if only some panels
/// show it. Without the name, a reader would miss A and not know that it is equal to B.
///
/// Lines of a figure with extra arms are drawn side by side and keep their names.
pub(super) fn name_covered_lines(chart: &mut Chart) {
    if chart.series.iter().any(|series| series.emphasis == Emphasis::Extra) {
        return;
    }
    let all_lines: Vec<&[Line]> = chart
        .panels
        .iter()
        .filter_map(|panel| match &panel.content {
            Content::Lines { lines, .. } => Some(&lines[..]),
            Content::Bars { .. } => None,
        })
        .collect();
    let covers: Vec<Option<(usize, bool)>> =
        (0..chart.series.len()).map(|series| cover(series, &all_lines)).collect();
    let names: Vec<String> = chart.series.iter().map(|series| series.name.clone()).collect();
    for (series, cover) in chart.series.iter_mut().zip(covers) {
        if let Some((above, everywhere)) = cover {
            let places = if everywhere { "" } else { "in places " };
            series.name += &format!(" ({places}under {})", names[above]);
        }
    }
}

/// The series that covers this one, and whether it does in all panels.
fn cover(series: usize, panels: &[&[Line]]) -> Option<(usize, bool)> {
    let mut found = None;
    let (mut drawn, mut covered) = (0, 0);
    for lines in panels {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.series == series) {
            drawn += 1;
            if let Some(above) = lines[at + 1..].iter().rfind(|above| is_covered(line, above)) {
                covered += 1;
                found.get_or_insert(above.series);
            }
        }
    }
    found.map(|above| (above, covered == drawn))
}

fn is_covered(line: &Line, above: &Line) -> bool {
    let values = |line: &Line| -> Vec<(f64, f64)> {
        let shown = |point: &Point| Some((point.x, point.y?.value));
        line.points.iter().filter_map(shown).collect()
    };
    let (below, above) = (values(line), values(above));
    let is_alike = |&(x, y): &(f64, f64)| {
        let here = above.iter().find(|(other, _)| *other == x);
        here.is_some_and(|&(_, other)| y == other || (y / other).max(other / y) < ALIKE)
    };
    !below.is_empty() && below.iter().all(is_alike)
}
