use std::str::FromStr;

use thiserror::Error;

/// A number of bytes as people write it: `500000000`, `500MB`, `1.5 GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

#[derive(Debug, Error, PartialEq, Eq)]
#[error("expected a number of bytes such as 500000000, 500MB or 2GiB")]
pub(crate) struct NotAByteSize;

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
        let bytes = (number * factor).round();
        match (1.0..=u64::MAX as f64).contains(&bytes) {
            true => Ok(Self(bytes as u64)),
            false => Err(NotAByteSize),
        }
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
