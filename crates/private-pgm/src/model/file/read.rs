use std::io::{ErrorKind, Read};

use super::header::{FileLayout, Header};
use super::{
    CHECKSUM_BYTES, CHUNK_BYTES, MAGIC, ModelFileError, PREFIX_BYTES, VERSION, invalid_potential,
};
use crate::factor::{Factor, Potentials};
use crate::model::Model;

type Result<T> = std::result::Result<T, ModelFileError>;

impl Model {
    /// Reads what [`Model::write`] wrote, to the end of the input.
    ///
    /// Whatever the bytes are, memory is taken in proportion to what the input delivers, and an
    /// input that differs from what was written is refused. Nothing is interpreted before the
    /// checksum is known to be right, except for the lengths.
    pub fn read(input: impl Read) -> Result<Self> {
        let mut input = Hashing { input, delivered: 0, hasher: blake3::Hasher::new() };
        let Lengths { header, potentials, file } = input.lengths()?;
        let header = input.bytes(header, file)?;
        let values = input.numbers(potentials, file)?;
        input.end(file)?;
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

/// What the beginning of a file says about the rest.
struct Lengths {
    /// Bytes.
    header: u64,
    /// Numbers.
    potentials: u64,
    /// Bytes of the whole file.
    file: u64,
}

/// The parts of a file, and the checksum of those that have been read.
struct Hashing<R> {
    input: R,
    /// Bytes so far.
    delivered: u64,
    hasher: blake3::Hasher,
}

impl<R: Read> Hashing<R> {
    /// Reads until the buffer is full or the input ends; the number of bytes.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.delivered += filled as u64;
        Ok(filled)
    }

    /// Reads a part of a file that has at least `file` bytes.
    fn part(&mut self, bytes: &mut [u8], file: u64) -> Result<()> {
        if self.fill(bytes)? < bytes.len() {
            return Err(ModelFileError::CutOff { expected: file, found: self.delivered });
        }
        self.hasher.update(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self, file: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.part(&mut bytes, file)?;
        Ok(bytes)
    }

    fn lengths(&mut self) -> Result<Lengths> {
        let shortest = PREFIX_BYTES + CHECKSUM_BYTES;
        let mut magic = [0; MAGIC.len()];
        let present = self.fill(&mut magic)?;
        if magic[..present] != MAGIC[..present] {
            return Err(ModelFileError::NotAModel);
        }
        if present < MAGIC.len() {
            return Err(ModelFileError::CutOff { expected: shortest, found: self.delivered });
        }
        self.hasher.update(&magic);
        let found = u32::from_le_bytes(self.array(shortest)?);
        if found != VERSION {
            return Err(ModelFileError::Version { found });
        }
        let header = u64::from_le_bytes(self.array(shortest)?);
        let potentials = u64::from_le_bytes(self.array(shortest)?);
        let numbers = potentials.saturating_mul(size_of::<f64>() as u64);
        let file = shortest.saturating_add(header).saturating_add(numbers);
        Ok(Lengths { header, potentials, file })
    }

    /// The next `length` bytes, piece by piece: a length that the input does not have takes no
    /// memory.
    fn bytes(&mut self, length: u64, file: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut missing = length;
        while missing > 0 {
            let piece = &mut buffer[..missing.min(CHUNK_BYTES as u64) as usize];
            self.part(piece, file)?;
            bytes.extend_from_slice(piece);
            missing -= piece.len() as u64;
        }
        Ok(bytes)
    }

    fn numbers(&mut self, count: u64, file: u64) -> Result<Vec<f64>> {
        const CHUNK: u64 = (CHUNK_BYTES / size_of::<f64>()) as u64;
        let mut numbers: Vec<f64> = Vec::new();
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut missing = count;
        while missing > 0 {
            let next = missing.min(CHUNK);
            let piece = &mut buffer[..next as usize * size_of::<f64>()];
            self.part(piece, file)?;
            numbers.try_reserve(next as usize).map_err(|_| ModelFileError::Memory(count))?;
            let (eights, _) = piece.as_chunks();
            numbers.extend(eights.iter().map(|&eight| f64::from_le_bytes(eight)));
            missing -= next;
        }
        Ok(numbers)
    }

    /// The checksum, and nothing behind it.
    fn end(&mut self, file: u64) -> Result<()> {
        let expected = self.hasher.finalize();
        let found: [u8; CHECKSUM_BYTES as usize] = self.array(file)?;
        if self.fill(&mut [0])? > 0 {
            return Err(ModelFileError::TooLong { expected: file });
        }
        if expected == found { Ok(()) } else { Err(ModelFileError::Checksum) }
    }
}
