//! Text tables aligned for a terminal, and the format of their numbers.

/// Rows of cells. The first row is the heading.
#[derive(Debug, Default)]
pub(super) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self { rows: vec![heading.map(String::from).to_vec()] }
    }

    pub(super) fn push<const N: usize>(&mut self, row: [String; N]) {
        self.rows.push(row.to_vec());
    }

    /// The lines, with two spaces between columns and none at the end. Columns in which only the
    /// heading has text are omitted.
    pub(super) fn lines(&self) -> Vec<String> {
        let column_count = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            let has_text = self.rows[1..].iter().any(|row| !row[column].is_empty());
            if has_text { widths.max() } else { None }
        };
        let widths: Vec<Option<usize>> = (0..column_count).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths);
            let padded = cells.filter_map(|(cell, width)| width.map(|w| format!("{cell:w$}")));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        self.rows.iter().map(line).collect()
    }
}

/// The number with four significant digits.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || !magnitude.is_finite() {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    match rounded.abs() {
        1e-4..1e4 => {
            let digits = 3 - rounded.abs().log10().floor() as i32;
            format!("{rounded:.*}", digits.max(0) as usize)
        }
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_empty_ones_are_left_out() {
        let mut table = TextTable::new(["name", "empty", "value"]);
        table.push(["\u{e9}".into(), String::new(), "1".into()]);
        table.push(["longer".into(), String::new(), String::new()]);
        assert_eq!(table.lines(), ["name    value", "\u{e9}       1", "longer"]);
        assert_eq!(TextTable::new(["a", "b"]).lines(), [""]);
    }

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.151_436, "0.1514"),
            (0.047, "0.04700"),
            (0.999_99, "1.000"),
            (27.0, "27.00"),
            (-6.6, "-6.600"),
            (9999.7, "1.000e4"),
            (12_345.0, "1.234e4"),
            (0.000_012, "1.200e-5"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
