//! Stored records, imported or stand-ins: `records.bin.gz`, the codes column by column in declared
//! order (see [`Column::to_bytes`]), and `manifest.toml`, their description.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::column::Column;
use super::schema::Schema;
use super::source::{Source, SourceFile};
use super::{DataError, Dataset, Provenance};
use crate::atomic_file::{Existing, NewFile};
use crate::limits;
use private_pgm::model::Projectable;

pub(super) const MANIFEST: &str = "manifest.toml";
pub(super) const RECORDS: &str = "records.bin.gz";

/// An import, or a stand-in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub dataset: String,
    pub rows: usize,
    /// Rows without a value that the schema requires.
    pub dropped: usize,
    /// `rows` minus `dropped`.
    pub records: usize,
    /// [`Dataset::fingerprint`].
    pub fingerprint: String,
    /// Of the schema by which the files were discretised.
    pub schema_blake3: String,
    /// Of the stored codes before compression.
    pub records_blake3: String,
    /// By attribute, the number of values outside its bounds or its list.
    pub outside: BTreeMap<String, usize>,
    pub sources: Vec<SourceFile>,
    /// How the records were generated, for a stand-in.
    pub stand_in: Option<StandIn>,
}

/// The origin of a stand-in that was made from a private release of the real data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// The mechanism of the private release.
    pub mechanism: String,
    pub epsilon: f64,
    pub delta: f64,
    /// `replace` or `add-remove`. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<String>,
    /// Of the noise: `operating-system`. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomness: Option<String>,
    /// The version of the program.
    pub made_by: String,
}

pub(super) fn exists(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// Stores the records. The manifest comes last, so that a broken import is no import; where another
/// one is to be kept, nothing is written.
pub(super) fn write(
    folder: &Path,
    dataset: &Dataset,
    schema_text: &str,
    stand_in: Option<StandIn>,
    existing: Existing,
) -> Result<Manifest, DataError> {
    let declared = dataset.domain().declared();
    let codes: Vec<u8> = declared.iter().flat_map(|&id| dataset.column(id).to_bytes()).collect();
    let provenance = dataset.provenance();
    let manifest = Manifest {
        dataset: dataset.name().into(),
        rows: provenance.rows,
        dropped: provenance.dropped,
        records: dataset.len(),
        fingerprint: dataset.fingerprint(),
        schema_blake3: checksum(schema_text.as_bytes()),
        records_blake3: checksum(&codes),
        outside: provenance.outside.clone(),
        sources: provenance.sources.clone(),
        stand_in,
    };
    let failed = |error| DataError::io(folder, error);
    fs::create_dir_all(folder).map_err(failed)?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    compressed.write_all(&codes).map_err(failed)?;
    let compressed = compressed.finish().map_err(failed)?;
    let text = toml::to_string(&manifest).map_err(|error| failed(std::io::Error::other(error)))?;
    let stage = |name: &str, content: &[u8]| {
        let file = folder.join(name);
        let staged = NewFile::start(&file, existing).and_then(|mut new| {
            new.write_all(content)?;
            Ok(new)
        });
        staged.map_err(|error| DataError::io(&file, error))
    };
    let (codes, told) = (stage(RECORDS, &compressed)?, stage(MANIFEST, text.as_bytes())?);
    if existing == Existing::Replaced && exists(folder) {
        fs::remove_file(folder.join(MANIFEST)).map_err(failed)?;
    }
    codes.commit().and_then(|()| told.commit()).map_err(failed)?;
    Ok(manifest)
}

/// Reads what [`write`] has stored. `open` opens files of the folder.
pub(super) fn read<'a>(
    open: impl Fn(&str) -> Result<Source<'a>, DataError>,
    schema: &Schema,
    schema_text: &str,
) -> Result<Dataset, DataError> {
    let problem = |file: &str, problem: String| DataError::Stored {
        name: schema.name.clone(),
        file: file.to_string(),
        problem,
    };
    let text = open(MANIFEST)?.read_all(limits::TEXT)?;
    let manifest: Manifest = toml::from_slice(&text)
        .map_err(|error: toml::de::Error| problem(MANIFEST, error.to_string()))?;
    // A stand-in depends on the attributes only. Other parts of the schema may change.
    if manifest.stand_in.is_none() && manifest.schema_blake3 != checksum(schema_text.as_bytes()) {
        return Err(problem(MANIFEST, "the schema has changed since the import".into()));
    }
    let of_one: usize = schema.attributes().iter().map(|a| Column::new(a.size()).width()).sum();
    let expected = (manifest.records as u64).saturating_mul(of_one as u64);
    let codes = open(RECORDS)?.read_all(expected.min(limits::data_bytes()))?;
    if manifest.records_blake3 != checksum(&codes) {
        return Err(problem(RECORDS, "the checksum is not that of the manifest".into()));
    }
    let columns = decode(schema, &codes, manifest.records)
        .ok_or_else(|| problem(RECORDS, "the codes do not fit the schema".into()))?;
    let provenance = Provenance {
        sources: manifest.sources,
        stand_in: schema.stand_in || manifest.stand_in.is_some(),
        rows: manifest.rows,
        dropped: manifest.dropped,
        outside: manifest.outside,
    };
    Ok(Dataset::from_declared(&schema.name, schema.domain(), columns, provenance))
}

fn decode(schema: &Schema, mut codes: &[u8], records: usize) -> Option<Vec<Column>> {
    let take = |a: &super::AttributeSchema| Column::take(&mut codes, records, a.size());
    let columns: Option<Vec<Column>> = schema.attributes().iter().map(take).collect();
    columns.filter(|_| codes.is_empty())
}

fn checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
