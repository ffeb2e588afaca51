//! The experiment files of this project, inside the binary, so that they run from any folder.

use super::source::Source;

/// An experiment file: its name without extension, and its text.
pub type ShippedFile = (&'static str, &'static str);

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../configs/", $name, ".toml")))),+]
    };
}

/// All files of `configs`; a test compares the list with the folder.
pub static SHIPPED: &[ShippedFile] = shipped![
    "aim-fig",
    "aim-scale",
    "aim-skewed",
    "aim-target",
    "error-bars",
    "estimators",
    "fig1-lbfgs",
    "fig1-limits",
    "fig1-workloads",
    "fig1",
    "fig2a",
    "fig2b",
    "fig3",
    "kdd-fig511",
    "kdd-fig521",
    "kdd-fig522",
    "kdd-fig531",
    "kdd-fig532",
    "kdd-tables",
    "pmw-accuracy",
    "pmw-large",
    "pmw-rounds",
    "pmw-vs",
    "rates",
    "residual-planner",
    "smoke",
    "table1",
];

impl Source {
    /// The file of this project with this name, without extension.
    pub fn shipped(name: &str) -> Option<Self> {
        let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Some(Self { path: format!("configs/{name}.toml").into(), text: (*text).into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_folder_are_shipped_and_none_needs_another_file() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/configs");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        let shipped: Vec<String> = SHIPPED.iter().map(|(name, _)| format!("{name}.toml")).collect();
        assert_eq!(shipped, names);
        for (name, _) in SHIPPED {
            let experiment = Source::shipped(name).unwrap().parse().unwrap();
            assert!(experiment.datasets.iter().all(|data| data.schema.is_none()), "{name}");
            assert_eq!(experiment.name.as_ref(), name);
        }
    }
}
