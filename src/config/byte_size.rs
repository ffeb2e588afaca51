use std::str::FromStr;

use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::form::{self, Form};

/// A positive number of bytes, written as `500000000`, `500MB` or `1.5 GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ByteSize(pub u64);

/// The text does not follow the syntax of [`ByteSize`], or is less than one byte.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("expected {EXPECTED}")]
pub struct NotAByteSize;

const EXPECTED: &str = "a number of bytes such as 500000000, 500MB or 2GiB";

impl ByteSize {
    fn from_number(bytes: f64) -> Result<Self, NotAByteSize> {
        let bytes = bytes.round();
        match (1.0..=u64::MAX as f64).contains(&bytes) {
            true => Ok(Self(bytes as u64)),
            false => Err(NotAByteSize),
        }
    }
}

impl FromStr for ByteSize {
    type Err = NotAByteSize;

    fn from_str(text: &str) -> Result<Self, NotAByteSize> {
        let unit_starts = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_starts);
        let factor: f64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1048576.0,
            "gib" => 1073741824.0,
            "tib" => 1099511627776.0,
            _ => return Err(NotAByteSize),
        };
        let number: f64 = number.trim().parse().map_err(|_| NotAByteSize)?;
        Self::from_number(number * factor)
    }
}

impl Form<'_> for ByteSize {
    const EXPECTED: &'static str = EXPECTED;

    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(&text), &EXPECTED))
    }

    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Self::from_number(number)
            .map_err(|_| E::invalid_value(Unexpected::Float(number), &EXPECTED))
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        form::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_and_without_units() {
        let cases = [
            ("500000000", 500_000_000),
            ("500MB", 500_000_000),
            ("2GiB", 2 << 30),
            ("1.5 gb", 1_500_000_000),
            ("64k", 64_000),
            ("1b", 1),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "MB", "-1MB", "0", "2GGB", "nan", "inf", "1e400", "5 apples"] {
            assert_eq!(text.parse::<ByteSize>(), Err(NotAByteSize), "{text}");
        }
    }
}
