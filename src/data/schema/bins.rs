//! Bins of numbers: intervals [left, right) that follow each other without gaps.

use super::MAX_BINS;

/// Significant digits of the edges of log-spaced bins (our choice), so that labels are the edges.
const LOG_DIGITS: i32 = 3;

/// Intervals that are closed on the left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bins {
    edges: Edges,
    /// The names of the bins, if the schema gives them.
    labels: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Edges {
    /// Bin i is [low + i w, low + (i + 1) w) with w = (end - low) / count.
    Equal { low: f64, end: f64, count: u32 },
    /// Ascending; one more than bins.
    Listed(Vec<f64>),
}

/// Why numbers are no edges of bins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BinsError {
    /// The number of bins.
    Count(u32),
    Bounds {
        low: f64,
        end: f64,
    },
    Width(f64),
    /// The index of an edge that is not above the one before it.
    NotAscending(usize),
    TooFewEdges(usize),
    /// Log-spaced bins from this number, which is not positive.
    NotPositive(f64),
}

impl Bins {
    /// `count` bins of the same width.
    pub(crate) fn equal(low: f64, end: f64, count: u32) -> Result<Self, BinsError> {
        if !(1..=MAX_BINS).contains(&count) {
            return Err(BinsError::Count(count));
        }
        let width = (end - low) / f64::from(count);
        match width.is_finite() && width > 0.0 && low + width > low {
            true => Ok(Self { edges: Edges::Equal { low, end, count }, labels: None }),
            false => Err(BinsError::Bounds { low, end }),
        }
    }

    /// Bins of this width from `low`; the last one ends at `end` and may be narrower.
    pub(crate) fn of_width(low: f64, end: f64, width: f64) -> Result<Self, BinsError> {
        if !(width.is_finite() && width > 0.0 && low + width > low) {
            return Err(BinsError::Width(width));
        }
        if !(end - low).is_finite() || end <= low {
            return Err(BinsError::Bounds { low, end });
        }
        // A quotient such as 2.9999999999999996 is three bins.
        let count = ((end - low) / width * (1.0 - 1e-9)).ceil().max(1.0);
        if count > f64::from(MAX_BINS) {
            return Err(BinsError::Count(count.min(f64::from(u32::MAX)) as u32));
        }
        let inner = (0..count as u32).map(|bin| tidy(low + f64::from(bin) * width, width));
        Self::listed(inner.chain([end]).collect())
    }

    /// At most `count` bins whose edges have equal ratios, rounded to three significant digits, or
    /// to whole numbers with `whole`. Edges that become equal are merged.
    pub(crate) fn log_spaced(
        low: f64,
        end: f64,
        count: u32,
        whole: bool,
    ) -> Result<Self, BinsError> {
        if low.is_nan() || low <= 0.0 {
            return Err(BinsError::NotPositive(low));
        }
        if !(1..=MAX_BINS).contains(&count) {
            return Err(BinsError::Count(count));
        }
        if !end.is_finite() || end <= low {
            return Err(BinsError::Bounds { low, end });
        }
        let mut edges = vec![low];
        for bin in 1..count {
            let exact = low * (end / low).powf(f64::from(bin) / f64::from(count));
            let digits = LOG_DIGITS - 1 - exact.log10().floor() as i32;
            let edge = rounded(exact, if whole { digits.min(0) } else { digits });
            if edge > edges[edges.len() - 1] && edge < end {
                edges.push(edge);
            }
        }
        edges.push(end);
        Self::listed(edges)
    }

    /// The bins between these edges.
    pub(crate) fn listed(edges: Vec<f64>) -> Result<Self, BinsError> {
        if edges.len() < 2 {
            return Err(BinsError::TooFewEdges(edges.len()));
        }
        if edges.len() - 1 > MAX_BINS as usize {
            return Err(BinsError::Count(u32::try_from(edges.len() - 1).unwrap_or(u32::MAX)));
        }
        let ascends = |at: &usize| edges[*at].is_finite() && edges[*at] > edges[*at - 1];
        match (1..edges.len()).find(|at| !ascends(at)) {
            Some(at) => Err(BinsError::NotAscending(at)),
            None if !edges[0].is_finite() => Err(BinsError::NotAscending(0)),
            None => Ok(Self { edges: Edges::Listed(edges), labels: None }),
        }
    }

    /// There must be one label per bin.
    pub(crate) fn with_labels(self, labels: Vec<String>) -> Self {
        Self { labels: Some(labels), ..self }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.edges {
            Edges::Equal { count, .. } => *count as usize,
            Edges::Listed(edges) => edges.len() - 1,
        }
    }

    pub(crate) fn low(&self) -> f64 {
        self.left(0)
    }

    /// The exclusive end of the last bin.
    pub(crate) fn end(&self) -> f64 {
        match &self.edges {
            Edges::Equal { end, .. } => *end,
            Edges::Listed(edges) => edges[edges.len() - 1],
        }
    }

    /// The left end of a bin; with the number of bins, the end of the last one.
    fn left(&self, bin: usize) -> f64 {
        match &self.edges {
            Edges::Equal { low, end, count } => {
                low + bin as f64 * ((end - low) / f64::from(*count))
            }
            Edges::Listed(edges) => edges[bin],
        }
    }

    /// The ends of a bin as printed: without the digits that floating point adds.
    pub(crate) fn interval(&self, bin: usize) -> (f64, f64) {
        let (left, right) = (self.left(bin), self.left(bin + 1));
        (tidy(left, right - left), tidy(right, right - left))
    }

    /// All edges as printed.
    pub(crate) fn edges(&self) -> Vec<f64> {
        let lefts = (0..self.len()).map(|bin| self.interval(bin).0);
        lefts.chain([self.interval(self.len() - 1).1]).collect()
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        value >= self.low() && value < self.end()
    }

    /// The last bin whose left end is at most `value`; the first bin for smaller values.
    ///
    /// The quotient can be off by one at an edge because of rounding (16.74 with bins of width 0.31
    /// belongs to bin 54, whose edge is 54 x 0.31 in floating point), so the edges decide.
    pub(crate) fn find(&self, value: f64) -> u32 {
        match &self.edges {
            Edges::Listed(edges) => {
                let inner = &edges[1..edges.len() - 1];
                inner.partition_point(|&edge| edge <= value) as u32
            }
            &Edges::Equal { low, end, count } => {
                let quotient = (value - low) / ((end - low) / f64::from(count));
                let mut bin = (quotient as usize).min(self.len() - 1);
                while bin > 0 && value < self.left(bin) {
                    bin -= 1;
                }
                while bin + 1 < self.len() && value >= self.left(bin + 1) {
                    bin += 1;
                }
                bin as u32
            }
        }
    }

    /// The name of a bin, or its only whole number, or its interval.
    pub(crate) fn label(&self, bin: usize) -> String {
        if let Some(labels) = &self.labels {
            return labels[bin].clone();
        }
        let (left, right) = self.interval(bin);
        match left.fract() == 0.0 && right - left == 1.0 && self.is_whole() {
            true => left.to_string(),
            false => format!("[{left}, {right})"),
        }
    }

    pub(crate) fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    /// Whether all edges are whole numbers.
    fn is_whole(&self) -> bool {
        match &self.edges {
            Edges::Equal { low, end, count } => {
                low.fract() == 0.0 && ((end - low) / f64::from(*count)).fract() == 0.0
            }
            Edges::Listed(edges) => edges.iter().all(|edge| edge.fract() == 0.0),
        }
    }

    /// Decimals of the edges as printed.
    pub(crate) fn decimals(&self) -> usize {
        let of = |value: f64| value.to_string().split_once('.').map_or(0, |(_, after)| after.len());
        let bins = 0..self.len().min(1000);
        bins.map(|bin| of(self.interval(bin).0).max(of(self.interval(bin).1))).max().unwrap_or(0)
    }
}

/// The number with the fewest decimals within 1e-9 of `width` from `value`.
fn tidy(value: f64, width: f64) -> f64 {
    let near = |digits: &i32| (rounded(value, *digits) - value).abs() <= width * 1e-9;
    (0..=15).find(near).map_or(value, |digits| rounded(value, digits))
}

/// With this many decimals; a negative number rounds to tens, hundreds, ...
fn rounded(value: f64, digits: i32) -> f64 {
    match usize::try_from(digits) {
        Ok(digits) => format!("{value:.digits$}").parse().unwrap_or(value),
        Err(_) => {
            let unit = 10f64.powi(-digits);
            (value / unit).round() * unit
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(bins: &Bins) -> Vec<String> {
        (0..bins.len()).map(|bin| bins.label(bin)).collect()
    }

    #[test]
    fn edges_belong_to_the_bin_on_their_right() {
        let dti = Bins::equal(0.0, 31.0, 100).unwrap();
        assert_eq!([16.74, 0.0, 30.999].map(|value| dti.find(value)), [54, 0, 99]);
        let ages = Bins::listed(vec![0.0, 18.0, 65.0, 120.0]).unwrap();
        assert_eq!([-1.0, 17.9, 18.0, 65.0, 300.0].map(|v| ages.find(v)), [0, 0, 1, 2, 2]);
    }

    #[test]
    fn labels_have_no_digits_of_floating_point() {
        let bins = Bins::equal(0.0, 105.0, 100).unwrap();
        assert_eq!(bins.label(3), "[3.15, 4.2)");
        let bins = Bins::of_width(0.0, 0.5, 0.1).unwrap();
        let expected = ["[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.4, 0.5)"];
        assert_eq!(labels(&bins), expected);
        assert_eq!(labels(&Bins::of_width(16.0, 19.0, 1.0).unwrap()), ["16", "17", "18"]);
    }

    #[test]
    fn the_last_bin_of_a_width_ends_at_the_bound() {
        let bins = Bins::of_width(0.0, 100.0, 30.0).unwrap();
        assert_eq!(labels(&bins), ["[0, 30)", "[30, 60)", "[60, 90)", "[90, 100)"]);
    }

    #[test]
    fn log_spaced_edges_have_three_digits_and_are_whole_for_whole_numbers() {
        let bins = Bins::log_spaced(1.0, 1000.0, 3, false).unwrap();
        assert_eq!(labels(&bins), ["[1, 10)", "[10, 100)", "[100, 1000)"]);
        let bins = Bins::log_spaced(1.0, 100.0, 8, true).unwrap();
        let expected = ["[1, 2)", "[2, 3)", "[3, 6)", "[6, 10)", "[10, 18)", "[18, 32)"];
        assert_eq!(labels(&bins)[2..6], expected[2..]);
        let bins = Bins::log_spaced(0.5, 20000.0, 5, false).unwrap();
        assert_eq!(bins.label(1), "[4.16, 34.7)");
    }

    #[test]
    fn numbers_that_are_no_bins_are_refused() {
        assert_eq!(Bins::equal(0.0, 1.0, 0), Err(BinsError::Count(0)));
        assert!(matches!(Bins::equal(5.0, 5.0, 3), Err(BinsError::Bounds { .. })));
        assert_eq!(Bins::of_width(0.0, 1.0, -1.0), Err(BinsError::Width(-1.0)));
        assert!(matches!(Bins::of_width(0.0, 1e300, 1.0), Err(BinsError::Count(_))));
        assert_eq!(Bins::listed(vec![0.0, 2.0, 2.0]), Err(BinsError::NotAscending(2)));
        assert_eq!(Bins::listed(vec![f64::NAN, 2.0]), Err(BinsError::NotAscending(1)));
        assert_eq!(Bins::listed(vec![1.0]), Err(BinsError::TooFewEdges(1)));
        assert_eq!(Bins::log_spaced(0.0, 9.0, 3, true), Err(BinsError::NotPositive(0.0)));
    }

    proptest! {
        #[test]
        fn the_bin_agrees_with_a_scan_of_the_edges(
            low in -1e3..1e3f64,
            length in 0.1..1e4f64,
            count in 1..200u32,
            share in 0.0..1.0f64,
            at_edge: bool,
            kind in 0..3,
        ) {
            let end = low + length;
            let bins = match kind {
                0 => Bins::equal(low, end, count),
                1 => Bins::of_width(low, end, length / f64::from(count)),
                _ => Bins::log_spaced(low + 1001.0, end + 1001.0, count, share > 0.5),
            };
            let bins = bins.unwrap();
            let value = if at_edge {
                bins.left((share * bins.len() as f64) as usize)
            } else {
                bins.low() + share * (bins.end() - bins.low())
            };
            let scan = (0..bins.len()).rev().find(|&bin| bins.left(bin) <= value).unwrap_or(0);
            prop_assert_eq!(bins.find(value) as usize, scan);
        }
    }
}
