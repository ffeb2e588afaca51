use std::fmt;
use std::str::FromStr;

use serde::de::{self, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::written::{self, NotASetting, Written, number};
use crate::optimiser::StepSize;

const WORDS: &[&str] = &["auto", "line-search", "constant", "decreasing"];

impl StepSize {
    /// The size of a constant or of a first step, where one is given.
    pub(super) fn size(self) -> Option<f64> {
        match self {
            Self::Auto | Self::LineSearch => None,
            Self::Constant(size) | Self::Decreasing(size) => size,
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "line-search" => Some(Self::LineSearch),
            "constant" => Some(Self::Constant(None)),
            "decreasing" => Some(Self::Decreasing(None)),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::LineSearch => "line-search",
            Self::Constant(_) => "constant",
            Self::Decreasing(_) => "decreasing",
        }
    }
}

impl FromStr for StepSize {
    type Err = NotASetting;

    fn from_str(text: &str) -> Result<Self, NotASetting> {
        let decreasing = text.strip_prefix("decreasing=").and_then(number);
        Self::from_word(text)
            .or_else(|| number(text).map(|step| Self::Constant(Some(step))))
            .or_else(|| decreasing.map(|first| Self::Decreasing(Some(first))))
            .ok_or_else(|| NotASetting::new("step", text, Self::EXPECTED))
    }
}

impl fmt::Display for StepSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(Some(step)) => write!(f, "{step}"),
            Self::Decreasing(Some(first)) => write!(f, "decreasing={first}"),
            other => f.write_str(other.word()),
        }
    }
}

/// A first step of this size.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decreasing {
    decreasing: f64,
}

impl Serialize for StepSize {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Constant(Some(step)) => to.serialize_f64(step),
            Self::Decreasing(Some(decreasing)) => Decreasing { decreasing }.serialize(to),
            other => to.serialize_str(other.word()),
        }
    }
}

impl Written for StepSize {
    const EXPECTED: &'static str = "auto, line-search, constant, decreasing, a number (a constant \
                                    step) or a first step such as { decreasing = 1.0 }";

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        Self::from_word(text).ok_or_else(|| written::unknown_word("step", text, WORDS))
    }

    fn from_number(number: f64) -> Self {
        Self::Constant(Some(number))
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        let Decreasing { decreasing } =
            Deserialize::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(Self::Decreasing(Some(decreasing)))
    }
}

impl<'de> Deserialize<'de> for StepSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        written::deserialize(from)
    }
}
