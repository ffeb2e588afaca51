use std::path::Path;

use pgmbench::comparison::{Comparison, chart, page};
use pgmbench::figures::{Size, png, svg};

use super::failure::{Failure, ResultExt};
use super::output_file::OutputFile;

/// Refuses a name that says neither page nor picture.
pub(crate) fn check_name(file: &OutputFile) -> Result<(), Failure> {
    match extension(file.path()) {
        Some("html" | "htm" | "svg" | "png") => Ok(()),
        _ => Err(Failure::input(format!(
            "cannot write {}: expected a name that ends in .html (a page), .svg or .png \
             (a picture)",
            file.path().display()
        ))),
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|end| end.to_str())
}

/// Writes a page, or a picture by the end of the name.
pub(crate) fn write_comparison(file: &OutputFile, comparison: &Comparison) -> Result<(), Failure> {
    let cannot_write = || format!("cannot write {}", file.path().display());
    let chart = chart(comparison);
    let size = Size::natural(&chart);
    let content = match extension(file.path()) {
        Some("svg") => svg(&chart, size).into_bytes(),
        Some("png") => png(&chart, size).internal_at(cannot_write())?,
        _ => page(comparison).internal_at(cannot_write())?.into_bytes(),
    };
    file.write(&content)
}
