use pgmbench::comparison::{Comparison, chart, page};
use pgmbench::figures::{Size, png, svg};

use super::failure::{Failure, ResultExt};
use super::output_file::OutputFile;

/// Writes a page, or a picture by the end of the name.
pub(crate) fn write_comparison(file: &OutputFile, comparison: &Comparison) -> Result<(), Failure> {
    let cannot_write = || format!("cannot write {}", file.path().display());
    let chart = chart(comparison);
    let size = Size::natural(&chart);
    let content = match file.path().extension().and_then(|end| end.to_str()) {
        Some("svg") => svg(&chart, size).into_bytes(),
        Some("png") => png(&chart, size).internal_at(cannot_write())?,
        _ => page(comparison).internal_at(cannot_write())?.into_bytes(),
    };
    file.write(&content)
}
