use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use sha2::{Digest, Sha256};

use super::DataError;
use private_pgm::numeric::memory::read_at_most;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Without folders.
    pub name: String,
    /// After decompression.
    pub bytes: u64,
    /// After decompression, so that the checksum does not depend on compression.
    pub blake3: String,
    /// After decompression, if the schema has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The content of a file as a stream. It is decompressed if it is in gzip format, under any name,
/// and hashed while it is read.
pub(super) struct Source<'a> {
    /// For messages.
    pub(super) name: String,
    content: Box<dyn Read + 'a>,
    hasher: blake3::Hasher,
    sha256: Option<Sha256>,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &Path) -> Result<Source<'static>, DataError> {
        let file = File::open(path).map_err(|error| DataError::io(path, error))?;
        let name = path.display().to_string();
        Source::new(name.clone(), BufReader::with_capacity(1 << 16, file))
            .map_err(|error| DataError::Io { file: name, error })
    }

    pub(super) fn from_bytes(name: &str, bytes: &'a [u8]) -> Result<Self, DataError> {
        Self::new(name.into(), bytes).map_err(|error| DataError::Io { file: name.into(), error })
    }

    fn new(name: String, mut stored: impl BufRead + 'a) -> io::Result<Self> {
        let compressed = stored.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let content: Box<dyn Read + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(stored)) } else { Box::new(stored) };
        Ok(Self { name, content, hasher: blake3::Hasher::new(), sha256: None })
    }

    /// From a stream, which can be read once; `name` is for messages.
    pub(super) fn from_stream(name: &str, stream: impl Read + 'a) -> Result<Self, DataError> {
        Self::new(name.into(), BufReader::with_capacity(1 << 16, stream))
            .map_err(|error| DataError::Io { file: name.into(), error })
    }

    /// The first bytes, at most `count`, which are read again afterwards.
    pub(super) fn peek(&mut self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut start = Vec::new();
        self.content
            .by_ref()
            .take(count)
            .read_to_end(&mut start)
            .map_err(|error| DataError::Io { file: self.name.clone(), error })?;
        let rest = std::mem::replace(&mut self.content, Box::new(io::empty()));
        self.content = Box::new(io::Cursor::new(start.clone()).chain(rest));
        Ok(start)
    }

    /// Also computes a SHA-256 checksum from here on.
    pub(super) fn with_sha256(self) -> Self {
        Self { sha256: Some(Sha256::new()), ..self }
    }

    /// At most `limit` bytes after decompression.
    pub(super) fn read_all(self, limit: u64) -> Result<Vec<u8>, DataError> {
        read_at_most(self.content, limit).map_err(|error| DataError::Io { file: self.name, error })
    }

    /// Call after the content has been read to its end.
    pub(super) fn into_facts(self) -> SourceFile {
        let name = match self.name.rsplit(['/', '\\']).next() {
            Some(last) => last.to_string(),
            None => self.name,
        };
        SourceFile {
            name,
            bytes: self.hasher.count(),
            blake3: self.hasher.finalize().to_hex().to_string(),
            sha256: self
                .sha256
                .map(|hasher| hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(&buffer[..count]);
        }
        Ok(count)
    }
}
