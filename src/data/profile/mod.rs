//! Summaries of the columns of a file, from which a schema is drafted.

mod dates;
mod numbers;
mod texts;

use std::collections::BTreeMap;

use dates::DateCandidates;
use numbers::NumberCandidates;
use texts::Texts;

use super::schema::quote;

/// Texts that fit no format at most, for a column to be taken for numbers or dates (our choice).
const ODD_TEXTS: usize = 5;
/// The records with odd texts are at most one in this many (our choice).
const ODD_RECORDS: usize = 10;

/// A summary of the fields of a column.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) missing: usize,
    records: usize,
    texts: Texts,
    numbers: NumberCandidates,
    dates: DateCandidates,
}

/// What the draft says about a column.
pub(super) enum Verdict {
    Attribute(Proposal),
    LeftOut {
        reason: String,
        /// Settings for those who want the attribute nevertheless.
        proposal: Option<Proposal>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Proposal {
    /// What to check, without comment signs.
    pub(super) comments: Vec<String>,
    /// In TOML, without the name.
    pub(super) settings: String,
    /// More attributes of the same column, as names to append and settings.
    pub(super) more: Vec<(&'static str, String)>,
}

/// The texts that do not fit a format, with their numbers of records.
#[derive(Clone, Debug, Default)]
struct OddTexts {
    counts: BTreeMap<String, usize>,
    /// Whether there are too many.
    too_many: bool,
}

impl OddTexts {
    fn add(&mut self, text: &str) {
        *self.counts.entry(text.into()).or_default() += 1;
        self.too_many |= self.counts.len() > ODD_TEXTS;
    }

    fn records(&self) -> usize {
        self.counts.values().sum()
    }

    /// Whether the other records, out of this many, are enough to call the format a finding.
    fn are_few(&self, records: usize) -> bool {
        !self.too_many && self.records() * ODD_RECORDS <= records && self.records() < records
    }
}

impl Profile {
    /// `delimiter` is that of the file: those with semicolons often have decimal commas.
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            missing: 0,
            records: 0,
            texts: Texts::default(),
            numbers: NumberCandidates::new(delimiter),
            dates: DateCandidates::default(),
        }
    }

    /// Adds a text that is not missing.
    pub(super) fn add(&mut self, text: &str) {
        self.records += 1;
        self.texts.add(text);
        self.numbers.add(text);
        self.dates.add(text);
    }

    /// `missing_texts` are those of the table.
    pub(super) fn verdict(&self, missing_texts: &[&str]) -> Verdict {
        if self.records == 0 {
            return Verdict::LeftOut { reason: "it has no values".into(), proposal: None };
        }
        let found = self.dates.proposal(self.records);
        let found = found.or_else(|| self.numbers.proposal(self.records));
        let Some((mut proposal, odd)) = found else {
            return self.texts.verdict(self.records, self.missing > 0);
        };
        let mut missing = String::new();
        if !odd.counts.is_empty() {
            let listed = odd.counts.iter().map(|(text, count)| format!("{text:?} ({count} times)"));
            let listed: Vec<String> = listed.collect();
            proposal.comments.push(format!("Taken for missing values: {}.", listed.join(", ")));
            let texts = missing_texts.iter().copied().chain(odd.counts.keys().map(String::as_str));
            let texts: Vec<String> = texts.map(quote).collect();
            missing = format!("missing_texts = [{}]\n", texts.join(", "));
        }
        if self.missing > 0 || !odd.counts.is_empty() {
            missing += "missing = \"code\"\n";
        }
        let all = [&mut proposal.settings].into_iter();
        all.chain(proposal.more.iter_mut().map(|(_, more)| more)).for_each(|to| *to += &missing);
        match self.numbers.are_identifiers(self.records, self.texts.all_differ()) {
            true => Verdict::LeftOut {
                reason: "every record has its own number (an identifier?)".into(),
                proposal: None,
            },
            false => Verdict::Attribute(proposal),
        }
    }
}

/// The smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least `least`, as mantissa
/// and power.
fn round_width(least: f64) -> (i64, i32) {
    let power = least.log10().floor().clamp(-15.0, 15.0) as i32;
    let candidates = [(1, power), (2, power), (5, power), (1, power + 1)];
    let fits = |&(mantissa, power): &(i64, i32)| scaled(mantissa, power) >= least * (1.0 - 1e-9);
    candidates.into_iter().find(fits).unwrap_or((1, power + 1))
}

/// mantissa x 10^power, as the nearest double.
fn scaled(mantissa: i64, power: i32) -> f64 {
    match power {
        0.. => mantissa as f64 * 10f64.powi(power),
        _ => mantissa as f64 / 10f64.powi(-power),
    }
}
