//! Numbers as people write them: `1.234,50`, `$1,200`, `12.5 %`.

use serde::Deserialize;

use super::toml_text::quote;

/// Pairs of decimal and thousands separators, in the order in which they are tried.
pub(crate) const SEPARATORS: [(char, Option<char>); 7] = [
    ('.', None),
    ('.', Some(',')),
    (',', None),
    (',', Some('.')),
    (',', Some(' ')),
    ('.', Some(' ')),
    ('.', Some('\'')),
];

/// What is recognised before or after a number. Longer ones first.
const UNITS: [&str; 12] = ["US$", "EUR", "USD", "GBP", "CHF", "kr", "zł", "€", "$", "£", "¥", "%"];

/// How a column writes its numbers. The default is that of most programs: `-1234.5`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NumberFormat {
    pub(crate) decimal: char,
    /// Between groups of three digits before the decimals.
    pub(crate) thousands: Option<char>,
    /// Such as a currency, before or after the sign. Optional when read.
    pub(crate) prefix: String,
    /// Such as a percent sign. Optional when read.
    pub(crate) suffix: String,
    /// Decimals when written.
    pub(crate) digits: Option<usize>,
}

/// The most decimals of written numbers: those that a double has.
pub(super) const MAX_DIGITS: usize = 15;

impl Default for NumberFormat {
    fn default() -> Self {
        Self {
            decimal: '.',
            thousands: None,
            prefix: String::new(),
            suffix: String::new(),
            digits: None,
        }
    }
}

impl NumberFormat {
    /// Why this is no format.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let is_digit_like = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+');
        let has_digit = |text: &str| text.chars().any(|c| c.is_ascii_digit());
        if !matches!(self.decimal, '.' | ',') {
            return Some("decimal is \".\" or \",\"");
        }
        if self.thousands.is_some_and(|c| is_digit_like(c) || c == self.decimal) {
            return Some("thousands is one character that is no digit, letter, sign or decimal");
        }
        if has_digit(&self.prefix) || has_digit(&self.suffix) {
            return Some("prefix and suffix have no digits");
        }
        if self.digits.is_some_and(|digits| digits > MAX_DIGITS) {
            return Some("digits is at most 15");
        }
        None
    }

    /// A format that reads the text.
    pub(crate) fn guess(text: &str) -> Option<Self> {
        let Affixes { prefix, number, suffix } = Affixes::of(text);
        let formats = SEPARATORS.iter().map(|&(decimal, thousands)| Self {
            decimal,
            thousands,
            prefix: prefix.clone(),
            suffix: suffix.clone(),
            digits: None,
        });
        formats.into_iter().find(|format| format.parse(&number).is_some())
    }

    /// The settings that differ from the default, as an inline table of TOML.
    pub(crate) fn to_toml(&self) -> String {
        let mut settings = Vec::new();
        if self.decimal != '.' {
            settings.push(format!("decimal = {}", quote(&self.decimal.to_string())));
        }
        if let Some(thousands) = self.thousands {
            settings.push(format!("thousands = {}", quote(&thousands.to_string())));
        }
        for (name, affix) in [("prefix", &self.prefix), ("suffix", &self.suffix)] {
            if !affix.is_empty() {
                settings.push(format!("{name} = {}", quote(affix)));
            }
        }
        if let Some(digits) = self.digits {
            settings.push(format!("digits = {digits}"));
        }
        format!("{{ {} }}", settings.join(", "))
    }

    fn is_plain(&self) -> bool {
        let Self { decimal, thousands, prefix, suffix, digits: _ } = self;
        *decimal == '.' && thousands.is_none() && prefix.is_empty() && suffix.is_empty()
    }

    /// The finite number of a text, without its affixes and separators.
    pub(crate) fn parse(&self, text: &str) -> Option<f64> {
        let plain = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
        if self.is_plain() {
            return plain(text);
        }
        let (negative, text) = sign(text.trim());
        let text = text.strip_prefix(self.prefix.trim()).unwrap_or(text).trim_start();
        let (negative, text) = match sign(text) {
            (false, rest) if rest.len() == text.len() => (negative, rest),
            // A second sign.
            _ if negative => return None,
            found => found,
        };
        let text = text.strip_suffix(self.suffix.trim()).unwrap_or(text).trim_end();
        let (whole, decimals) = text.split_once(self.decimal).unwrap_or((text, ""));
        let whole = self.ungrouped(whole)?;
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let is_number =
            is_digits(&whole) && is_digits(decimals) && whole.len() + decimals.len() > 0;
        let digits = format!("{whole}.{decimals}");
        let value = is_number.then(|| plain(&digits)).flatten()?;
        Some(if negative { -value } else { value })
    }

    /// The digits before the decimals. Groups have three digits, apart from the first.
    fn ungrouped(&self, whole: &str) -> Option<String> {
        let Some(separator) = self.thousands else { return Some(whole.into()) };
        let is_separator = |c: char| c == separator || separator == ' ' && is_thin_space(c);
        let groups: Vec<&str> = whole.split(is_separator).collect();
        let grouped = match groups[..] {
            [_] => true,
            [first, ref rest @ ..] => {
                (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3)
            }
            [] => false,
        };
        grouped.then(|| groups.concat())
    }

    /// The text of a number with this many decimals, or those of the format.
    pub(crate) fn write(&self, value: f64, decimals: usize) -> String {
        let decimals = self.digits.unwrap_or(decimals);
        let text = format!("{:.decimals$}", value.abs());
        let sign = match value < 0.0 && text.bytes().any(|b| b.is_ascii_digit() && b != b'0') {
            true => "-",
            false => "",
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                grouped.extend(self.thousands);
            }
            grouped.push(digit);
        }
        if !fraction.is_empty() {
            grouped.push(self.decimal);
            grouped.push_str(fraction);
        }
        format!("{sign}{}{grouped}{}", self.prefix, self.suffix)
    }
}

/// A number with its units apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affixes {
    /// With the spaces after it.
    pub(crate) prefix: String,
    /// With its sign.
    pub(crate) number: String,
    /// With the spaces before it.
    pub(crate) suffix: String,
}

impl Affixes {
    /// Recognises currencies and percent signs.
    pub(crate) fn of(text: &str) -> Self {
        let (negative, rest) = sign(text.trim());
        let found = UNITS.iter().filter(|&&unit| unit != "%").find_map(|unit| {
            rest.strip_prefix(unit).map(|after| rest.len() - after.trim_start().len())
        });
        let (prefix, rest) = rest.split_at(found.unwrap_or(0));
        let found = UNITS.iter().find_map(|unit| rest.strip_suffix(unit).map(str::trim_end));
        let (number, suffix) = rest.split_at(found.map_or(rest.len(), str::len));
        let minus = if negative { "-" } else { "" };
        Self { prefix: prefix.into(), number: format!("{minus}{number}"), suffix: suffix.into() }
    }
}

/// Whether the text begins with a minus, and the text without its sign.
fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A no-break space, as typesetters put between groups.
fn is_thin_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(decimal: char, thousands: Option<char>, prefix: &str, suffix: &str) -> NumberFormat {
        let (prefix, suffix) = (prefix.into(), suffix.into());
        NumberFormat { decimal, thousands, prefix, suffix, digits: None }
    }

    #[test]
    fn separators_signs_and_affixes_are_understood() {
        let euro = format(',', Some('.'), "", " €");
        assert_eq!(euro.parse("1.234,50 €"), Some(1234.5));
        assert_eq!(euro.parse("-12 €"), Some(-12.0));
        assert_eq!(euro.parse("1.234.567"), Some(1_234_567.0));
        let dollar = format('.', Some(','), "$", "");
        for text in ["-$1,200.50", "$-1,200.50", "$ -1200.50", "\u{2212}1,200.5"] {
            assert_eq!(dollar.parse(text), Some(-1200.5), "{text}");
        }
        let percent = format('.', None, "", "%");
        assert_eq!(percent.parse("12.5 %"), Some(12.5));
        let spaces = format(',', Some(' '), "", "");
        assert_eq!(spaces.parse("1\u{202f}234,5"), Some(1234.5));
    }

    #[test]
    fn formats_are_guessed_from_a_text() {
        for (text, settings) in [
            ("1.234,50 €", r#"{ decimal = ",", thousands = ".", suffix = " €" }"#),
            ("-$1,200", r#"{ thousands = ",", prefix = "$" }"#),
            ("12,5%", r#"{ decimal = ",", suffix = "%" }"#),
            ("EUR 12", r#"{ prefix = "EUR " }"#),
        ] {
            let format = NumberFormat::guess(text).unwrap();
            assert_eq!(format.to_toml(), settings, "{text}");
            assert!(format.parse(text).is_some());
        }
        assert_eq!(NumberFormat::guess("twelve"), None);
        assert_eq!(NumberFormat::guess("€"), None);
    }

    #[test]
    fn groups_have_three_digits() {
        let english = format('.', Some(','), "", "");
        for text in ["1,5", "1,23", "1234,567", ",123", "1,,234", "1.5,000", "", "-", "1e5", "1-"] {
            assert_eq!(english.parse(text), None, "{text}");
        }
        assert_eq!(format(',', None, "", "").parse("1.5"), None);
        assert_eq!(format('.', None, "$", "").parse("--5"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            cents in -1_000_000_000i64..1_000_000_000,
            comma: bool,
            grouped: bool,
            affix in 0..3usize,
        ) {
            let decimal = if comma { ',' } else { '.' };
            let thousands = grouped.then_some(if comma { '.' } else { ',' });
            let (prefix, suffix) = [("", ""), ("€ ", ""), ("", " %")][affix];
            let format = format(decimal, thousands, prefix, suffix);
            let value = cents as f64 / 100.0;
            prop_assert_eq!(format.parse(&format.write(value, 2)), Some(value));
        }

        #[test]
        fn no_text_panics(text in ".*", comma: bool) {
            let decimal = if comma { ',' } else { '.' };
            let _ = format(decimal, Some(' '), "$", "%").parse(&text);
        }
    }
}
