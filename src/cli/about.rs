use std::fmt;

/// An estimated number of seconds in a readable unit: `about 45 s`, `about 3.5 h`.
pub(crate) struct About(pub(crate) f64);

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds < 1.0 => write!(f, "less than 1 s"),
            seconds if seconds < 100.0 => write!(f, "about {seconds:.0} s"),
            seconds if seconds < 100.0 * 60.0 => write!(f, "about {:.0} min", seconds / 60.0),
            seconds if seconds < 48.0 * 3600.0 => write!(f, "about {:.1} h", seconds / 3600.0),
            seconds => write!(f, "about {:.1} days", seconds / 86400.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_readable_unit() {
        let cases = [
            (0.04, "less than 1 s"),
            (2.4, "about 2 s"),
            (600.0, "about 10 min"),
            (9000.0, "about 2.5 h"),
            (1e6, "about 11.6 days"),
        ];
        for (seconds, text) in cases {
            assert_eq!(About(seconds).to_string(), text);
        }
    }
}
