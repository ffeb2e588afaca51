use super::ProblemError;
use super::place::read_fields;
use super::raw::from_json;
use super::resolve::{attributes, required};
use crate::domain::{AttributeId, Domain};
use crate::query::{QueryError, QueryFactor};

/// A factored query Q_1 x ... x Q_d: one matrix per listed attribute, the others summed out.
///
/// A file of them is a JSON list of objects with the fields `attrs` and `query` of a measurement:
///
/// ```json
/// [ {"attrs": ["age", "sex"], "query": ["prefix", {"evidence": 1}]} ]
/// ```
///
/// The number of attributes is not limited: a model answers the query without a table over all of
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct FactoredQuery {
    /// The attributes in the order of the file, each with its matrix.
    pub factors: Vec<(AttributeId, QueryFactor)>,
}

#[derive(Default)]
struct RawFactored {
    attrs: Option<Vec<String>>,
    query: Option<Vec<QueryFactor>>,
}

impl FactoredQuery {
    /// Parses a file of queries.
    pub fn list_from_json(text: &[u8], domain: &Domain) -> Result<Vec<Self>, ProblemError> {
        let listed: Vec<RawFactored> = from_json(text)?;
        let listed = listed.into_iter().enumerate();
        listed.map(|(index, raw)| raw.resolve(domain, &format!("[{index}]"))).collect()
    }

    /// The number of answers along each attribute, in the order of the file.
    pub fn shape(&self, domain: &Domain) -> Vec<usize> {
        self.factors.iter().map(|(id, factor)| factor.rows(domain.size(*id))).collect()
    }
}

impl RawFactored {
    fn resolve(self, domain: &Domain, field: &str) -> Result<FactoredQuery, ProblemError> {
        let attrs = required(self.attrs, &format!("{field}.attrs"), "a list of attributes")?;
        let ids = attributes(domain, &attrs, field)?;
        let query = required(self.query, &format!("{field}.query"), "a list of queries")?;
        if query.len() != ids.len() {
            let reason = QueryError::FactorCount { expected: ids.len(), found: query.len() };
            return Err(ProblemError::Query { field: format!("{field}.query"), reason });
        }
        for (position, (factor, &id)) in query.iter().zip(&ids).enumerate() {
            factor.check(domain.size(id)).map_err(|reason| ProblemError::Query {
                field: format!("{field}.query[{position}]"),
                reason: QueryError::Factor { position: Some(position), reason },
            })?;
        }
        Ok(FactoredQuery { factors: ids.into_iter().zip(query).collect() })
    }
}

read_fields!(RawFactored { attrs and query });

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<FactoredQuery>, String> {
        let domain = Domain::new([("age", 12), ("sex", 2)]).unwrap();
        FactoredQuery::list_from_json(text.as_bytes(), &domain).map_err(|error| error.to_string())
    }

    #[test]
    fn factored_queries_keep_the_order_of_the_file() {
        let text = r#"[{"attrs": ["age", "sex"], "query": ["prefix", {"evidence": 1}]},
                       {"attrs": [], "query": []}]"#;
        let queries = list(text).unwrap();
        let domain = Domain::new([("age", 12), ("sex", 2)]).unwrap();
        let (age, sex) = (domain.id("age").unwrap(), domain.id("sex").unwrap());
        let expected = [(age, QueryFactor::Prefix), (sex, QueryFactor::Evidence(vec![1]))];
        assert_eq!(queries[0].factors, expected);
        assert_eq!(queries[0].shape(&domain), [12, 1]);
        assert!(queries[1].factors.is_empty());
    }

    #[test]
    fn errors_name_the_field() {
        let cases = [
            (r#"{"attrs": []}"#, "expected a list"),
            (r#"[{"attrs": ["age"]}]"#, "[0].query: expected a list of queries"),
            (r#"[{"attrs": ["height"], "query": ["prefix"]}]"#, "[0].attrs[0]: expected an attr"),
            (r#"[{"attrs": ["age"], "query": []}]"#, "[0].query: expected one factor per attr"),
            (r#"[{"attrs": ["age"], "query": ["all"]}]"#, "[0].query[0]: invalid value"),
            (r#"[{"attrs": ["sex"], "query": [{"evidence": 2}]}]"#, "[0].query[0]: expected val"),
            (r#"[{"attrs": ["sex", "sex"], "query": ["total", "total"]}]"#, "[0].attrs[1]"),
            (r#"[{"attrs": [], "query": [], "y": []}]"#, "[0].y: unknown field"),
            (r#"[{"attrs": []"#, "EOF"),
        ];
        for (text, expected) in cases {
            let found = list(text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}
