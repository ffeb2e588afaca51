use askama::Template;

use crate::results::number;

/// A table of the page. If it is sortable, each column heading is a button.
#[derive(Clone, Debug, Template)]
#[template(path = "table.html", config = "src/report/askama.toml")]
pub(super) struct Table {
    /// The id of the caption, unique on the page.
    pub(super) id: String,
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    pub(super) is_sortable: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) is_numeric: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    /// Whether it is the total of the rows above.
    pub(super) is_total: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// The number behind the text, for sorting.
    pub(super) value: Option<f64>,
    /// A CSS class.
    pub(super) class: &'static str,
}

impl Cell {
    /// Whether the text may wrap.
    fn is_long(&self) -> bool {
        self.text.chars().count() > 28
    }

    /// The number with all digits, in the syntax of JavaScript.
    fn exact(&self) -> Option<String> {
        let value = self.value.filter(|value| !value.is_nan())?;
        Some(match value.abs() {
            f64::INFINITY => format!("{}Infinity", if value < 0.0 { "-" } else { "" }),
            0.0 | 1e-6..1e15 => value.to_string(),
            _ => format!("{value:e}"),
        })
    }
}

pub(super) fn text(content: impl Into<String>) -> Cell {
    Cell { text: content.into(), ..Cell::default() }
}

/// A measured number, printed with four digits. The markup has all digits.
pub(super) fn measured(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::default, |value| Cell {
        text: number(value),
        value: Some(value),
        class: "",
    })
}

/// A parameter or a count, printed in full.
pub(super) fn chosen(value: f64) -> Cell {
    Cell { text: value.to_string(), value: Some(value), class: "" }
}

impl Table {
    /// A star at the end of a column name marks a numeric column.
    pub(super) fn new<const N: usize>(
        id: String,
        caption: &str,
        columns: [&'static str; N],
        rows: Vec<[Cell; N]>,
    ) -> Self {
        let column = |name: &'static str| Column {
            name: name.trim_end_matches('*'),
            is_numeric: name.ends_with('*'),
        };
        let row = |cells: [Cell; N]| Row { cells: cells.into(), is_total: false };
        Self {
            id,
            caption: caption.into(),
            columns: columns.map(column).into(),
            rows: rows.into_iter().map(row).collect(),
            is_sortable: true,
        }
    }

    /// Removes the columns without any text.
    pub(super) fn without_empty_columns(self) -> Self {
        self.retaining(|_, cells| cells.iter().any(|cell| !cell.text.is_empty()))
    }

    /// Removes this column if all of its cells are equal: the page states the value elsewhere.
    pub(super) fn without_constant(self, name: &str) -> Self {
        let varies = |cells: &[&Cell]| cells.windows(2).any(|pair| pair[0] != pair[1]);
        self.retaining(|column, cells| column.name != name || varies(cells))
    }

    fn retaining(mut self, keeps: impl Fn(&Column, &[&Cell]) -> bool) -> Self {
        let cells = |i: usize| self.rows.iter().map(|row| &row.cells[i]).collect::<Vec<_>>();
        let columns = self.columns.iter().enumerate();
        let kept: Vec<bool> = columns.map(|(i, column)| keeps(column, &cells(i))).collect();
        fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
            let mut flags = kept.iter();
            items.retain(|_| flags.next() == Some(&true));
        }
        retain(&mut self.columns, &kept);
        self.rows.iter_mut().for_each(|row| retain(&mut row.cells, &kept));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_javascript_numbers() {
        let exact = |value| Cell { value: Some(value), ..Cell::default() }.exact();
        assert_eq!(exact(0.1 + 0.2).unwrap(), "0.30000000000000004");
        assert_eq!(exact(1.172e106).unwrap(), "1.172e106");
        assert_eq!(exact(1.084e-5).unwrap(), "0.00001084");
        assert_eq!(exact(f64::NEG_INFINITY).unwrap(), "-Infinity");
        assert_eq!(exact(f64::NAN), None);
    }

    #[test]
    fn empty_and_constant_columns_are_removed() {
        let row = |a: &str, b: f64| [text(a), chosen(b), text("")];
        let table = |rows| Table::new("t".into(), "", ["a", "b*", "c"], rows);
        let names = |table: Table| table.columns.iter().map(|c| c.name).collect::<Vec<_>>();
        let same = || table(vec![row("x", 1.0), row("y", 1.0)]);
        assert_eq!(names(same().without_constant("b")), ["a", "c"]);
        assert_eq!(names(same().without_constant("a")), ["a", "b", "c"]);
        let left = same().without_empty_columns();
        assert!(left.rows.iter().all(|row| row.cells.len() == 2));
        assert_eq!(names(left), ["a", "b"]);
    }
}
