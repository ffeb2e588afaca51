use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::entry::{Entry, IMPORTED, SCHEMA};
use super::shipped::SHIPPED;
use super::{DataError, Dataset};

/// The datasets that have a name: the folders with a `schema.toml` in one root folder, and those
/// inside the binary.
///
/// A folder takes precedence over a dataset of the same name in the binary. Imports are stored in
/// the folder `imported` of the dataset's folder under the root, which is created if needed.
#[derive(Clone, Debug)]
pub struct Registry {
    root: PathBuf,
}

impl Default for Registry {
    /// The folder `datasets` of the current directory.
    fn default() -> Self {
        Self::new("datasets")
    }
}

impl Registry {
    /// `root` need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// In alphabetical order.
    pub fn names(&self) -> Result<Vec<String>, DataError> {
        let mut names: Vec<String> = SHIPPED.iter().map(|shipped| shipped.name.into()).collect();
        let folders = match fs::read_dir(&self.root) {
            Ok(folders) => Some(folders),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(DataError::io(&self.root, error)),
        };
        for folder in folders.into_iter().flatten() {
            let folder = folder.map_err(|error| DataError::io(&self.root, error))?;
            if folder.path().join(SCHEMA).is_file() {
                names.extend(folder.file_name().to_str().map(String::from));
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// In alphabetical order of their names.
    pub fn entries(&self) -> Result<Vec<Entry>, DataError> {
        self.names()?.iter().map(|name| self.entry(name)).collect()
    }

    /// The dataset with this name. An argument that ends in `.toml` or contains a path separator is
    /// the path of a schema or of its folder.
    pub fn entry(&self, name_or_path: &str) -> Result<Entry, DataError> {
        if name_or_path.ends_with(".toml") {
            return Entry::from_path(Path::new(name_or_path));
        }
        if name_or_path.contains(['/', '\\']) {
            return Entry::from_path(&Path::new(name_or_path).join(SCHEMA));
        }
        let folder = self.root.join(name_or_path);
        if folder.join(SCHEMA).is_file() {
            return Entry::from_file(&folder.join(SCHEMA));
        }
        match SHIPPED.iter().find(|shipped| shipped.name == name_or_path) {
            Some(shipped) => Entry::from_binary(shipped, folder.join(IMPORTED)),
            None if Path::new(name_or_path).is_file() => {
                Err(DataError::NotASchema { file: name_or_path.into() })
            }
            None => {
                let (name, known) = (name_or_path.into(), self.names()?);
                Err(DataError::UnknownDataset { name, known })
            }
        }
    }

    /// `name_or_path` as in [`Self::entry`].
    pub fn load(&self, name_or_path: &str) -> Result<Dataset, DataError> {
        self.entry(name_or_path)?.load()
    }
}
