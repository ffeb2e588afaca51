//! Values with more than one notation: `epsilon = 1` or `epsilon = [1, 2]`.
//!
//! serde's `untagged` does not keep the location of errors in the file.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use toml::Spanned;

/// The notations of a value. The default implementations refuse theirs.
pub(super) trait Form<'de>: Sized {
    /// The allowed notations, for messages that continue after the word "expected".
    const EXPECTED: &'static str;

    fn text<E: de::Error>(text: String) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Str(&text), &Self::EXPECTED))
    }

    /// From an integer or a float.
    fn number<E: de::Error>(number: f64) -> Result<Self, E> {
        Err(E::invalid_type(Unexpected::Float(number), &Self::EXPECTED))
    }

    fn list<A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(de::Error::invalid_type(Unexpected::Seq, &Self::EXPECTED))
    }

    fn table<A: MapAccess<'de>>(_table: A) -> Result<Self, A::Error> {
        Err(de::Error::invalid_type(Unexpected::Map, &Self::EXPECTED))
    }
}

/// Accepts every notation that `T` implements.
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

/// Deserializes a table by the derived implementation of `T`.
pub(super) fn fields<'de, T: Deserialize<'de>, A: MapAccess<'de>>(table: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(table))
}

/// A table, and no list of its values in their order, which serde would take too.
struct TableOf<T>(T);

impl<'de, T: Deserialize<'de>> Form<'de> for TableOf<T> {
    const EXPECTED: &'static str = "a table";

    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        fields(table).map(Self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TableOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

/// For fields that are tables.
pub(super) fn table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    TableOf::deserialize(deserializer).map(|table| table.0)
}

/// For fields that are tables or absent.
pub(super) fn optional_table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    table(deserializer).map(Some)
}

/// For fields that are tables with a place, or absent.
pub(super) fn spanned_table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Spanned<T>>, D::Error> {
    let table = Spanned::<TableOf<T>>::deserialize(deserializer)?;
    let span = table.span();
    Ok(Some(Spanned::new(span, table.into_inner().0)))
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
