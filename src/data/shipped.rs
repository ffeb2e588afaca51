/// A dataset inside the binary, which can be loaded from any directory.
#[derive(Debug)]
pub(super) struct Shipped {
    /// Of the dataset and of its folder.
    pub(super) name: &'static str,
    /// Name and content.
    files: &'static [(&'static str, &'static [u8])],
}

impl Shipped {
    pub(super) fn file(&self, name: &str) -> Option<&'static [u8]> {
        self.files.iter().find(|(file, _)| *file == name).map(|(_, bytes)| *bytes)
    }
}

macro_rules! shipped {
    ($name:literal: $($file:literal),+) => {
        Shipped {
            name: $name,
            files: &[$(($file, include_bytes!(concat!("../../datasets/", $name, "/", $file)))),+],
        }
    };
}

/// The datasets of this project. A dataset in the folder `datasets` is found there; a line here
/// makes it part of the binary as well.
pub(super) const SHIPPED: &[Shipped] = &[
    shipped!("adult": "schema.toml", "adult.data.gz", "adult.test.gz"),
    shipped!("czech": "schema.toml", "czech.txt"),
    shipped!("edwards": "schema.toml", "edwards.txt"),
    shipped!("fire": "schema.toml"),
    shipped!("loans": "schema.toml", "stand-in/manifest.toml", "stand-in/records.bin.gz"),
    shipped!("msnbc": "schema.toml"),
    shipped!("nettrace": "schema.toml"),
    shipped!("nltcs": "schema.toml"),
    shipped!("rochdale": "schema.toml", "rochdale.txt"),
    shipped!("salary": "schema.toml"),
    shipped!("search-logs": "schema.toml"),
    shipped!("social-network": "schema.toml"),
    shipped!("stroke": "schema.toml", "stand-in/manifest.toml", "stand-in/records.bin.gz"),
    shipped!("titanic": "schema.toml", "titanic.csv"),
];
