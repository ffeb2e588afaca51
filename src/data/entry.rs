use std::io;
use std::path::{Path, PathBuf};

use super::describe::Description;
use super::lines::Lines;
use super::schema::{Schema, SchemaError, TableForm};
use super::shipped::{SHIPPED, Shipped};
use super::source::Source;
use super::stored::{self, Manifest, StandIn};
use super::table::read_table;
use super::{DataError, Dataset, generate};
use crate::atomic_file::Existing;
use crate::limits;

pub(super) const SCHEMA: &str = "schema.toml";
pub(super) const IMPORTED: &str = "imported";
/// The folder of stand-ins, next to the schema, in the format of an import.
const STAND_IN: &str = "stand-in";

/// A dataset of the registry.
#[derive(Debug)]
pub struct Entry {
    schema: Schema,
    schema_text: String,
    home: Home,
    imported: PathBuf,
    /// `None` if the schema is embedded in the binary.
    schema_file: Option<PathBuf>,
    /// The file of a user's own schema: its data is not imported under a name.
    own_schema: Option<PathBuf>,
}

#[derive(Debug)]
enum Home {
    Folder(PathBuf),
    Binary(&'static Shipped),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// In files next to the schema, or in the binary.
    Here,
    Imported,
    /// A stand-in is used until the files are imported.
    StandIn,
    /// Records are not available until the files are imported.
    NotImported,
}

/// A stored import or stand-in.
#[derive(Clone, Debug)]
pub struct Import {
    pub folder: PathBuf,
    pub manifest: Manifest,
    /// Whether the records have the fingerprint of the schema: `false` for another edition of the
    /// data, `None` if the schema has no fingerprint.
    pub as_expected: Option<bool>,
}

impl Entry {
    /// `path` is a schema.
    pub(super) fn from_file(path: &Path) -> Result<Self, DataError> {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let imported = folder.join(IMPORTED);
        let entry = Self::new(Source::open(path)?, Home::Folder(folder), imported)?;
        Ok(Self { schema_file: Some(path.to_path_buf()), ..entry })
    }

    /// `path` is a schema. Only the path identifies the dataset, except if it has the name of one
    /// that ships.
    pub(super) fn from_path(path: &Path) -> Result<Self, DataError> {
        let entry = Self::from_file(path)?;
        let ships = SHIPPED.iter().any(|shipped| shipped.name == entry.schema.name);
        Ok(Self { own_schema: (!ships).then(|| path.to_path_buf()), ..entry })
    }

    /// Imports are stored in `imported`.
    pub(super) fn from_binary(
        shipped: &'static Shipped,
        imported: PathBuf,
    ) -> Result<Self, DataError> {
        let home = Home::Binary(shipped);
        Self::new(home.open(SCHEMA)?, home, imported)
    }

    fn new(schema: Source<'static>, home: Home, imported: PathBuf) -> Result<Self, DataError> {
        let file = schema.name.clone();
        let parsed = String::from_utf8(schema.read_all(limits::TEXT)?)
            .map_err(|_| SchemaError::NotText)
            .and_then(|text| Ok((Schema::parse(&text)?, text)));
        match parsed {
            Ok((schema, schema_text)) => Ok(Self {
                schema,
                schema_text,
                home,
                imported,
                schema_file: None,
                own_schema: None,
            }),
            Err(error) => Err(DataError::Schema { file, error }),
        }
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The budget file that the schema declares.
    pub fn budget_file(&self) -> Option<PathBuf> {
        let folder = self.schema_file.as_ref()?.parent()?;
        self.schema.budget.as_ref().map(|name| folder.join(name))
    }

    /// Every file that the dataset may be read from, and its budget file, each with a description.
    /// Some may not exist.
    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let mut files = Vec::new();
        files.extend(self.schema_file.iter().map(|file| ("the schema", file.clone())));
        if let Home::Folder(folder) = &self.home {
            let names = self.schema.table.files.iter().map(|file| folder.join(&file.name));
            files.extend(names.map(|file| ("a file with the data", file)));
        }
        for folder in [self.import_files(), self.stand_in_files()] {
            files.extend(folder.map(|file| ("a file of stored records", file)));
        }
        files.extend(self.budget_file().map(|file| ("the budget file", file)));
        files
    }

    /// What [`Self::import`] writes.
    pub fn import_files(&self) -> [PathBuf; 2] {
        stored_files(&self.imported)
    }

    /// What [`Self::store_stand_in`] writes.
    pub fn stand_in_files(&self) -> [PathBuf; 2] {
        stored_files(&self.stand_in_folder())
    }

    fn stand_in_folder(&self) -> PathBuf {
        match &self.home {
            Home::Folder(folder) => folder.join(STAND_IN),
            Home::Binary(_) => self.imported.with_file_name(STAND_IN),
        }
    }

    pub fn availability(&self) -> Availability {
        if self.schema.table.files.iter().all(|file| self.home.has(&file.name)) {
            Availability::Here
        } else if stored::exists(&self.imported) {
            Availability::Imported
        } else if self.schema.generator.is_some()
            || self.home.has(&format!("{STAND_IN}/{}", stored::MANIFEST))
        {
            Availability::StandIn
        } else {
            Availability::NotImported
        }
    }

    /// The records of the files of the schema, else of an import, else of a stand-in.
    pub fn load(&self) -> Result<Dataset, DataError> {
        let files = &self.schema.table.files;
        match self.availability() {
            Availability::Here => {
                let sources = files.iter().map(|file| self.home.open(&file.name));
                read_table(&self.schema, sources.collect::<Result<_, _>>()?)
            }
            Availability::Imported => {
                let open = |file: &str| Source::open(&self.imported.join(file));
                stored::read(open, &self.schema, &self.schema_text)
            }
            Availability::StandIn => match &self.schema.generator {
                Some(generator) => Ok(generate::records(&self.schema, generator)),
                None => {
                    let open = |file: &str| self.home.open(&format!("{STAND_IN}/{file}"));
                    stored::read(open, &self.schema, &self.schema_text)
                }
            },
            Availability::NotImported => Err(self.not_here()),
        }
    }

    /// The columns of the first file, from the schema or from its header line. `None` if the file
    /// is not here, or has counts instead of records.
    pub fn columns(&self) -> Result<Option<Vec<String>>, DataError> {
        let table = &self.schema.table;
        let Some(file) = table.files.first().filter(|file| self.home.has(&file.name)) else {
            return Ok(table.columns.clone());
        };
        match (table.form, &table.columns) {
            (TableForm::Counts, _) => Ok(None),
            (_, Some(columns)) => Ok(Some(columns.clone())),
            (_, None) => Lines::new(self.home.open(&file.name)?, table).read_header().map(Some),
        }
    }

    /// The error if there are no records and no stand-in.
    fn not_here(&self) -> DataError {
        let files = || self.schema.table.files.iter().map(|file| file.name.clone());
        let missing = files().find(|file| !self.home.has(file));
        match (&self.own_schema, missing) {
            (Some(schema), Some(file)) => DataError::NoFile {
                file: schema.with_file_name(file).display().to_string(),
                schema: schema.display().to_string(),
            },
            _ => DataError::NotImported {
                name: self.schema.name.clone(),
                files: files().collect(),
                source_of_data: self.schema.source.clone().unwrap_or("its source".into()),
            },
        }
    }

    /// The records of `files`, which correspond to the files of the schema in order. They may have
    /// other names and be compressed.
    pub fn load_files(&self, files: &[PathBuf]) -> Result<Dataset, DataError> {
        let (expected, found) = (self.schema.table.files.len(), files.len());
        if expected != found {
            let name = self.schema.name.clone();
            return Err(DataError::FileCount { name, expected, found });
        }
        let sources = files.iter().map(|file| Source::open(file));
        read_table(&self.schema, sources.collect::<Result<_, _>>()?)
    }

    /// Checks and discretises `files` (see [`Self::load_files`]) and stores the result, which
    /// [`Self::load`] then uses. `existing` decides what happens to an earlier import.
    pub fn import(&self, files: &[PathBuf], existing: Existing) -> Result<Import, DataError> {
        let dataset = self.load_files(files)?;
        let manifest = stored::write(&self.imported, &dataset, &self.schema_text, None, existing)?;
        let expected = self.schema.expected.fingerprint.as_ref();
        let as_expected = expected.map(|expected| *expected == manifest.fingerprint);
        Ok(Import { folder: self.imported.clone(), manifest, as_expected })
    }

    /// Stores a stand-in next to the schema. Only for data whose schema is in a folder.
    /// An existing stand-in is never replaced: it is a release.
    pub fn store_stand_in(&self, records: &Dataset, made: StandIn) -> Result<Import, DataError> {
        let folder = self.stand_in_folder();
        let (text, made) = (&self.schema_text, Some(made));
        let manifest = stored::write(&folder, records, text, made, Existing::Kept)?;
        Ok(Import { folder, manifest, as_expected: None })
    }

    pub fn describe(&self) -> Result<Description, DataError> {
        Ok(Description::new(&self.schema, &self.load()?))
    }
}

fn stored_files(folder: &Path) -> [PathBuf; 2] {
    [stored::RECORDS, stored::MANIFEST].map(|name| folder.join(name))
}

impl Home {
    fn has(&self, file: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(file).is_file(),
            Self::Binary(shipped) => shipped.file(file).is_some(),
        }
    }

    fn open(&self, file: &str) -> Result<Source<'static>, DataError> {
        match self {
            Self::Folder(folder) => Source::open(&folder.join(file)),
            Self::Binary(shipped) => {
                let name = format!("{}/{file}", shipped.name);
                match shipped.file(file) {
                    Some(bytes) => Source::from_bytes(&name, bytes),
                    None => {
                        Err(DataError::Io { file: name, error: io::ErrorKind::NotFound.into() })
                    }
                }
            }
        }
    }
}
