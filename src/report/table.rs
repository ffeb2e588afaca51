use askama::Template;

use crate::results::number;

/// A table of the page. What is sortable has a button over each column.
#[derive(Clone, Debug, Template)]
#[template(path = "table.html", config = "src/report/askama.toml")]
pub(super) struct Table {
    /// The id of its caption, one of a kind on the page.
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
    /// Sums up the rows before it.
    pub(super) is_total: bool,
}

/// A cell, with the number that it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) value: Option<f64>,
    /// A class of the style sheet.
    pub(super) class: &'static str,
}

impl Cell {
    /// Whether it wants several lines.
    fn is_long(&self) -> bool {
        self.text.chars().count() > 28
    }
}

pub(super) fn text(content: impl Into<String>) -> Cell {
    Cell { text: content.into(), ..Cell::default() }
}

/// A measured number with four digits; all of them are in the page as well.
pub(super) fn measured(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::default, |value| Cell {
        text: number(value),
        value: Some(value),
        class: "",
    })
}

/// A number that somebody chose, as it is.
pub(super) fn chosen(value: f64) -> Cell {
    Cell { text: value.to_string(), value: Some(value), class: "" }
}

impl Table {
    /// Columns with a star at the end of their name hold numbers.
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

    /// Without the columns in which no cell has text.
    pub(super) fn without_empty_columns(self) -> Self {
        self.retaining(|cells| cells.iter().any(|cell| !cell.text.is_empty()))
    }

    /// Without this column if all of its cells say the same: the page says it elsewhere.
    pub(super) fn without_constant(self, name: &str) -> Self {
        let at = self.columns.iter().position(|column| column.name == name);
        let is_it = self.columns.iter().map(|column| column.name == name).collect::<Vec<_>>();
        let mut place = 0..;
        match at {
            None => self,
            Some(_) => self.retaining(|cells| {
                let here = place.next().is_some_and(|i: usize| is_it[i]);
                !here || cells.windows(2).any(|pair| pair[0] != pair[1])
            }),
        }
    }

    fn retaining(mut self, mut keeps: impl FnMut(&[&Cell]) -> bool) -> Self {
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|i| keeps(&self.rows.iter().map(|row| &row.cells[i]).collect::<Vec<_>>()))
            .collect();
        let mut flags = kept.iter();
        self.columns.retain(|_| flags.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut flags = kept.iter();
            row.cells.retain(|_| flags.next().copied().unwrap_or(true));
        }
        self
    }
}
