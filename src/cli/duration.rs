use std::fmt;

/// A number of seconds as people say it: `45 s`, `12 min`, `3.5 h`.
pub(crate) struct Duration(pub(crate) f64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds < 1.0 => write!(f, "{seconds:.1} s"),
            seconds if seconds < 100.0 => write!(f, "{seconds:.0} s"),
            seconds if seconds < 100.0 * 60.0 => write!(f, "{:.0} min", seconds / 60.0),
            seconds if seconds < 48.0 * 3600.0 => write!(f, "{:.1} h", seconds / 3600.0),
            seconds => write!(f, "{:.1} days", seconds / 86400.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_people_would_use() {
        let cases = [
            (0.04, "0.0 s"),
            (2.4, "2 s"),
            (600.0, "10 min"),
            (9000.0, "2.5 h"),
            (1e6, "11.6 days"),
        ];
        for (seconds, text) in cases {
            assert_eq!(Duration(seconds).to_string(), text);
        }
    }
}
