//! Dates as texts, by a pattern such as `DD.MM.YYYY`.

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    pub(crate) year: i32,
    /// From 1.
    pub(crate) month: u32,
    /// From 1.
    pub(crate) day: u32,
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(crate) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// How a column writes its dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatePattern {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// Four digits.
    Year,
    /// One or two digits when read, two when written.
    Month,
    /// Three letters, in English.
    MonthName,
    /// One or two digits when read, two when written.
    Day,
    /// Two digits of a time of day, which is ignored, and written as 00.
    Time,
    Literal(char),
}

/// By descending length, so that `MMM` is not `MM` and a letter.
const TOKENS: [(&str, Token); 7] = [
    ("YYYY", Token::Year),
    ("MMM", Token::MonthName),
    ("MM", Token::Month),
    ("DD", Token::Day),
    ("hh", Token::Time),
    ("mm", Token::Time),
    ("ss", Token::Time),
];

impl DatePattern {
    /// `None` unless the pattern has a year, a month and a day once each.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while let Some(next) = rest.chars().next() {
            match TOKENS.iter().find(|(name, _)| rest.starts_with(name)) {
                Some((name, token)) => {
                    tokens.push(*token);
                    rest = &rest[name.len()..];
                }
                None if matches!(next, 'Y' | 'M' | 'D' | 'h' | 'm' | 's') => return None,
                None => {
                    tokens.push(Token::Literal(next));
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        let count = |kinds: &[Token]| tokens.iter().filter(|token| kinds.contains(token)).count();
        let is_date = count(&[Token::Year]) == 1
            && count(&[Token::Month, Token::MonthName]) == 1
            && count(&[Token::Day]) == 1;
        is_date.then(|| Self { text: text.into(), tokens })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The date of a text; `None` if it does not follow the pattern or is not in the calendar.
    pub(crate) fn parse(&self, text: &str) -> Option<Date> {
        let mut rest = text;
        let (mut year, mut month, mut day) = (0, 0, 0);
        for token in &self.tokens {
            match token {
                Token::Year => year = digits(&mut rest, 4, 4)?,
                Token::Month => month = digits(&mut rest, 1, 2)?,
                Token::Day => day = digits(&mut rest, 1, 2)?,
                Token::Time => drop(digits(&mut rest, 2, 2)?),
                Token::MonthName => {
                    let name = rest.get(..3)?;
                    let is_it = |month: &&str| month[..3].eq_ignore_ascii_case(name);
                    month = 1 + MONTHS.iter().position(is_it)? as u32;
                    rest = &rest[3..];
                }
                Token::Literal(c) => rest = rest.strip_prefix(*c)?,
            }
        }
        let date = Date { year: year as i32, month, day };
        let is_day = (1..=12).contains(&month) && (1..=days(date.year, month)).contains(&day);
        (rest.is_empty() && is_day).then_some(date)
    }

    pub(crate) fn write(&self, date: Date) -> String {
        let Date { year, month, day } = date;
        let token = |token: &Token| match token {
            Token::Year => format!("{year:04}"),
            Token::Month => format!("{month:02}"),
            Token::MonthName => MONTHS[month as usize - 1][..3].into(),
            Token::Day => format!("{day:02}"),
            Token::Time => "00".into(),
            Token::Literal(c) => c.to_string(),
        };
        self.tokens.iter().map(token).collect()
    }
}

/// Removes `least` to `most` digits from the front.
fn digits(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(count);
    *rest = after;
    if count < least { None } else { number.parse().ok() }
}

/// The number of days of a month.
pub(crate) fn days(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

impl Date {
    /// From Monday, 0. Zeller's congruence.
    pub(crate) fn weekday(self) -> u32 {
        let Self { year, month, day } = self;
        let (year, month) = if month < 3 { (year - 1, month + 12) } else { (year, month) };
        let sum = day as i32
            + (13 * (month as i32 + 1)) / 5
            + year
            + year.div_euclid(4)
            + year.div_euclid(400)
            - year.div_euclid(100);
        // Zeller counts from Saturday.
        (sum + 5).rem_euclid(7) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pattern: &str, text: &str) -> Option<(i32, u32, u32)> {
        let date = DatePattern::new(pattern).unwrap().parse(text)?;
        Some((date.year, date.month, date.day))
    }

    #[test]
    fn patterns_read_dates() {
        assert_eq!(parse("YYYY-MM-DD", "2024-02-29"), Some((2024, 2, 29)));
        assert_eq!(parse("DD.MM.YYYY", "3.4.1987"), Some((1987, 4, 3)));
        assert_eq!(parse("MM/DD/YYYY", "03/14/1987"), Some((1987, 3, 14)));
        assert_eq!(parse("YYYYMMDD", "19870314"), Some((1987, 3, 14)));
        assert_eq!(parse("DD MMM YYYY", "14 mar 1987"), Some((1987, 3, 14)));
        assert_eq!(parse("YYYY-MM-DDThh:mm:ssZ", "1987-03-14T09:30:00Z"), Some((1987, 3, 14)));
        for text in ["2023-02-29", "2023-13-01", "2023-00-10", "2023-1", "23-01-01", "2023-01-01x"]
        {
            assert_eq!(parse("YYYY-MM-DD", text), None, "{text}");
        }
        assert_eq!(parse("DD MMM YYYY", "14 Mär 1987"), None);
    }

    #[test]
    fn a_pattern_has_year_month_and_day_once() {
        for pattern in ["", "YYYY-MM", "YY-MM-DD", "YYYY-MM-DD-DD", "YYYY-MM-MMM-DD", "day"] {
            assert_eq!(DatePattern::new(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_has_its_weekday_and_is_read_as_written() {
        let pattern = DatePattern::new("DD-MMM-YYYY hh:mm").unwrap();
        // 1 January 1800 was a Wednesday.
        let mut expected = 2;
        for year in 1800..2200 {
            for month in 1..=12 {
                for day in 1..=days(year, month) {
                    let date = Date { year, month, day };
                    assert_eq!(date.weekday(), expected, "{date:?}");
                    assert_eq!(pattern.parse(&pattern.write(date)), Some(date));
                    expected = (expected + 1) % 7;
                }
            }
        }
    }
}
