use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The size is not one that can be drawn.
    #[error("a picture of {width} x {height} units: each must be between {least} and {most}")]
    Size {
        /// The width that was asked for.
        width: f64,
        /// The height that was asked for.
        height: f64,
        /// The least of either.
        least: f64,
        /// The most of either.
        most: f64,
    },
    /// The picture could not be packed.
    #[error("cannot encode the picture: {reason}")]
    Encoding {
        /// What the encoder says.
        reason: String,
    },
    /// The picture could not be stored.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}
