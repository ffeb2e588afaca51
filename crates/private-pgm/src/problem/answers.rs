//! Answers as a list, or as nested lists with one level per attribute.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::place::{At, Place, Read, Step};

/// Numbers in row-major order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answers {
    pub(super) values: Vec<f64>,
    /// The lengths of the lists, from the outermost.
    pub(super) shape: Vec<usize>,
}

/// An element of a list.
enum Element {
    Number(f64),
    List(Answers),
}

impl Read for Answers {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct List<'p>(&'p Place);
        impl<'de> Visitor<'de> for List<'_> {
            type Value = Answers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Answers, A::Error> {
                elements(list, self.0)
            }
        }
        from.deserialize_seq(List(place))
    }
}

impl Read for Element {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Either<'p>(&'p Place);
        impl<'de> Visitor<'de> for Either<'_> {
            type Value = Element;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Element, E> {
                match value.is_finite() {
                    true => Ok(Element::Number(value)),
                    false => Err(E::custom("expected a finite number")),
                }
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Element, E> {
                Ok(Element::Number(value as f64))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Element, E> {
                Ok(Element::Number(value as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Element, A::Error> {
                elements(list, self.0).map(Element::List)
            }
        }
        from.deserialize_any(Either(place))
    }
}

/// All elements are numbers, or lists of one shape.
fn elements<'de, A: SeqAccess<'de>>(mut list: A, place: &Place) -> Result<Answers, A::Error> {
    let (mut values, mut count) = (Vec::new(), 0);
    let mut inner: Option<Vec<usize>> = None;
    while let Some(shape) = place.within(Step::Index(count), || {
        let Some(element) = list.next_element_seed(At::<Element>::new(place))? else {
            return Ok(None);
        };
        let shape = match element {
            Element::Number(value) => {
                values.push(value);
                Vec::new()
            }
            Element::List(answers) => {
                values.extend(answers.values);
                answers.shape
            }
        };
        match &inner {
            Some(expected) if *expected != shape => Err(A::Error::custom(format_args!(
                "expected {}, as before it, found {}",
                described(expected),
                described(&shape)
            ))),
            _ => Ok(Some(shape)),
        }
    })? {
        inner = Some(shape);
        count += 1;
    }
    let shape = [vec![count], inner.unwrap_or_default()].concat();
    Ok(Answers { values, shape })
}

pub(super) fn described(shape: &[usize]) -> String {
    match shape {
        [] => "a number".into(),
        [length] => format!("a list of {length}"),
        _ => {
            let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!("lists of shape {}", lengths.join(" x "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Problem;

    fn with(measurement: &str) -> Result<Problem, String> {
        let text = format!(
            r#"{{"domain": {{"age": 3, "sex": 2}}, "total": 9,
                "measurements": [{{{measurement}, "stddev": 1}}]}}"#
        );
        Problem::read(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn nested_lists_are_those_of_the_attributes_in_order() {
        let flat =
            r#""attrs": ["sex", "age"], "query": ["identity", "identity"], "y": [1,2,3,4,5,6]"#;
        let nested = r#""attrs": ["sex", "age"], "y": [[1, 2, 3], [4, 5, 6]]"#;
        assert_eq!(with(flat).unwrap().measurements, with(nested).unwrap().measurements);
        let prefix = r#""attrs": ["age", "sex"], "query": ["total", "prefix"], "y": [[1, 2]]"#;
        assert_eq!(with(prefix).unwrap().measurements[0].y, [1.0, 2.0]);
    }

    #[test]
    fn nested_lists_of_another_shape_are_refused() {
        for (measurement, expected) in [
            (
                r#""attrs": ["sex", "age"], "y": [[1, 2], [3, 4], [5, 6]]"#,
                "measurements[0].y: expected lists of shape 2 x 3 (2 identity x 3 identity), found \
                 lists of shape 3 x 2",
            ),
            (
                r#""attrs": ["sex", "age"], "y": [[1, 2, 3], [4, 5]]"#,
                "measurements[0].y[1]: expected a list of 3, as before it, found a list of 2",
            ),
            (
                r#""attrs": ["sex", "age"], "y": [[1, 2, 3], 4]"#,
                "measurements[0].y[1]: expected a list of 3, as before it, found a number",
            ),
            (
                r#""attrs": ["sex"], "query": {"matrix": [[1, 1]]}, "y": [[1]]"#,
                "measurements[0].y: expected one list of numbers (the rows of the matrix)",
            ),
            (
                r#""attrs": ["sex", "age"], "y": [1, 2]"#,
                "measurements[0].y: expected 6 numbers (2 identity x 3 identity), found 2",
            ),
        ] {
            let found = with(measurement).unwrap_err();
            assert!(found.contains(expected), "{measurement}: {found}");
        }
    }
}
