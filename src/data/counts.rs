use super::DataError;
use super::column::Column;
use super::lines::Lines;
use super::schema::Schema;
use super::source::Source;
use crate::limits;

/// A table of counts while it is read: a count per cell of the table over all attributes in
/// declared order, the last of which varies fastest.
pub(super) struct Counts<'s> {
    schema: &'s Schema,
    /// As many as there are cells at most.
    counts: Vec<u32>,
    /// The number of counts.
    found: usize,
    cells: usize,
    /// Of the counts, and of the codes of the records.
    max_bytes: u64,
}

impl<'s> Counts<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let mut sizes = schema.attributes().iter().map(|attribute| attribute.size());
        let cells = sizes.try_fold(1usize, |cells, size| cells.checked_mul(size));
        let (cells, max_bytes) = (cells.unwrap_or(usize::MAX), limits::data_bytes());
        Self { schema, counts: Vec::new(), found: 0, cells, max_bytes }
    }

    #[cfg(test)]
    pub(super) fn set_limit(&mut self, max_bytes: u64) {
        self.max_bytes = max_bytes;
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
                self.found += 1;
                if self.counts.len() < self.cells {
                    self.counts.push(count);
                }
            }
            if (self.counts.len() * size_of::<u32>()) as u64 > self.max_bytes {
                return Err(too_many(&lines.file, self.max_bytes));
            }
        }
        Ok(lines.into_source())
    }

    /// The columns, and the number of records.
    pub(super) fn into_records(self, file: &str) -> Result<(Vec<Column>, usize), DataError> {
        let sizes: Vec<usize> = self.schema.attributes().iter().map(|a| a.size()).collect();
        let (expected, found) = (self.cells, self.found);
        if expected != found {
            return Err(DataError::CellCount { file: file.into(), expected, found });
        }
        let mut columns: Vec<Column> = sizes.iter().map(|&size| Column::new(size)).collect();
        let records = self.counts.iter().map(|&count| u64::from(count)).sum();
        if !Column::fit(&columns, records, self.max_bytes) {
            return Err(too_many(file, self.max_bytes));
        }
        for (cell, &count) in self.counts.iter().enumerate() {
            let mut rest = cell;
            for (column, size) in columns.iter_mut().zip(&sizes).rev() {
                (0..count).for_each(|_| column.push((rest % size) as u32));
                rest /= size;
            }
        }
        Ok((columns, records as usize))
    }
}

fn too_many(file: &str, limit: u64) -> DataError {
    DataError::TooManyRecords { file: file.into(), limit }
}
