use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::written::{NotASetting, unknown_word};
use super::{Algorithm, OracleKind};
use crate::loss::Norm;

/// A setting that is one of a few names: the same in TOML, in JSON and on a command line.
pub trait Choice: Copy + 'static {
    /// The name of the setting.
    const SETTING: &'static str;
    /// All choices, with the defaults of their own settings.
    const ALL: &'static [Self];
    /// The names of [`Choice::ALL`].
    const NAMES: &'static [&'static str];

    /// How it is written.
    fn name(self) -> &'static str;

    /// What it is, for help texts.
    fn summary(self) -> &'static str;

    /// The choice with this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name)
    }
}

/// A name, as text for a file.
struct Name<T>(T);

impl<'de, T: Choice> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameVisitor<T>(std::marker::PhantomData<T>);
        impl<T: Choice> de::Visitor<'_> for NameVisitor<T> {
            type Value = Name<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Name<T>, E> {
                let found = T::named(text).map(Name);
                found.ok_or_else(|| unknown_word(T::SETTING, text, T::NAMES))
            }
        }
        from.deserialize_str(NameVisitor(std::marker::PhantomData))
    }
}

macro_rules! written_by_name {
    ($($choice:ty),*) => {$(
        impl FromStr for $choice {
            type Err = NotASetting;

            fn from_str(text: &str) -> Result<Self, NotASetting> {
                let expected = || Self::NAMES.join(", ");
                Self::named(text).ok_or_else(|| NotASetting::new(Self::SETTING, text, expected()))
            }
        }

        impl fmt::Display for $choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        /// The name alone.
        impl Serialize for $choice {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $choice {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Name::deserialize(from).map(|name| name.0)
            }
        }
    )*};
}

written_by_name!(Algorithm, Norm, OracleKind);
