//! Settings as people write them: a word, a number, or a small table.
//!
//! A derived `untagged` enum would read them too, but its errors lose the line of the file.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{self, MapAccess, Unexpected, Visitor};
use thiserror::Error;

/// A text that is not a value of its setting.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", message(setting, text, expected))]
pub struct NotASetting {
    /// The setting.
    pub setting: &'static str,
    /// What was written.
    pub text: String,
    /// What can be written.
    pub expected: String,
}

/// Spellings of earlier releases: the setting, the word, and what to write today.
const REPLACED: &[(&str, &str, &str)] =
    &[("step", "search", "line-search"), ("loss", "auto", "l2")];

impl NotASetting {
    pub(super) fn new(setting: &'static str, text: &str, expected: impl Into<String>) -> Self {
        Self { setting, text: text.into(), expected: expected.into() }
    }
}

fn message(setting: &str, text: &str, expected: &str) -> String {
    match replacement(setting, text) {
        Some(today) => format!("{text:?} is no longer a {setting}; write {today}"),
        None => format!("expected {expected}, found {text:?}"),
    }
}

fn replacement(setting: &str, text: &str) -> Option<&'static str> {
    let found = REPLACED.iter().find(|(known, word, _)| *known == setting && *word == text);
    found.map(|&(_, _, today)| today)
}

/// The error of a deserializer about a word that is none of `words`.
pub(super) fn unknown_word<E: de::Error>(
    setting: &'static str,
    text: &str,
    words: &'static [&'static str],
) -> E {
    match replacement(setting, text) {
        Some(_) => E::custom(NotASetting::new(setting, text, "")),
        None => E::unknown_variant(text, words),
    }
}

/// A finite number as written on a command line.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The ways to write a value.
pub(super) trait Written: Sized {
    /// What is allowed, to follow the word "expected".
    const EXPECTED: &'static str;

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E>;

    fn from_number(number: f64) -> Self;

    fn from_table<'de, A: MapAccess<'de>>(_table: A) -> Result<Self, A::Error> {
        Err(de::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

pub(super) fn deserialize<'de, T: Written, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_any(WrittenVisitor(PhantomData))
}

struct WrittenVisitor<T>(PhantomData<T>);

impl<'de, T: Written> Visitor<'de> for WrittenVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Ok(T::from_number(number as f64))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Ok(T::from_number(number as f64))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Ok(T::from_number(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::from_table(table)
    }
}
