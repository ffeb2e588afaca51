use super::super::schema::DatePattern;
use super::{OddTexts, Proposal, round_width, scaled};

/// The patterns that are recognised, in the order of preference.
const PATTERNS: [&str; 16] = [
    "YYYY-MM-DD",
    "YYYY-MM-DD hh:mm:ss",
    "YYYY-MM-DD hh:mm",
    "YYYY-MM-DDThh:mm:ss",
    "YYYY-MM-DDThh:mm:ssZ",
    "YYYY/MM/DD",
    "DD.MM.YYYY",
    "DD.MM.YYYY hh:mm",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "DD/MM/YYYY hh:mm",
    "MM/DD/YYYY hh:mm",
    "DD-MM-YYYY",
    "DD-MMM-YYYY",
    "DD MMM YYYY",
    "YYYYMMDD",
];

/// Years of texts without separators, which could be other numbers (our choice).
const LIKELY_YEARS: std::ops::RangeInclusive<i32> = 1900..=2100;

/// Years with a bin each at most (our choice).
const YEARS: i32 = 100;

/// What a column looks like under each pattern of dates.
#[derive(Clone, Debug)]
pub(super) struct DateCandidates(Vec<Candidate>);

#[derive(Clone, Debug)]
struct Candidate {
    pattern: DatePattern,
    first: i32,
    last: i32,
    odd: OddTexts,
}

impl Default for DateCandidates {
    fn default() -> Self {
        let (first, last) = (i32::MAX, i32::MIN);
        let candidate = |pattern| Candidate { pattern, first, last, odd: OddTexts::default() };
        Self(PATTERNS.iter().filter_map(|text| DatePattern::new(text)).map(candidate).collect())
    }
}

impl DateCandidates {
    pub(super) fn add(&mut self, text: &str) {
        for Candidate { pattern, first, last, odd } in &mut self.0 {
            let has_separators = !pattern.text().ends_with("MMDD");
            match pattern.parse(text) {
                Some(date) if has_separators || LIKELY_YEARS.contains(&date.year) => {
                    *first = date.year.min(*first);
                    *last = date.year.max(*last);
                }
                _ => odd.add(text),
            }
        }
        self.0.retain(|candidate| !candidate.odd.too_many);
    }

    /// The year as the attribute, month and weekday as more of them.
    pub(super) fn proposal(&self, records: usize) -> Option<(Proposal, &OddTexts)> {
        let viable: Vec<&Candidate> =
            self.0.iter().filter(|candidate| candidate.odd.are_few(records)).collect();
        let best = viable.iter().min_by_key(|candidate| candidate.odd.records())?;
        let same = |other: &&&Candidate| other.odd.records() == best.odd.records();
        let mut comments = Vec::new();
        if let Some(other) = viable.iter().filter(same).nth(1) {
            let other = other.pattern.text();
            comments.push(format!("Check `date`: the dates could also be of the form {other}."));
        }
        let (mantissa, power) = match best.last - best.first < YEARS {
            true => (1, 0),
            false => round_width(f64::from(best.last - best.first) / f64::from(YEARS)),
        };
        let width = scaled(mantissa, power) as i32;
        let low = best.first.div_euclid(width) * width;
        let high = best.last.div_euclid(width) * width + width - 1;
        let kind = format!("kind = \"date\"\ndate = \"{}\"\n", best.pattern.text());
        let part = |name: &str| format!("{kind}part = \"{name}\"\n");
        let settings = format!("{}width = {width}\nlow = {low}\nhigh = {high}\n", part("year"));
        let more = vec![("month", part("month")), ("weekday", part("weekday"))];
        Some((Proposal { comments, settings, more }, &best.odd))
    }
}
