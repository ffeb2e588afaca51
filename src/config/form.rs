//! Values that may be written in more than one way: `epsilon = 1` or `epsilon = [1, 2]`.
//!
//! serde's own `untagged` would do it too, but forgets where in the file it was.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use toml::Spanned;

/// The ways to write a value: those that are not overridden are refused.
pub(super) trait Form<'de>: Sized {
    /// What is allowed, to follow the word "expected".
    const EXPECTED: &'static str;

    /// From a string.
    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Str(&text), &Self::EXPECTED))
    }

    /// From a number, whole or not.
    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Float(number), &Self::EXPECTED))
    }

    /// From a list.
    fn list<A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(de::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    /// From a table.
    fn table<A: MapAccess<'de>>(_table: A) -> Result<Self, A::Error> {
        Err(de::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// The value, in whichever way it is written.
pub(super) fn deserialize<'de, T: Form<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(AnyForm(PhantomData))
}

struct AnyForm<T>(PhantomData<T>);

impl<'de, T: Form<'de>> Visitor<'de> for AnyForm<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::text(text.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        T::number(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        T::number(number as f64)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        T::number(number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::table(table)
    }
}

/// The fields of a table, as serde derives it.
pub(super) fn fields<'de, T: Deserialize<'de>, A: MapAccess<'de>>(table: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(table))
}

/// One number, or a list of them.
pub(super) struct Numbers(pub(super) Vec<Spanned<f64>>);

enum OneOrMany {
    One(f64),
    Many(Vec<Spanned<f64>>),
}

impl<'de> Form<'de> for OneOrMany {
    const EXPECTED: &'static str = "a number or a list of numbers";

    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Ok(Self::One(number))
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(Self::Many(numbers))
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<OneOrMany>::deserialize(deserializer)?;
        let span = written.span();
        Ok(Self(match written.into_inner() {
            OneOrMany::One(number) => vec![Spanned::new(span, number)],
            OneOrMany::Many(numbers) => numbers,
        }))
    }
}
