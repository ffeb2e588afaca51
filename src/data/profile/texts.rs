use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::super::infer::Draft;
use super::super::schema::quote;
use super::{Proposal, Verdict};

/// Distinct texts that are counted at most.
const COUNTED: usize = 100_000;
/// Bytes of the distinct texts that are counted at most.
const COUNTED_BYTES: usize = 100_000_000;
/// Values that the proposal for a column with too many of them lists at most (our choice).
const LISTED: usize = 20;
/// Distinct texts from which on a column, if they are more than half of its records, is left out
/// (our choice).
const MANY: usize = 10;

/// The distinct texts of a column.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// `None` if there are more than [`COUNTED`], or [`COUNTED_BYTES`].
    counts: Option<HashMap<String, usize>>,
    bytes: usize,
    has_repeated: bool,
}

impl Default for Texts {
    fn default() -> Self {
        Self { counts: Some(HashMap::new()), bytes: 0, has_repeated: false }
    }
}

/// Spellings that differ in capitals only.
struct Value<'a> {
    /// The most frequent one.
    name: &'a str,
    others: Vec<&'a str>,
    records: usize,
}

impl Texts {
    pub(super) fn add(&mut self, text: &str) {
        let Some(counts) = &mut self.counts else { return };
        if let Some(count) = counts.get_mut(text) {
            *count += 1;
            self.has_repeated = true;
        } else if counts.len() == COUNTED || self.bytes + text.len() > COUNTED_BYTES {
            self.counts = None;
        } else {
            self.bytes += text.len();
            counts.insert(text.into(), 1);
        }
    }

    pub(super) fn all_differ(&self) -> bool {
        !self.has_repeated
    }

    /// A list of values, or none for a column with too many.
    pub(super) fn verdict(&self, records: usize, has_missing: bool) -> Verdict {
        let missing = if has_missing { "missing = \"code\"\n" } else { "" };
        let values = self.counts.as_ref().map(values).unwrap_or_default();
        let count = values.len();
        if count == 0 {
            let reason = format!(
                "it has more than {COUNTED} different values, or long ones; group them first"
            );
            return Verdict::LeftOut { reason, proposal: None };
        }
        if count <= Draft::MAX_VALUES && (count <= MANY || 2 * count <= records) {
            return Verdict::Attribute(categorical(&values, "", missing));
        }
        let reason = format!("it has {count} different values in {records} records");
        let mut frequent: Vec<Value> = values.into_iter().filter(|v| v.records > 1).collect();
        if frequent.is_empty() {
            let reason = format!("{reason} (an identifier, or free text?)");
            return Verdict::LeftOut { reason, proposal: None };
        }
        frequent.sort_by_key(|value| (Reverse(value.records), value.name));
        frequent.truncate(LISTED);
        frequent.sort_by_key(|value| value.name);
        let mut proposal = categorical(&frequent, "other = \"other\"\n", missing);
        proposal.comments.push(
            "The list has the most frequent values of the records; for a release, write one that \
             is public."
                .into(),
        );
        Verdict::LeftOut { reason, proposal: Some(proposal) }
    }
}

fn categorical(values: &[Value], other: &str, missing: &str) -> Proposal {
    let list = |texts: &[&str]| {
        let quoted: Vec<String> = texts.iter().map(|text| quote(text)).collect();
        format!("[{}]", quoted.join(", "))
    };
    let names: Vec<&str> = values.iter().map(|value| value.name).collect();
    let mut settings = format!("kind = \"categorical\"\nvalues = {}\n", list(&names));
    let mut comments = Vec::new();
    let several = values.iter().filter(|value| !value.others.is_empty());
    let several = several.map(|value| list(&[&[value.name], &value.others[..]].concat()));
    let several: Vec<String> = several.collect();
    if !several.is_empty() {
        settings += &format!("spellings = [{}]\n", several.join(", "));
        comments
            .push("Check `spellings`: texts that differ in capitals only are one value.".into());
    }
    settings += other;
    settings += missing;
    Proposal { comments, settings, more: Vec::new() }
}

/// In alphabetical order.
fn values(counts: &HashMap<String, usize>) -> Vec<Value<'_>> {
    let mut groups: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (text, &count) in counts {
        groups.entry(text.to_lowercase()).or_default().push((text, count));
    }
    let mut values: Vec<Value> = Vec::with_capacity(groups.len());
    for (_, mut spellings) in groups {
        spellings.sort_by_key(|&(text, count)| (Reverse(count), text));
        let records = spellings.iter().map(|&(_, count)| count).sum();
        let mut names = spellings.into_iter().map(|(text, _)| text);
        let Some(name) = names.next() else { continue };
        values.push(Value { name, others: names.collect(), records });
    }
    values.sort_by_key(|value| value.name);
    values
}
