use super::super::chart::{Axis, Scale, Shown};
use super::super::numbers::{fixed, number, plainly, times_power};

/// Larger values are drawn at the end of the axis, since sums and differences would overflow.
const MAX_VALUE: f64 = 1e300;

/// Logarithmic axes between these powers of ten have labels without powers: 0.00001 to 1,000,000.
const PLAIN: (f64, f64) = (-5.9, 6.9);
/// Logarithmic axes of more decades have no minor ticks.
const MAX_MINOR_DECADES: usize = 4;
/// The largest share of a logarithmic axis without labels at either end (our choice).
const MAX_UNLABELLED: f64 = 0.4;
/// Candidates for labels within a decade, if neither powers of ten nor equal differences reach both
/// ends of the axis. The first one that fits is used.
const BETWEEN: [&[f64]; 4] =
    [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 3.0, 5.0], &[1.0, 2.0, 5.0], &[1.0, 3.0]];

/// The interval of values that an axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisRange {
    scale: Scale,
    /// The ends; their decimal logarithms on a logarithmic axis.
    low: f64,
    high: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// From 0 at the low end of the axis to 1 at the high end.
    pub(super) fraction: f64,
    /// Empty for minor ticks.
    pub(super) label: String,
}

impl AxisRange {
    /// Contains all values that the axis can show, with padding at both ends. Bars start at 0 on a
    /// linear axis, and visibly below the smallest value on a logarithmic one.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, scale: Scale, bars: bool) -> Self {
        let shown = |value: f64| match scale {
            Scale::Linear => value.is_finite().then(|| value.clamp(-MAX_VALUE, MAX_VALUE)),
            Scale::Log => (value.is_finite() && value > 0.0)
                .then(|| value.clamp(1.0 / MAX_VALUE, MAX_VALUE).log10()),
        };
        let values = values.into_iter().filter_map(shown);
        let (mut low, mut high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            // No values: an arbitrary interval.
            (low, high) = (0.0, 1.0);
        }
        if bars && scale == Scale::Linear {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        // Widen the interval around a single value, or values that are almost equal.
        let (min_span, widening) = match (scale, low.abs().max(high.abs())) {
            (Scale::Log, _) => (0.02, 0.2),
            (Scale::Linear, 0.0) => (1.0, 1.0),
            (Scale::Linear, size) => (1e-9 * size, 0.1 * size),
        };
        if high - low < min_span {
            (low, high) = (low - widening, high + widening);
        }
        let span = high - low;
        (low, high) = match (bars, scale) {
            (true, Scale::Log) => (floor_1_2_5(low - (0.15 * span).max(0.12)), high + 0.05 * span),
            (true, Scale::Linear) => {
                let padding = |end: f64| if end == 0.0 { 0.0 } else { 0.05 * span };
                (low - padding(low), high + padding(high))
            }
            (false, _) => (low - 0.05 * span, high + 0.05 * span),
        };
        Self { scale, low, high }
    }

    /// The position of a value on the axis from 0 to 1, clamped to the ends; `None` if the axis
    /// cannot show it.
    pub(super) fn fraction(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => return None,
        };
        value.is_finite().then(|| self.along(place).clamp(0.0, 1.0))
    }

    /// Whether a whisker of a value on the axis extends beyond its low end and its high end.
    pub(super) fn cuts(&self, shown: &Shown) -> [bool; 2] {
        let beyond = |value: f64| match self.scale {
            Scale::Linear => [value < self.low, value > self.high],
            // Values that are not positive are below all others.
            Scale::Log if value <= 0.0 => [true, false],
            Scale::Log => [value.log10() < self.low, value.log10() > self.high],
        };
        match self.fraction(shown.value) {
            Some(_) => [beyond(shown.low)[0], beyond(shown.high)[1]],
            None => [false; 2],
        }
    }

    fn along(&self, place: f64) -> f64 {
        (place - self.low) / (self.high - self.low)
    }

    /// Ticks for an axis with space for about `most` labels.
    pub(super) fn ticks(&self, axis: &Axis, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        if !axis.ticks.is_empty() && axis.ticks.len() <= most {
            let tick = |&value: &f64| {
                Some(Tick { fraction: self.fraction(value)?, label: number(value, 6) })
            };
            return axis.ticks.iter().filter_map(tick).collect();
        }
        match self.scale {
            Scale::Linear => linear(self.low, self.high, most, |value| self.along(value)),
            Scale::Log => self.log_ticks(most),
        }
    }

    /// Powers of ten, with 2 and 5 times a power if they fit. A short axis has labels at equal
    /// differences instead. If either leaves too much of the axis unlabelled, `BETWEEN` is tried.
    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let decades = (last - first + 1).max(0) as usize;
        // All labels of an axis have the same format.
        let plain = self.low >= PLAIN.0 && self.high <= PLAIN.1;
        let inside = |place: f64| (self.low..=self.high).contains(&place);
        let tick = |factor: f64, power: i32, labelled: bool| {
            let place = factor.log10() + f64::from(power);
            let value = factor * 10f64.powi(power);
            let label = match (labelled, plain) {
                (false, _) => String::new(),
                (true, true) => plainly(value),
                (true, false) => times_power(factor, power),
            };
            inside(place).then(|| Tick { fraction: self.along(place), label })
        };
        let all = |factors: &'static [f64], labelled: bool| {
            let powers = first - 1..=last + 1;
            powers
                .flat_map(move |power| factors.iter().map(move |&factor| (factor, power)))
                .filter_map(move |(factor, power)| tick(factor, power, labelled))
        };
        let fine: Vec<Tick> = all(&[1.0, 2.0, 5.0], true).collect();
        if (3..=most).contains(&fine.len()) && decades <= 3 {
            return fine.into_iter().chain(all(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0], false)).collect();
        }
        let step = decades.div_ceil(most).max(1) as i32;
        // Powers are multiples of the step, so that 1 is labelled, unless only one would remain.
        let start = first + (-first).rem_euclid(step);
        let start = if start + step > last { first } else { start };
        let labelled: Vec<Tick> = (start..=last)
            .step_by(step as usize)
            .filter_map(|power| tick(1.0, power, true))
            .collect();
        let equal = || {
            let along = |value: f64| self.along(value.log10());
            linear(10f64.powf(self.low), 10f64.powf(self.high), most.min(5), along)
        };
        let is_short = labelled.len() < 2;
        let first_choice = if is_short { equal() } else { labelled };
        if !reach_both_ends(&first_choice) {
            let mut between = BETWEEN.iter().map(|factors| all(factors, true).collect::<Vec<_>>());
            let fits = |ticks: &Vec<Tick>| ticks.len() <= most && reach_both_ends(ticks);
            if let Some(ticks) = between.find(fits) {
                return ticks;
            }
        }
        if is_short {
            return first_choice;
        }
        let minor = (step == 1 && decades <= MAX_MINOR_DECADES)
            .then(|| all(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], false));
        first_choice.into_iter().chain(minor.into_iter().flatten()).collect()
    }
}

/// Whether there are at least two labels, and one of them near each end of the axis.
fn reach_both_ends(ticks: &[Tick]) -> bool {
    let at = |end: f64| ticks.iter().any(|tick| (tick.fraction - end).abs() <= MAX_UNLABELLED);
    ticks.len() >= 2 && at(0.0) && at(1.0)
}

/// Multiples of 1, 2 or 5 times a power of ten between `low` and `high`.
fn linear(low: f64, high: f64, most: usize, along: impl Fn(f64) -> f64) -> Vec<Tick> {
    let rough = (high - low) / most as f64;
    let power = rough.log10().floor();
    let unit = 10f64.powf(power);
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    // If the axis contains fewer than two multiples of that step, the next shorter step is used.
    let fits = |&step: &f64| step >= rough && (high / step).floor() > (low / step).ceil();
    let shorter = || steps.into_iter().rev().find(|&step| step < rough);
    let step = steps.into_iter().find(fits).or_else(shorter).unwrap_or(unit);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let size = low.abs().max(high.abs());
    let label = |value: f64| match (1e-3..1e7).contains(&size) {
        true => fixed(value, decimals),
        false => number(value, 6),
    };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let count = (last - first).clamp(0.0, 3.0 * most as f64) as usize;
    let values = (0..=count).map(|i| (first + i as f64) * step);
    values.map(|value| Tick { fraction: along(value), label: label(value) }).collect()
}

/// The largest 1, 2 or 5 times a power of ten that is not larger; as decimal logarithms.
fn floor_1_2_5(log: f64) -> f64 {
    let power = log.floor();
    // The tolerance keeps a value that is 1, 2 or 5 times a power, up to rounding.
    let rest = log - power + 1e-9;
    power + [5f64.log10(), 2f64.log10()].into_iter().find(|&mark| mark <= rest).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], scale: Scale, bars: bool, most: usize) -> Vec<String> {
        let axis = Axis { label: String::new(), scale, ticks: Vec::new() };
        let ticks = AxisRange::around(values.iter().copied(), scale, bars).ticks(&axis, most);
        let inside = |tick: &Tick| (-1e-9..=1.0 + 1e-9).contains(&tick.fraction);
        assert!(ticks.iter().all(inside), "{values:?} {scale:?} {bars} {most} {ticks:?}");
        ticks.into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn logarithmic_axes_have_labels_without_powers_where_possible() {
        assert_eq!(labels(&[0.008, 2.0], Scale::Log, false, 6), ["0.01", "0.1", "1"]);
        assert_eq!(labels(&[0.1, 1.0], Scale::Log, false, 6), ["0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(&[1e-30, 1e80], Scale::Log, false, 5).last().unwrap(), "10⁷⁵");
        assert_eq!(labels(&[3e-5, 2e6], Scale::Log, false, 4)[0], "0.001");
        assert_eq!(labels(&[1e-8, 2.0], Scale::Log, false, 4)[2], "1");
        let short = labels(&[8320.0, 8390.0], Scale::Log, false, 6);
        assert_eq!(short, ["6000", "8000", "10,000", "12,000"]);
    }

    #[test]
    fn labels_of_short_logarithmic_axes_reach_both_ends() {
        assert_eq!(labels(&[0.07, 0.45], Scale::Log, false, 4), ["0.1", "0.2", "0.3"]);
        assert_eq!(labels(&[0.11, 0.45], Scale::Log, false, 6), ["0.15", "0.2", "0.3"]);
        assert_eq!(labels(&[0.014, 1.0], Scale::Log, false, 5), ["0.03", "0.1", "0.3", "1"]);
        assert_eq!(labels(&[0.07, 0.3], Scale::Log, false, 5), ["0.1", "0.2", "0.3"]);
    }

    #[test]
    fn linear_axes_have_round_steps() {
        assert_eq!(labels(&[0.0, 1.0], Scale::Linear, true, 5), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&[-3.0, 12_000.0], Scale::Linear, false, 4).last().unwrap(), "10,000");
    }

    #[test]
    fn every_axis_has_at_least_two_labels() {
        let inputs: [&[f64]; 8] = [
            &[],
            &[0.0],
            &[7.0],
            &[f64::NAN, f64::INFINITY],
            &[-1.0, -2.0],
            &[f64::MAX, f64::MIN_POSITIVE],
            &[1e-320, 1e308],
            &[-f64::MAX, f64::MAX],
        ];
        for values in inputs {
            for (scale, bars) in [
                (Scale::Log, true),
                (Scale::Log, false),
                (Scale::Linear, true),
                (Scale::Linear, false),
            ] {
                for most in [0, 3, 10] {
                    let labels = labels(values, scale, bars, most);
                    assert!(labels.len() >= 2, "{values:?} {scale:?} {labels:?}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_bar_on_a_logarithmic_axis_is_visible() {
        for values in [[0.1, 0.9], [0.099, 0.1], [1e-9, 1e9]] {
            let range = AxisRange::around(values, Scale::Log, true);
            let least = range.fraction(values[0]).unwrap();
            assert!(least > 0.08, "{values:?}: {least}");
        }
    }
}
