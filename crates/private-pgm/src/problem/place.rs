//! JSON readers that track the path of the current field.
//!
//! Serde's errors have the line and column, but not the field. These readers push keys and indices
//! to a path and do not pop them on an error, so that the error can name the field.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use crate::closest::closest;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// The path from the outermost value to the current one.
#[derive(Default)]
pub(super) struct Place(RefCell<Vec<Step>>);

pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Place {
    /// Reads a nested value. After an error the path still includes `step`.
    pub(super) fn within<T, E>(
        &self,
        step: Step,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.borrow_mut().push(step);
        let value = read()?;
        self.0.borrow_mut().pop();
        Ok(value)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.borrow().iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if depth == 0 => write!(f, "{}", key.escape_debug())?,
                Step::Key(key) => write!(f, ".{}", key.escape_debug())?,
            }
        }
        Ok(())
    }
}

/// A value that can be read from JSON, given its path for errors.
pub(super) trait Read: Sized {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error>;
}

/// Passes the path through serde.
pub(super) struct At<'p, T>(&'p Place, PhantomData<T>);

impl<'p, T> At<'p, T> {
    pub(super) fn new(place: &'p Place) -> Self {
        Self(place, PhantomData)
    }
}

impl<'de, T: Read> DeserializeSeed<'de> for At<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        T::read(from, self.0)
    }
}

/// Reads the elements of a list, each at its index.
pub(super) fn elements<'de, T: Read, A: SeqAccess<'de>>(
    mut list: A,
    place: &Place,
) -> Result<Vec<T>, A::Error> {
    let mut values = Vec::new();
    while let Some(value) =
        place.within(Step::Index(values.len()), || list.next_element_seed(At::new(place)))?
    {
        values.push(value);
    }
    Ok(values)
}

impl<T: Read> Read for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct List<'p, T>(&'p Place, PhantomData<T>);
        impl<'de, T: Read> Visitor<'de> for List<'_, T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
                elements(list, self.0)
            }
        }
        from.deserialize_seq(List(place, PhantomData))
    }
}

impl<T: Read> Read for Option<T> {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Maybe<'p, T>(&'p Place, PhantomData<T>);
        impl<'de, T: Read> Visitor<'de> for Maybe<'_, T> {
            type Value = Option<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }
            fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }
            fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }
            fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
                T::read(from, self.0).map(Some)
            }
        }
        from.deserialize_option(Maybe(place, PhantomData))
    }
}

impl Read for String {
    fn read<'de, D: Deserializer<'de>>(from: D, _: &Place) -> Result<Self, D::Error> {
        serde::Deserialize::deserialize(from)
    }
}

impl Read for f64 {
    fn read<'de, D: Deserializer<'de>>(from: D, _: &Place) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = f64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
                match value.is_finite() {
                    true => Ok(value),
                    false => Err(E::invalid_value(Unexpected::Float(value), &self)),
                }
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
                Ok(value as f64)
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
                Ok(value as f64)
            }
        }
        from.deserialize_f64(Number)
    }
}

impl Read for usize {
    fn read<'de, D: Deserializer<'de>>(from: D, _: &Place) -> Result<Self, D::Error> {
        from.deserialize_any(WholeNumber)
    }
}

/// A whole number, also in the notation `1e18` or `3.0`.
pub(super) struct WholeNumber;

impl Visitor<'_> for WholeNumber {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<usize, E> {
        usize::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<usize, E> {
        usize::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<usize, E> {
        // Below 2^63 the conversion is exact for a whole number.
        let is_whole = value.fract() == 0.0 && (0.0..9.2e18).contains(&value);
        match is_whole {
            true => Ok(value as usize),
            false => Err(E::invalid_value(Unexpected::Float(value), &self)),
        }
    }
}

/// An object whose fields are read one by one.
pub(super) trait Fields: Default {
    /// The expectation in the error for a value that is not an object.
    const KIND: &'static str;

    /// Reads the value of `key` from `map`.
    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error>;
}

/// Reads all fields of an object, each at its key.
pub(super) fn fields<'de, T: Fields, A: MapAccess<'de>>(
    mut map: A,
    place: &Place,
) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(key) = map.next_key::<String>()? {
        place.within(Step::Key(key.clone()), || object.field(&key, &mut map, place))?;
    }
    Ok(object)
}

/// Reads the value of a field; an error if it occurs twice.
pub(super) fn fill<'de, T: Read, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    map: &mut A,
    place: &Place,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::custom("given twice"));
    }
    *slot = Some(map.next_value_seed(At::new(place))?);
    Ok(())
}

/// Reads an object.
pub(super) fn read_object<'de, T: Fields, D: Deserializer<'de>>(
    from: D,
    place: &Place,
) -> Result<T, D::Error> {
    struct Object<'p, T>(&'p Place, PhantomData<T>);
    impl<'de, T: Fields> Visitor<'de> for Object<'_, T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::KIND)
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            fields(map, self.0)
        }
    }
    from.deserialize_map(Object(place, PhantomData))
}

/// The error for a field that an object does not have: the fields that it has, and the one that was
/// probably meant.
pub(super) fn unknown<E: Error>(key: &str, what: &str, known: &[&str]) -> E {
    let (last, others) = known.split_last().expect("an object has fields");
    let expected = format!("expected {} or {last}", others.join(", "));
    E::custom(match closest(key, known.iter().copied()) {
        Some(meant) => format!("unknown {what}, {expected}; did you mean {meant}?"),
        None => format!("unknown {what}, {expected}"),
    })
}

/// Reads a struct from an object: every field is an `Option` with the name of its key, and other
/// keys are errors.
macro_rules! read_fields {
    ($object:ident { $first:ident $(, $field:ident)* and $last:ident }) => {
        impl $crate::problem::place::Fields for $object {
            const KIND: &'static str = concat!(
                "an object with ",
                stringify!($first), $(", ", stringify!($field),)*
                " and ", stringify!($last)
            );

            fn field<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                key: &str,
                map: &mut A,
                place: &$crate::problem::place::Place,
            ) -> Result<(), A::Error> {
                use $crate::problem::place::{fill, unknown};
                match key {
                    stringify!($first) => fill(&mut self.$first, map, place),
                    $(stringify!($field) => fill(&mut self.$field, map, place),)*
                    stringify!($last) => fill(&mut self.$last, map, place),
                    _ => {
                        let known =
                            [stringify!($first), $(stringify!($field),)* stringify!($last)];
                        Err(unknown(key, "field", &known))
                    }
                }
            }
        }

        $crate::problem::place::read_as_object!($object);
    };
}
pub(super) use read_fields;

/// Reads a type with [`Fields`] from an object.
macro_rules! read_as_object {
    ($object:ident) => {
        impl $crate::problem::place::Read for $object {
            fn read<'de, D: serde::de::Deserializer<'de>>(
                from: D,
                place: &$crate::problem::place::Place,
            ) -> Result<Self, D::Error> {
                $crate::problem::place::read_object(from, place)
            }
        }
    };
}
pub(super) use read_as_object;
