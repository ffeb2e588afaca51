//! Where workloads come from.

use crate::config::Workload;
use crate::data::Schema;

/// Where the queries of a dataset come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether a publication has them.
    pub published: bool,
    /// A phrase for notes.
    pub note: String,
}

impl Origin {
    /// What the file says; for the workload of the schema, what the schema says. Draws with a
    /// number of queries say so themselves.
    pub(super) fn of(asked: &Workload, schema: &Schema) -> Option<Self> {
        let own = asked.marginals.is_none()
            && asked.every.is_none()
            && asked.random.is_none()
            && asked.queries.is_none();
        let known = schema.workload.as_ref().filter(|_| own);
        let note = asked.origin.clone();
        let note = note.or_else(|| known.and_then(|workload| workload.origin.clone()));
        let published = known.is_some_and(|workload| workload.published);
        Some(Self { published: asked.published.unwrap_or(published), note: note.or(drawn(asked))? })
    }
}

/// The rule of random draws with a number of queries.
fn drawn(asked: &Workload) -> Option<String> {
    let random = asked.random.as_ref()?.as_ref();
    let factor = random.queries_within.as_ref()?.as_ref();
    let (count, size) = (random.marginals.as_ref(), random.size.as_ref());
    Some(format!(
        "drawn uniformly among all choices of {count} sets of {size} attributes whose number of \
         queries is within a factor of {factor} of that of the schema"
    ))
}
