use std::fs;
use std::path::{Path, PathBuf};

use super::error::ReportError;
use super::experiment::Experiment;

/// Levels of folders that the search descends.
const DEPTH: usize = 3;

/// The folder of runs that are kept with the program.
const REFERENCE: &str = "reference";

/// Where the reference runs below a folder of results are, if there are any. [`find`] leaves them
/// out: they are not the user's results. [`find`] in this folder finds them.
pub fn reference_runs(results: &Path) -> Option<PathBuf> {
    let folder = results.join(REFERENCE);
    let is_result = Experiment::read(&folder).is_ok();
    (folder.is_dir() && !is_result).then_some(folder)
}

/// All results below a folder, breadth first. Of several with the same name, only the first is
/// kept: archived results of an earlier run do not appear next to the current ones. Reference runs
/// are left out.
pub fn find(results: &Path) -> Result<Vec<Experiment>, ReportError> {
    let mut experiments: Vec<Experiment> = Vec::new();
    let mut level = vec![results.to_path_buf()];
    let reference = reference_runs(results);
    for _ in 0..DEPTH {
        level = folders_in(&level)?;
        level.retain(|folder| Some(folder) != reference.as_ref());
        for folder in &level {
            let found = match Experiment::read(folder) {
                Err(ReportError::NoManifest { .. }) => continue,
                read => read?,
            };
            if experiments.iter().all(|known| known.name() != found.name()) {
                experiments.push(found);
            }
        }
    }
    match experiments.is_empty() {
        true => Err(ReportError::NothingFound { folder: results.into(), reference }),
        false => Ok(experiments),
    }
}

fn folders_in(level: &[PathBuf]) -> Result<Vec<PathBuf>, ReportError> {
    let mut below = Vec::new();
    for folder in level {
        let entries = fs::read_dir(folder)
            .map_err(|error| ReportError::Unsearchable { folder: folder.clone(), error })?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        below.extend(paths.filter(|path| path.is_dir()));
    }
    below.sort();
    Ok(below)
}
