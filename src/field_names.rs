//! The names of a struct's fields, from its own deserializer.

use serde::de::value::Error as NamesError;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// In the order of the struct, with their names in files. Empty for a type that is no struct.
pub(crate) fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The struct passes its field names to the deserializer, which then fails: no value is needed.
    let _ = T::deserialize(FieldNames(&mut names));
    names
}

/// A deserializer that records the field names of a struct and fails.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = NamesError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NamesError> {
        Err(NamesError::custom("only names are of interest"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NamesError> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
