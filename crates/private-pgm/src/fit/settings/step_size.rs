use std::fmt;
use std::str::FromStr;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::written::{self, NotASetting, Written, number};
use crate::optimiser::StepSize;

const WORDS: &[&str] = &["auto", "line-search", "constant", "decreasing", "inverse-root"];

impl StepSize {
    /// The size of a constant or of a first step, where one is given.
    pub(super) fn size(self) -> Option<f64> {
        match self {
            Self::Auto | Self::LineSearch => None,
            Self::Constant(size) | Self::Decreasing(size) | Self::InverseRoot(size) => size,
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "line-search" => Some(Self::LineSearch),
            "constant" => Some(Self::Constant(None)),
            "decreasing" => Some(Self::Decreasing(None)),
            "inverse-root" => Some(Self::InverseRoot(None)),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::LineSearch => "line-search",
            Self::Constant(_) => "constant",
            Self::Decreasing(_) => "decreasing",
            Self::InverseRoot(_) => "inverse-root",
        }
    }
}

impl FromStr for StepSize {
    type Err = NotASetting;

    fn from_str(text: &str) -> Result<Self, NotASetting> {
        let first = |word: &str| text.strip_prefix(word)?.strip_prefix('=').and_then(number);
        Self::from_word(text)
            .or_else(|| number(text).map(|step| Self::Constant(Some(step))))
            .or_else(|| first("decreasing").map(|first| Self::Decreasing(Some(first))))
            .or_else(|| first("inverse-root").map(|first| Self::InverseRoot(Some(first))))
            .ok_or_else(|| NotASetting::new("step", text, Self::EXPECTED))
    }
}

impl fmt::Display for StepSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(Some(step)) => write!(f, "{step}"),
            Self::Decreasing(Some(first)) | Self::InverseRoot(Some(first)) => {
                write!(f, "{}={first}", self.word())
            }
            other => f.write_str(other.word()),
        }
    }
}

/// A first step of this size: one of the two.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct FirstStep {
    #[serde(skip_serializing_if = "Option::is_none")]
    decreasing: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inverse_root: Option<f64>,
}

impl Serialize for StepSize {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Constant(Some(step)) => to.serialize_f64(step),
            Self::Decreasing(decreasing @ Some(_)) => {
                FirstStep { decreasing, inverse_root: None }.serialize(to)
            }
            Self::InverseRoot(inverse_root @ Some(_)) => {
                FirstStep { decreasing: None, inverse_root }.serialize(to)
            }
            other => to.serialize_str(other.word()),
        }
    }
}

impl Written for StepSize {
    const EXPECTED: &'static str = "auto, line-search, constant, decreasing, inverse-root, a number \
                                    (a constant step) or a first step such as { decreasing = 1.0 }";

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        Self::from_word(text).ok_or_else(|| written::unknown_word("step", text, WORDS))
    }

    fn from_number(number: f64) -> Self {
        Self::Constant(Some(number))
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        match FirstStep::deserialize(de::value::MapAccessDeserializer::new(table))? {
            FirstStep { decreasing: first @ Some(_), inverse_root: None } => {
                Ok(Self::Decreasing(first))
            }
            FirstStep { decreasing: None, inverse_root: first @ Some(_) } => {
                Ok(Self::InverseRoot(first))
            }
            _ => Err(de::Error::custom(
                "a first step is one number: { decreasing = 1.0 } or { inverse-root = 1.0 }",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for StepSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        written::deserialize(from)
    }
}
