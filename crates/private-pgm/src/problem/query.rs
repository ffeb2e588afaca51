//! The syntax of queries in problem files.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::place::{
    At, Fields, Place, Read, Step, WholeNumber, elements, fields, read_fields, unknown,
};
use crate::numeric::matrix::Matrix;
use crate::numeric::sparse::CsrMatrix;
use crate::query::{QueryFactor, QueryMatrix};

/// The queries of one measurement.
pub(super) enum RawQuery {
    /// One per attribute.
    Kronecker(Vec<QueryFactor>),
    /// A matrix over the whole marginal.
    Dense(Matrix),
    /// The same, with most entries zero.
    Sparse(CsrMatrix),
}

impl Read for RawQuery {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Query<'p>(&'p Place);
        impl<'de> Visitor<'de> for Query<'_> {
            type Value = RawQuery;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list with one query per attribute, or one matrix")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RawQuery, A::Error> {
                elements(list, self.0).map(RawQuery::Kronecker)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawQuery, A::Error> {
                match fields::<Named, A>(map, self.0)?.0 {
                    Some(QueryFactor::Dense(matrix)) => Ok(RawQuery::Dense(matrix)),
                    Some(QueryFactor::Sparse(matrix)) => Ok(RawQuery::Sparse(matrix)),
                    _ => Err(A::Error::custom("expected matrix or sparse over the whole marginal")),
                }
            }
        }
        from.deserialize_any(Query(place))
    }
}

impl Read for QueryFactor {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Factor<'p>(&'p Place);
        impl<'de> Visitor<'de> for Factor<'_> {
            type Value = QueryFactor;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"identity\", \"prefix\", \"total\", \"ranges\", \"contrasts\" or an object \
                     with matrix, sparse, intervals, evidence, compress or moments",
                )
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<QueryFactor, E> {
                let simple = [
                    QueryFactor::Identity,
                    QueryFactor::Prefix,
                    QueryFactor::Total,
                    QueryFactor::Ranges,
                    QueryFactor::Contrasts,
                ];
                let found = simple.into_iter().find(|factor| factor.name() == name);
                found.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QueryFactor, A::Error> {
                let named: Named = fields(map, self.0)?;
                named.0.ok_or_else(|| A::Error::custom(format_args!("expected {}", Named::KIND)))
            }
        }
        from.deserialize_any(Factor(place))
    }
}

/// A factor as an object with one field, its kind.
#[derive(Default)]
struct Named(Option<QueryFactor>);

impl Fields for Named {
    const KIND: &'static str = "one of matrix, sparse, intervals, evidence, compress or moments";

    fn field<'de, A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        place: &Place,
    ) -> Result<(), A::Error> {
        fn read<'de, T: Read, A: MapAccess<'de>>(
            map: &mut A,
            place: &Place,
        ) -> Result<T, A::Error> {
            map.next_value_seed(At::new(place))
        }
        if self.0.is_some() {
            return Err(A::Error::custom("expected one kind of query, found a second"));
        }
        self.0 = Some(match key {
            "matrix" => QueryFactor::Dense(matrix(read(map, place)?, place)?),
            "sparse" => QueryFactor::Sparse(read::<Sparse, A>(map, place)?.matrix(place)?),
            "intervals" => QueryFactor::Intervals(pairs(read(map, place)?, place)?),
            "evidence" => QueryFactor::Evidence(read::<OneOrMany, A>(map, place)?.0),
            "compress" => QueryFactor::Compress(read(map, place)?),
            "moments" => QueryFactor::Moments(read(map, place)?),
            _ => {
                let known = ["matrix", "sparse", "intervals", "evidence", "compress", "moments"];
                return Err(unknown(key, "query", &known));
            }
        });
        Ok(())
    }
}

fn pairs<E: Error>(lists: Vec<Vec<usize>>, place: &Place) -> Result<Vec<(usize, usize)>, E> {
    let pair = |(index, list): (usize, Vec<usize>)| match list[..] {
        [start, end] => Ok((start, end)),
        _ => place.within(Step::Index(index), || {
            Err(E::custom("expected a pair: the first value and the one after the last"))
        }),
    };
    lists.into_iter().enumerate().map(pair).collect()
}

fn matrix<E: Error>(rows: Vec<Vec<f64>>, place: &Place) -> Result<Matrix, E> {
    let cols = rows.first().map_or(0, Vec::len);
    if cols == 0 {
        return Err(E::custom("expected at least one row and one column, found none"));
    }
    for (index, row) in rows.iter().enumerate() {
        if row.len() != cols {
            let found = row.len();
            return place.within(Step::Index(index), || {
                Err(E::custom(format_args!("expected {cols} numbers as in row 0, found {found}")))
            });
        }
    }
    Ok(Matrix::new(rows.len(), cols, rows.concat()))
}

#[derive(Default)]
struct Sparse {
    columns: Option<usize>,
    rows: Option<Vec<Vec<(usize, f64)>>>,
}

impl Sparse {
    fn matrix<E: Error>(self, place: &Place) -> Result<CsrMatrix, E> {
        let (Some(cols), Some(rows)) = (self.columns, self.rows) else {
            return Err(E::custom("expected columns and rows"));
        };
        let mut matrix = CsrMatrix::new(cols);
        for (index, row) in rows.into_iter().enumerate() {
            if let Some(&(col, _)) = row.iter().find(|entry| entry.0 >= cols) {
                let wrong =
                    || Err(E::custom(format_args!("expected columns below {cols}, found {col}")));
                return place
                    .within(Step::Key("rows".into()), || place.within(Step::Index(index), wrong));
            }
            matrix.push_row(row);
        }
        Ok(matrix)
    }
}

read_fields!(Sparse { columns and rows });

impl Read for (usize, f64) {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Entry<'p>(&'p Place);
        impl<'de> Visitor<'de> for Entry<'_> {
            type Value = (usize, f64);
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pair of a column and its entry")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(usize, f64), A::Error> {
                let column = list.next_element_seed(At::<usize>::new(self.0))?;
                let entry = list.next_element_seed(At::<f64>::new(self.0))?;
                let more = list.next_element::<IgnoredAny>()?.is_some();
                match (column, entry, more) {
                    (Some(column), Some(entry), false) => Ok((column, entry)),
                    _ => Err(A::Error::custom("expected a pair of a column and its entry")),
                }
            }
        }
        from.deserialize_seq(Entry(place))
    }
}

/// `3` or `[1, 3]`.
struct OneOrMany(Vec<usize>);

impl Read for OneOrMany {
    fn read<'de, D: Deserializer<'de>>(from: D, place: &Place) -> Result<Self, D::Error> {
        struct Values<'p>(&'p Place);
        impl<'de> Visitor<'de> for Values<'_> {
            type Value = OneOrMany;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list of values")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<OneOrMany, E> {
                WholeNumber.visit_u64(value).map(|value| OneOrMany(vec![value]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMany, A::Error> {
                elements(list, self.0).map(OneOrMany)
            }
        }
        from.deserialize_any(Values(place))
    }
}

/// A query over a clique, which serialises as the `query` of a measurement whose `attrs` are in
/// axis order.
#[derive(Clone, Copy, Debug)]
pub struct WrittenQuery<'a> {
    /// Its matrix.
    pub query: &'a QueryMatrix,
    /// The number of attributes of its clique.
    pub attributes: usize,
}

impl Serialize for WrittenQuery<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.query.factors() {
            [whole] if self.attributes != 1 => WrittenFactor(whole).serialize(to),
            factors => to.collect_seq(factors.iter().map(WrittenFactor)),
        }
    }
}

struct WrittenFactor<'a>(&'a QueryFactor);

impl Serialize for WrittenFactor<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let name = self.0.name();
        match self.0 {
            QueryFactor::Identity
            | QueryFactor::Prefix
            | QueryFactor::Total
            | QueryFactor::Ranges
            | QueryFactor::Contrasts => to.serialize_str(name),
            QueryFactor::Evidence(values) | QueryFactor::Compress(values) => {
                to.collect_map([(name, values)])
            }
            QueryFactor::Moments(moments) => to.collect_map([(name, moments)]),
            QueryFactor::Dense(matrix) => {
                let rows: Vec<&[f64]> = (0..matrix.rows()).map(|row| matrix.row(row)).collect();
                to.collect_map([(name, rows)])
            }
            QueryFactor::Sparse(matrix) => to.collect_map([(name, WrittenSparse(matrix))]),
            QueryFactor::Intervals(intervals) => to.collect_map([(name, intervals)]),
            // The format has no entry for it; the sparse matrix is equivalent.
            QueryFactor::PIdentity(matrix) => {
                to.collect_map([("sparse", WrittenSparse(&matrix.to_sparse()))])
            }
        }
    }
}

struct WrittenSparse<'a>(&'a CsrMatrix);

impl Serialize for WrittenSparse<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = (0..self.0.rows()).map(|row| self.0.row(row).collect());
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("columns", &self.0.cols())?;
        map.serialize_entry("rows", &rows.collect::<Vec<Vec<(usize, f64)>>>())?;
        map.end()
    }
}
