use std::io::{self, Write};
use std::path::Path;

use super::header::Header;
use super::{CHUNK_BYTES, MAGIC, ModelFileError, VERSION, invalid_potential};
use crate::estimation::model::Model;
use crate::storage::NewFile;

impl Model {
    /// Writes the model as a file that [`Model::read`] reads (see [`super`] for the format).
    ///
    /// The file is complete when it appears under its name. On an error nothing is left behind, and
    /// a file that was there before is as it was.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ModelFileError> {
        let mut file = NewFile::create(path)?;
        self.write_to(&mut file)?;
        Ok(file.commit()?)
    }

    /// Writes the bytes of such a file.
    pub fn write_to(&self, output: impl Write) -> Result<(), ModelFileError> {
        self.check()?;
        let header = serde_json::to_vec(&Header::new(self)).map_err(io::Error::from)?;
        let values = self.potentials().values();
        let mut output = Hashing { output, hasher: blake3::Hasher::new() };
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

    /// Whether a reader would accept the numbers.
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

/// Passes bytes on and remembers their checksum.
struct Hashing<W> {
    output: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
