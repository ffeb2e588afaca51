use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use thiserror::Error;

use crate::did_you_mean::closest;

/// Why an experiment file could not be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("there is no file {}{}", path.display(), instead(path, existing))]
    Missing {
        path: PathBuf,
        /// The TOML files in its folder, sorted.
        existing: Vec<String>,
    },
    /// Includes files that are not UTF-8.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Invalid(#[from] Box<Mistake>),
}

impl ConfigError {
    /// The message; for a mistake in the file, with the line and a caret below the span. `colour`
    /// adds terminal colours.
    pub fn render(&self, colour: bool) -> String {
        match self {
            ConfigError::Invalid(mistake) => mistake.render(colour),
            other => other.to_string(),
        }
    }
}

/// Suggests files from the folder of a missing one.
fn instead(path: &std::path::Path, existing: &[String]) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = |file: &str| file.trim_end_matches(".toml").to_string();
    let stems: Vec<String> = existing.iter().map(|file| stem(file)).collect();
    let list = existing.join(", ");
    match closest(&stem(&name), stems.iter().map(String::as_str)) {
        _ if existing.is_empty() => String::new(),
        Some(meant) => format!("; did you mean {meant}.toml? Its folder has {list}"),
        None => format!("; its folder has {list}"),
    }
}

/// A mistake in a file and its location. `Display` shows the line with a caret, without colour.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Mistake {
    pub path: PathBuf,
    /// The content of the file.
    pub text: String,
    /// A range of bytes within one line of the text.
    pub span: Range<usize>,
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Mistake {
    pub fn render(&self, colour: bool) -> String {
        let path = printable(&self.path.display().to_string());
        let snippet = Snippet::source(self.text.as_str())
            .path(path)
            .annotation(AnnotationKind::Primary.span(self.span.clone()));
        // The command line prefixes every error with "error" itself.
        let mut group =
            Level::ERROR.no_name().primary_title(self.message.as_str()).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// The text with control characters escaped, so that it stays on one line.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
