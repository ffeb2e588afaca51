use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use thiserror::Error;

use crate::wording::closest;

/// Why there is no experiment.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// There is no such file.
    #[error("there is no file {}{}", path.display(), instead(path, existing))]
    Missing {
        /// The path that was asked for.
        path: PathBuf,
        /// The configurations in its folder, sorted.
        existing: Vec<String>,
    },
    /// The file cannot be read, or is not text.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path that was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A mistake at a place in the file.
    #[error(transparent)]
    Invalid(#[from] Box<Mistake>),
}

impl ConfigError {
    /// The message, with the line and a caret below the place where there is one. In colour for
    /// terminals.
    pub fn render(&self, colour: bool) -> String {
        match self {
            ConfigError::Invalid(mistake) => mistake.render(colour),
            other => other.to_string(),
        }
    }
}

/// What could be meant instead of a missing file.
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

/// A mistake, and where it is. `Display` shows the line with a caret, without colour.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Mistake {
    /// The file.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// The bytes that are wrong, within one line of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl Mistake {
    /// The message, the line and a caret, the help.
    pub fn render(&self, colour: bool) -> String {
        let path = printable(&self.path.display().to_string());
        let snippet = Snippet::source(self.text.as_str())
            .path(path)
            .annotation(AnnotationKind::Primary.span(self.span.clone()));
        // The program says "error" itself, as it does for every error.
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

/// The text on one line, with nothing in it that moves the cursor.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
