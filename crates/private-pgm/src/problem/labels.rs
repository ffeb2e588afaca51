//! The meaning of values in problem files: `labels` and `edges`.

use serde::de::{Deserializer, MapAccess};
use serde::ser::{Serialize, Serializer};

use super::ProblemError;
use super::place::{Fields, Place, Read, fill, read_object};
use crate::domain::{AttributeId, Domain, Labels, LabelsError};

/// A list per attribute.
pub(super) struct RawLists<T>(pub(super) Vec<(String, Vec<T>)>);

impl<T> Default for RawLists<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Read> Fields for RawLists<T> {
    const KIND: &'static str = "an object with a list per attribute";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        let mut list = None;
        fill(&mut list, map, place)?;
        self.0.extend(list.map(|list| (key.to_string(), list)));
        Ok(())
    }
}

impl<T: Read> Read for RawLists<T> {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        read_object(from, place)
    }
}

/// The domain with its labels.
pub(super) fn labelled(
    mut domain: Domain,
    labels: RawLists<String>,
    edges: RawLists<f64>,
) -> Result<Domain, ProblemError> {
    let mut edges = edges.0;
    for (name, names) in labels.0 {
        let place = edges.iter().position(|(attribute, _)| *attribute == name);
        let own_edges = place.map(|place| edges.swap_remove(place).1);
        let labels = Labels::new(names).and_then(|labels| match own_edges {
            Some(edges) => labels.with_edges(edges),
            None => Ok(labels),
        });
        domain = labels.and_then(|labels| domain.with_labels(&name, labels)).map_err(|error| {
            let (part, expected) = match error {
                LabelsError::Edges => ("edges", "ascending numbers, one more than bins".into()),
                LabelsError::NoSuchAttribute(_) => ("labels", "an attribute of the domain".into()),
                LabelsError::Duplicate(_) => ("labels", "different names".into()),
                LabelsError::Count { values, .. } => ("labels", format!("{values} names")),
            };
            let found = match &error {
                LabelsError::Count { labels, .. } => labels.to_string(),
                LabelsError::Duplicate(name) => format!("{name:?} twice"),
                LabelsError::Edges => "others".into(),
                LabelsError::NoSuchAttribute(name) => format!("{name:?}"),
            };
            ProblemError::field(format!("{part}.{}", name.escape_debug()), expected, found)
        })?;
    }
    match edges.first() {
        Some((name, _)) => {
            let field = format!("edges.{}", name.escape_debug());
            Err(ProblemError::field(field, "an attribute that has labels", format!("{name:?}")))
        }
        None => Ok(domain),
    }
}

/// The names or the edges of all attributes that have them, for writing.
pub(super) struct WrittenLists<'a, T>(Vec<(&'a str, &'a [T])>);

impl<'a, T> WrittenLists<'a, T> {
    pub(super) fn new(domain: &'a Domain, list: impl Fn(&'a Labels) -> &'a [T]) -> Self {
        let of = |&id: &AttributeId| Some((domain.name(id), list(domain.labels(id)?)));
        let lists = domain.declared().iter().filter_map(of);
        Self(lists.filter(|(_, list)| !list.is_empty()).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for WrittenLists<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Problem;

    fn with(fields: &str) -> Result<Problem, String> {
        let text = format!(
            r#"{{"domain": {{"age": 3, "sex": 2}}, "total": 9,
                "measurements": [{{"attrs": ["sex"], "y": [4, 5], "stddev": 1}}], {fields}}}"#
        );
        Problem::read(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn labels_and_edges_survive_writing() {
        let labels =
            r#""labels": {"age": ["child", "adult", "missing"]}, "edges": {"age": [0, 18, 99]}"#;
        let problem = with(labels).unwrap();
        let again = Problem::read(problem.to_json().as_bytes()).unwrap();
        for problem in [&problem, &again] {
            let [age, sex] = ["age", "sex"].map(|name| problem.domain.id(name).unwrap());
            let labels = problem.domain.labels(age).unwrap();
            assert_eq!((labels.find("adult"), labels.interval(1)), (Some(1), Some((18.0, 99.0))));
            assert_eq!(labels.interval(2), None);
            assert_eq!(problem.domain.labels(sex), None);
        }
        assert!(!with(r#""zeros": []"#).unwrap().to_json().contains("labels"));
    }

    #[test]
    fn labels_that_do_not_fit_are_refused_with_their_field() {
        for (fields, expected) in [
            (r#""labels": {"sex": ["F"]}"#, "labels.sex: expected 2 names, found 1"),
            (r#""labels": {"sex": ["F", "F"]}"#, "labels.sex: expected different names"),
            (r#""labels": {"height": ["F"]}"#, "labels.height: expected an attribute of the"),
            (r#""edges": {"sex": [0, 1]}"#, "edges.sex: expected an attribute that has labels"),
            (
                r#""labels": {"sex": ["F", "M"]}, "edges": {"sex": [1, 0]}"#,
                "edges.sex: expected ascending numbers",
            ),
            (r#""labels": ["F"]"#, "labels: invalid type"),
            (r#""labels": {"sex": [1, 2]}"#, "labels.sex[0]: invalid type"),
        ] {
            let found = with(fields).unwrap_err();
            assert!(found.contains(expected), "{fields}: {found}");
        }
    }
}
