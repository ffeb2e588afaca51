use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a chart could not be drawn or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Width or height is outside of `min..=max`.
    #[error(
        "cannot draw a figure of {width} x {height} units: width and height must be between {min} \
         and {max}"
    )]
    Size { width: f64, height: f64, min: f64, max: f64 },
    #[error("cannot encode the figure as PNG: {reason}")]
    Encoding { reason: String },
    #[error("cannot encode the figure as PDF: {0}")]
    Pdf(io::Error),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}
