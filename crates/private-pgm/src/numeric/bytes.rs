//! Numbers of bytes for messages.

use std::fmt;

/// A number of bytes, displayed with two or three digits in powers of 1000: `384 GB`, `1.5 TB`.
/// From 1000 EB on it is displayed as `4e72 GB`, and as `over 1e299 GB` where it overflows `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes(pub f64);

const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scaled = self.0;
        for (power, unit) in UNITS.iter().enumerate() {
            if scaled < 999.5 {
                let decimals = usize::from(power > 0 && scaled < 9.95);
                return write!(f, "{scaled:.decimals$} {unit}");
            }
            scaled /= 1e3;
        }
        match self.0.is_finite() {
            true => write!(f, "{:.0e} GB", self.0 / 1e9),
            false => f.write_str("over 1e299 GB"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        let cases = [
            (512.0, "512 B"),
            (1500.0, "1.5 kB"),
            (999_600.0, "1.0 MB"),
            (3.84e11, "384 GB"),
            (8e19, "80 EB"),
            (4e81, "4e72 GB"),
            (f64::INFINITY, "over 1e299 GB"),
        ];
        for (count, text) in cases {
            assert_eq!(Bytes(count).to_string(), text);
        }
    }
}
