//! How fast a quantity falls: exponents of power laws, and losses above their minimum.

use std::collections::BTreeMap;

use super::record::TraceRecord;

/// Losses nearer to the minimum than this share of it are not told from it: the minimum is only
/// known as the smallest loss of any arm.
const NEGLIGIBLE: f64 = 1e-9;

/// Points count only if x is this many times that of the point before. Otherwise the last
/// iterations, which are most of them, would decide alone.
const SPACING: f64 = 1.1;

/// The exponent e of y = c x^-e: minus the slope of the line of least squares through the
/// logarithms. `None` without two points of different x, both of whose coordinates are positive.
pub(super) fn exponent(mut points: Vec<(f64, f64)>) -> Option<f64> {
    points.retain(|(x, y)| *x > 0.0 && *y > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = 0.0;
    let mut kept = Vec::new();
    for (x, y) in points {
        // Several points may share an x.
        if x >= least || kept.last().is_some_and(|(last, _)| *last == x.ln()) {
            kept.push((x.ln(), y.ln()));
            least = x * SPACING;
        }
    }
    let count = kept.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| kept.iter().map(of).sum::<f64>() / count;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = kept.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let product: f64 = kept.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    (spread > 0.0).then(|| -product / spread)
}

/// For every trace after iteration 0, the smallest loss of its arm so far, above the smallest loss
/// of all arms in the same trial of the mechanism. Without those that cannot be told from it.
pub fn above_minimum(
    traces: &[TraceRecord],
    loss: fn(&TraceRecord) -> f64,
) -> Vec<(&TraceRecord, f64)> {
    let mut minima: BTreeMap<TrialOf, f64> = BTreeMap::new();
    for trace in traces {
        let least = minima.entry(trial_of(trace)).or_insert(f64::INFINITY);
        *least = least.min(loss(trace));
    }
    let mut ordered: Vec<&TraceRecord> = traces.iter().collect();
    ordered.sort_by(|a, b| a.key.cmp(&b.key).then(a.iteration.cmp(&b.iteration)));
    let mut above = Vec::new();
    let mut so_far = ("", f64::INFINITY);
    for trace in ordered {
        let before = if so_far.0 == trace.key { so_far.1 } else { f64::INFINITY };
        so_far = (&trace.key, before.min(loss(trace)));
        let minimum = minima[&trial_of(trace)];
        let excess = so_far.1 - minimum;
        if trace.iteration > 0 && excess > NEGLIGIBLE * minimum.abs() {
            above.push((trace, excess));
        }
    }
    above
}

/// Dataset, mechanism, the bits of epsilon, number of the trial.
type TrialOf<'a> = (&'a str, &'a str, u64, usize);

fn trial_of(trace: &TraceRecord) -> TrialOf<'_> {
    (&trace.dataset, &trace.mechanism, trace.epsilon.to_bits(), trace.trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found_whatever_the_spacing() {
        let law = |x: f64| (x, 3.0 * x.powf(-0.5));
        let every: Vec<(f64, f64)> = (1..1000).map(|x| law(x as f64)).collect();
        assert!((exponent(every).unwrap() - 0.5).abs() < 1e-12);
        let few = vec![law(1e6), law(10.0), (0.0, 1.0), (100.0, 0.0)];
        assert!((exponent(few).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(exponent(vec![law(2.0), law(2.0)]), None);
        assert_eq!(exponent(Vec::new()), None);
    }

    #[test]
    fn equal_ratios_count_alike() {
        // Flat up to 10, then 1/x: evenly spaced points up to 1000 alone would give almost 1.
        let bent = |x: usize| (x as f64, 1.0 / (x as f64).max(10.0));
        let found = exponent((1..=1000).map(bent).collect()).unwrap();
        assert!((0.6..0.9).contains(&found), "{found}");
    }

    #[test]
    fn losses_are_above_the_smallest_of_any_arm_of_the_trial() {
        let trace = |key: &str, trial: usize, iteration: usize, l2_loss: f64| TraceRecord {
            key: key.into(),
            trial,
            iteration,
            l2_loss,
            ..TraceRecord::default()
        };
        let traces = [
            trace("a", 0, 2, 7.0),
            trace("a", 0, 1, 5.0),
            trace("a", 0, 0, 4.0),
            trace("a", 0, 3, 3.0),
            trace("b", 0, 5, 2.0),
            trace("c", 1, 1, 9.0),
        ];
        let above = above_minimum(&traces, |trace| trace.l2_loss);
        let found: Vec<_> = above.iter().map(|(t, excess)| (t.iteration, *excess)).collect();
        assert_eq!(found, [(1, 2.0), (2, 2.0), (3, 1.0)]);
    }
}
