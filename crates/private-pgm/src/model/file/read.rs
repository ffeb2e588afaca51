use std::io::Read;

use super::header::{FileLayout, Header};
use super::{
    CHECKSUM_BYTES, CHUNK_BYTES, MAGIC, ModelFileError, PREFIX_BYTES, VERSION, invalid_potential,
};
use crate::factor::{Factor, Potentials};
use crate::model::Model;

type Result<T> = std::result::Result<T, ModelFileError>;

impl Model {
    /// Reads a model file of `length` bytes, as written by [`Model::write`].
    ///
    /// Safe for untrusted input: memory is proportional to `length` for any content, and a file
    /// that was changed after it was written is an error. The header and the potentials are
    /// interpreted only after the checksum has been verified; the prefix with their lengths is read
    /// before.
    pub fn read(input: impl Read, length: u64) -> Result<Self> {
        let mut input = HashingReader { input, length, hasher: blake3::Hasher::new() };
        let (header_length, potentials) = input.prefix()?;
        // Both lengths are below that of the file, so they fit into the address space.
        let header = input.bytes(header_length as usize)?;
        let values = input.numbers(potentials as usize)?;
        input.checksum()?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|error| ModelFileError::Header(error.to_string()))?;
        assemble(header, &values)
    }
}

fn assemble(header: Header, values: &[f64]) -> Result<Model> {
    let FileLayout { layout, listed } = header.file_layout(values.len() as u64)?;
    let mut potentials = Potentials::zeros(&layout);
    for (index, listed) in listed.iter().enumerate() {
        let domain = layout.domain();
        let table = &values[layout.range(index)];
        if let Some((cell, value)) = invalid_potential(table) {
            let clique = listed.iter().map(|&id| domain.name(id).to_string()).collect();
            return Err(ModelFileError::Potential { clique, cell, value });
        }
        let table = Factor::from_listed(domain, listed, table);
        potentials.table_mut(index).copy_from_slice(table.values());
    }
    let model = Model::new(header.total, potentials);
    Ok(match header.origin {
        Some(origin) => model.with_origin(origin),
        None => model,
    })
}

/// A reader that hashes the bytes that pass through it.
struct HashingReader<R> {
    input: R,
    /// The length of the whole file in bytes.
    length: u64,
    hasher: blake3::Hasher,
}

impl<R: Read> HashingReader<R> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.input.read_exact(bytes)?;
        self.hasher.update(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn cut_off(&self, expected: u64) -> ModelFileError {
        ModelFileError::CutOff { expected, found: self.length }
    }

    /// The length of the header in bytes and the number of potentials, checked against the length
    /// of the file.
    fn prefix(&mut self) -> Result<(u64, u64)> {
        let shortest = PREFIX_BYTES + CHECKSUM_BYTES;
        let mut magic = MAGIC;
        let present = MAGIC.len().min(self.length as usize);
        self.fill(&mut magic[..present])?;
        if magic != MAGIC {
            return Err(ModelFileError::NotAModel);
        }
        if self.length < MAGIC.len() as u64 + 4 {
            return Err(self.cut_off(shortest));
        }
        let found = u32::from_le_bytes(self.array()?);
        if found != VERSION {
            return Err(ModelFileError::Version { found });
        }
        if self.length < shortest {
            return Err(self.cut_off(shortest));
        }
        let header = u64::from_le_bytes(self.array()?);
        let potentials = u64::from_le_bytes(self.array()?);
        let numbers = potentials.saturating_mul(size_of::<f64>() as u64);
        let expected = shortest.saturating_add(header).saturating_add(numbers);
        match self.length {
            length if length < expected => Err(self.cut_off(expected)),
            length if length > expected => Err(ModelFileError::TooLong { expected, found: length }),
            _ => Ok((header, potentials)),
        }
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(count).map_err(|_| ModelFileError::Memory(count as u64))?;
        let mut buffer = vec![0; CHUNK_BYTES];
        while numbers.len() < count {
            let bytes = CHUNK_BYTES.min((count - numbers.len()) * size_of::<f64>());
            self.fill(&mut buffer[..bytes])?;
            let (chunks, _) = buffer[..bytes].as_chunks();
            numbers.extend(chunks.iter().map(|&chunk| f64::from_le_bytes(chunk)));
        }
        Ok(numbers)
    }

    fn checksum(&mut self) -> Result<()> {
        let expected = self.hasher.finalize();
        let mut found = [0; CHECKSUM_BYTES as usize];
        self.input.read_exact(&mut found)?;
        if expected == found { Ok(()) } else { Err(ModelFileError::Checksum) }
    }
}
