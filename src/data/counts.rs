use super::DataError;
use super::column::Column;
use super::lines::Lines;
use super::schema::Schema;
use super::source::Source;

/// A table of counts while it is read: a count per cell of the table over all attributes in
/// declared order, the last of which varies fastest.
pub(super) struct Counts<'s> {
    schema: &'s Schema,
    counts: Vec<u32>,
}

impl<'s> Counts<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema, counts: Vec::new() }
    }

    pub(super) fn read<'a>(&mut self, source: Source<'a>) -> Result<Source<'a>, DataError> {
        let mut lines = Lines::new(source, &self.schema.table);
        while lines.advance()? {
            for field in &lines.record {
                let text = String::from_utf8_lossy(field);
                let count = text.trim().parse().map_err(|_| DataError::NotACount {
                    file: lines.file.clone(),
                    line: lines.line(),
                    text: text.trim().into(),
                })?;
                self.counts.push(count);
            }
        }
        Ok(lines.into_source())
    }

    /// The columns, and the number of records.
    pub(super) fn into_records(self, file: &str) -> Result<(Vec<Column>, usize), DataError> {
        let sizes: Vec<usize> = self.schema.attributes().iter().map(|a| a.size()).collect();
        let cells = sizes.iter().try_fold(1usize, |cells, &size| cells.checked_mul(size));
        let (expected, found) = (cells.unwrap_or(usize::MAX), self.counts.len());
        if expected != found {
            return Err(DataError::CellCount { file: file.into(), expected, found });
        }
        let mut columns: Vec<Column> = sizes.iter().map(|&size| Column::new(size)).collect();
        let mut records = 0;
        for (cell, &count) in self.counts.iter().enumerate() {
            let mut rest = cell;
            for (column, size) in columns.iter_mut().zip(&sizes).rev() {
                (0..count).for_each(|_| column.push((rest % size) as u32));
                rest /= size;
            }
            records += count as usize;
        }
        Ok((columns, records))
    }
}
