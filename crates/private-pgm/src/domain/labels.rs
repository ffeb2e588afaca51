use thiserror::Error;

/// What the values of an attribute mean: their names and, for bins of numbers, their intervals.
///
/// ```
/// use private_pgm::domain::{Domain, Labels};
///
/// let ages = Labels::new(["child", "adult", "missing"])?.with_edges(vec![0.0, 18.0, 120.0])?;
/// assert_eq!(ages.interval(1), Some((18.0, 120.0)));
/// let domain = Domain::new([("age", 3)])?.with_labels("age", ages)?;
/// assert_eq!(domain.label(domain.id("age").unwrap(), 0), "child");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    names: Vec<String>,
    /// Ascending; empty, or one more than values with an interval.
    edges: Vec<f64>,
}

/// Why texts or numbers are no labels of an attribute.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LabelsError {
    /// Two values have the same name.
    #[error("two values are called '{0}'")]
    Duplicate(String),
    /// The number of labels differs from the number of values.
    #[error("{labels} labels for {values} values")]
    Count {
        /// The number of names.
        labels: usize,
        /// The size of the attribute.
        values: usize,
    },
    /// Edges that are not finite and ascending, or too many for the values.
    #[error("edges are finite, ascend, and are at most one more than the values")]
    Edges,
    /// The domain has no such attribute.
    #[error("there is no attribute '{0}'")]
    NoSuchAttribute(String),
}

impl Labels {
    /// The names of all values, which must differ.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Result<Self, LabelsError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(LabelsError::Duplicate(pair[0].clone())),
            None => Ok(Self { names, edges: Vec::new() }),
        }
    }

    /// Value i has the numbers in `[edges[i], edges[i + 1])`. Values after the last edge, such as
    /// one for missing numbers, have none.
    pub fn with_edges(self, edges: Vec<f64>) -> Result<Self, LabelsError> {
        let ascend = edges.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = edges.len() >= 2 && edges.len() <= self.names.len() + 1;
        match fits && ascend && edges.iter().all(|edge| edge.is_finite()) {
            true => Ok(Self { edges, ..self }),
            false => Err(LabelsError::Edges),
        }
    }

    /// One per value.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The ends of the bins; empty if the values are no bins of numbers.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The value with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The numbers of a value: at least the first, and below the second.
    pub fn interval(&self, value: usize) -> Option<(f64, f64)> {
        Some((*self.edges.get(value)?, *self.edges.get(value + 1)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Domain;
    use super::*;

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let two = || Labels::new(["a", "b"]).unwrap();
        assert_eq!(Labels::new(["a", "a"]), Err(LabelsError::Duplicate("a".into())));
        for edges in [vec![1.0], vec![0.0, 1.0, 2.0, 3.0], vec![1.0, 0.0], vec![0.0, f64::NAN]] {
            assert_eq!(two().with_edges(edges), Err(LabelsError::Edges));
        }
        let domain = Domain::new([("x", 3)]).unwrap();
        let refused = domain.clone().with_labels("x", two());
        assert_eq!(refused, Err(LabelsError::Count { labels: 2, values: 3 }));
        let refused = domain.with_labels("y", two());
        assert_eq!(refused, Err(LabelsError::NoSuchAttribute("y".into())));
    }

    #[test]
    fn a_value_without_a_label_is_its_number() {
        let domain = Domain::new([("x", 2), ("y", 2)]).unwrap();
        let labels = Labels::new(["no", "yes"]).unwrap();
        let labelled = domain.clone().with_labels("y", labels).unwrap();
        let [x, y] = ["x", "y"].map(|name| domain.id(name).unwrap());
        assert_eq!((labelled.label(x, 1), labelled.label(y, 1)), ("1".into(), "yes".into()));
        assert_eq!(labelled, domain, "labels are descriptions");
    }
}
