use std::ops::Range;

/// The codes of one attribute, one per record, in the narrowest integers that can hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// At most 256 values.
    U8(Vec<u8>),
    /// At most 65536 values.
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// Evaluates `$body` with `$codes` bound to the vector of any width.
macro_rules! with_codes {
    ($column:expr, $codes:ident => $body:expr) => {
        match $column {
            Column::U8($codes) => $body,
            Column::U16($codes) => $body,
            Column::U32($codes) => $body,
        }
    };
}

impl Column {
    /// An empty column for an attribute with `size` values.
    pub(super) fn new(size: usize) -> Self {
        match size {
            0..=0x100 => Self::U8(Vec::new()),
            0x101..=0x1_0000 => Self::U16(Vec::new()),
            _ => Self::U32(Vec::new()),
        }
    }

    /// Bytes per code.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 4,
        }
    }

    /// Whether these columns have room for that many records in this many bytes.
    pub(super) fn fit(columns: &[Self], records: u64, bytes: u64) -> bool {
        let of_one: usize = columns.iter().map(Self::width).sum();
        records.saturating_mul(of_one as u64) <= bytes
    }

    /// `code` must be below the size of the column's attribute.
    pub(super) fn push(&mut self, code: u32) {
        match self {
            Self::U8(codes) => codes.push(code as u8),
            Self::U16(codes) => codes.push(code as u16),
            Self::U32(codes) => codes.push(code),
        }
    }

    pub(super) fn len(&self) -> usize {
        with_codes!(self, codes => codes.len())
    }

    pub(super) fn get(&self, record: usize) -> u32 {
        match self {
            Self::U8(codes) => codes[record].into(),
            Self::U16(codes) => codes[record].into(),
            Self::U32(codes) => codes[record],
        }
    }

    /// One step of row-major addressing: `cells[r] = cells[r] * size + code of record r`.
    pub(super) fn extend_cells(&self, records: Range<usize>, size: u32, cells: &mut [u32]) {
        fn extend<T: Copy + Into<u32>>(codes: &[T], size: u32, cells: &mut [u32]) {
            for (cell, &code) in cells.iter_mut().zip(codes) {
                *cell = *cell * size + code.into();
            }
        }
        with_codes!(self, codes => extend(&codes[records], size, cells));
    }

    /// Little-endian.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        with_codes!(self, codes => codes.iter().flat_map(|code| code.to_le_bytes()).collect())
    }

    /// The inverse of [`Self::to_bytes`] for an attribute with `size` values. Removes `records`
    /// codes from the front of `bytes`. `None` if there are too few or a code is too large.
    pub(super) fn take(bytes: &mut &[u8], records: usize, size: usize) -> Option<Self> {
        let mut column = Self::new(size);
        let width = column.width();
        let taken = bytes.split_off(..records.checked_mul(width)?)?;
        for code in taken.chunks_exact(width) {
            let code = code.iter().rev().fold(0u32, |code, &byte| code << 8 | u32::from(byte));
            if code as usize >= size {
                return None;
            }
            column.push(code);
        }
        Some(column)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_column_is_recovered_from_its_bytes(
            size in prop::sample::select(vec![1usize, 256, 257, 65536, 65537]),
            seeds: Vec<u32>,
        ) {
            let mut column = Column::new(size);
            let codes: Vec<u32> = seeds.iter().map(|seed| seed % size as u32).collect();
            codes.iter().for_each(|&code| column.push(code));
            let stored: Vec<u32> = (0..column.len()).map(|r| column.get(r)).collect();
            prop_assert_eq!(stored, codes.clone());
            let bytes = column.to_bytes();
            let mut rest = &bytes[..];
            prop_assert_eq!(Column::take(&mut rest, codes.len(), size), Some(column));
            prop_assert!(rest.is_empty());
            prop_assert_eq!(Column::take(&mut &bytes[..], codes.len() + 1, size), None);
        }
    }
}
