use std::io::{self, Write};

use super::header::Header;
use super::{CHUNK_BYTES, MAGIC, ModelFileError, VERSION, invalid_potential};
use crate::model::Model;

impl Model {
    /// Writes the model in the [format of model files](crate::model::file).
    pub fn write(&self, output: impl Write) -> Result<(), ModelFileError> {
        self.check()?;
        let header = serde_json::to_vec(&Header::new(self)).map_err(io::Error::from)?;
        let values = self.potentials().values();
        let mut output = HashingWriter { output, hasher: blake3::Hasher::new() };
        output.write_all(&MAGIC)?;
        output.write_all(&VERSION.to_le_bytes())?;
        output.write_all(&(header.len() as u64).to_le_bytes())?;
        output.write_all(&(values.len() as u64).to_le_bytes())?;
        output.write_all(&header)?;
        let mut bytes = Vec::with_capacity(CHUNK_BYTES);
        for chunk in values.chunks(CHUNK_BYTES / size_of::<f64>()) {
            bytes.clear();
            bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            output.write_all(&bytes)?;
        }
        let checksum = output.hasher.finalize();
        Ok(output.output.write_all(checksum.as_bytes())?)
    }

    /// Checks the total and the potentials as a reader does.
    fn check(&self) -> Result<(), ModelFileError> {
        if !(self.total() > 0.0 && self.total().is_finite()) {
            return Err(ModelFileError::Total(self.total()));
        }
        for (index, clique) in self.layout().cliques().iter().enumerate() {
            if let Some((cell, value)) = invalid_potential(self.potentials().table(index)) {
                let clique = self.domain().names(clique).into_iter().map(String::from).collect();
                return Err(ModelFileError::Potential { clique, cell, value });
            }
        }
        Ok(())
    }
}

/// A writer that hashes the bytes that pass through it.
struct HashingWriter<W> {
    output: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
