use super::super::schema::{Affixes, Bins, NumberFormat, SEPARATORS};
use super::{OddTexts, Proposal, round_width, scaled};

/// Bins of a numeric attribute at most. The number of the ICML 2019 paper.
const BINS: f64 = 100.0;
/// Records at least, for distinct numbers to be taken for identifiers (our choice).
const IDENTIFIERS: usize = 50;

/// What a column looks like under each format of numbers.
#[derive(Clone, Debug)]
pub(super) struct NumberCandidates {
    candidates: Vec<Candidate>,
    /// Those of the first number that has any.
    units: Option<(String, String)>,
    /// Leading zeros, as in post codes, or several units.
    are_codes: bool,
}

#[derive(Clone, Debug)]
struct Candidate {
    format: NumberFormat,
    low: f64,
    high: f64,
    /// The most digits after the decimal separator.
    decimals: usize,
    example: String,
    odd: OddTexts,
}

impl NumberCandidates {
    pub(super) fn new(delimiter: u8) -> Self {
        let mut separators = SEPARATORS.to_vec();
        if delimiter == b';' {
            separators[1..].sort_by_key(|&(decimal, _)| decimal != ',');
        }
        let candidate = |(decimal, thousands)| Candidate {
            format: NumberFormat { decimal, thousands, ..NumberFormat::default() },
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            decimals: 0,
            example: String::new(),
            odd: OddTexts::default(),
        };
        let candidates = separators.into_iter().map(candidate).collect();
        Self { candidates, units: None, are_codes: false }
    }

    pub(super) fn add(&mut self, text: &str) {
        if self.are_codes || self.candidates.is_empty() {
            return;
        }
        let Affixes { prefix, number, suffix } = Affixes::of(text);
        let digits = number.trim_start_matches(['-', '+']).as_bytes();
        let leads_with_zero = matches!(digits, [b'0', next, ..] if next.is_ascii_digit());
        let units = (prefix, suffix);
        let has_units = units != Default::default();
        let is_number = self.candidates.iter().any(|one| one.format.parse(&number).is_some());
        if is_number && has_units {
            self.are_codes |= self.units.as_ref().is_some_and(|known| *known != units);
            self.units.get_or_insert(units);
        }
        self.are_codes |= is_number && leads_with_zero;
        for candidate in &mut self.candidates {
            candidate.add(&number, text);
        }
        self.candidates.retain(|candidate| !candidate.odd.too_many);
    }

    /// The first candidate with the fewest odd texts.
    fn best(&self, records: usize) -> Option<&Candidate> {
        let viable = self.candidates.iter().filter(|candidate| candidate.odd.are_few(records));
        viable.min_by_key(|candidate| candidate.odd.records()).filter(|_| !self.are_codes)
    }

    pub(super) fn proposal(&self, records: usize) -> Option<(Proposal, &OddTexts)> {
        let best = self.best(records)?;
        let bins = best.bins()?;
        let (prefix, suffix) = self.units.clone().unwrap_or_default();
        let digits = (best.decimals > 0).then_some(best.decimals.min(15));
        let format = NumberFormat { prefix, suffix, digits, ..best.format.clone() };
        let number = match format == NumberFormat::default() {
            true => String::new(),
            false => format!("number = {}\n", format.to_toml()),
        };
        let differs = |other: &&Candidate| {
            other.odd.records() == best.odd.records()
                && (other.low, other.high) != (best.low, best.high)
        };
        let mut comments = Vec::new();
        if self.candidates.iter().any(|other| differs(&other)) {
            let value = best.format.parse(&Affixes::of(&best.example).number).unwrap_or_default();
            comments.push(format!(
                "Check `number`: {:?} was read as {value}, and could mean another number.",
                best.example
            ));
        }
        let settings = format!("kind = \"numeric\"\n{number}{bins}");
        Some((Proposal { comments, settings, more: Vec::new() }, &best.odd))
    }

    /// Whether the numbers are whole, all different and dense, as identifiers are.
    pub(super) fn are_identifiers(&self, records: usize, all_differ: bool) -> bool {
        self.best(records).is_some_and(|best| {
            let is_dense = best.high - best.low < 2.0 * records as f64;
            all_differ && records >= IDENTIFIERS && best.decimals == 0 && is_dense
        })
    }
}

impl Candidate {
    fn add(&mut self, number: &str, text: &str) {
        let Some(value) = self.format.parse(number) else {
            return self.odd.add(text);
        };
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        let is_longer = self.example.len() < text.len();
        if number.contains(['.', ',', ' ']) && is_longer {
            self.example = text.into();
        }
        let after = number.split_once(self.format.decimal).map_or("", |(_, after)| after);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = value.fract() == 0.0 && after.bytes().all(|b| !b.is_ascii_digit());
        self.decimals = self.decimals.max(if is_whole { 0 } else { digits.max(1) });
    }

    /// Bins of a round width that contain every number seen, at most [`BINS`] and none narrower
    /// than the last digit. `None` for numbers that are too large to distinguish.
    fn bins(&self) -> Option<String> {
        let Self { low, high, .. } = *self;
        if low.abs().max(high.abs()) > 1e15 {
            return None;
        }
        // Edges closer than 1e-9 of the numbers would not be told apart.
        let unit =
            10f64.powi(-(self.decimals.min(15) as i32)).max(low.abs().max(high.abs()) * 1e-9);
        let (mut mantissa, mut power) = round_width(((high - low) / BINS).max(unit));
        if self.decimals == 0 && high - low < BINS {
            (mantissa, power) = (1, 0);
        }
        let width = scaled(mantissa, power);
        let multiple = |value: f64| scaled((value / width).floor() as i64 * mantissa, power);
        let (start, last) = match width == 1.0 && self.decimals == 0 {
            true => (low, high),
            false => (multiple(low), multiple(high)),
        };
        let below = scaled((last / width).round() as i64 * mantissa + mantissa, power);
        let holds = start <= low && high < below && (below - start) / width < 2.0 * BINS;
        let holds = holds && Bins::of_width(start, below, width).is_ok();
        let end = match self.decimals {
            0 => format!("high = {}", below - 1.0),
            _ => format!("below = {below}"),
        };
        holds.then(|| format!("width = {width}\nlow = {start}\n{end}\n"))
    }
}
