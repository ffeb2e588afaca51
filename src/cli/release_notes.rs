//! What a user is told before a release.

use pgmbench::data::{Availability, Draft, Entry, Missing, Schema};

use super::failure::Failure;
use super::output::note;

/// A release publishes the bounds and values of its schema, so they must not come from the data.
pub(crate) fn refuse_draft(dataset: &str, schema: &Schema) -> Result<(), Failure> {
    match schema.draft {
        true => Err(Failure::input(format!(
            "{dataset}: the schema is a draft with bounds and values taken from the records; check \
             {}; then remove the line `draft = true`",
            Draft::CHECKS
        ))),
        false => Ok(()),
    }
}

pub(crate) fn print_release_notes(
    entry: &Entry,
    dataset: &str,
    has_budget: bool,
    add_remove: bool,
) {
    if !has_budget {
        note(format_args!(
            "note: no budget file, so this release is not added to other releases of {}; see \
             `pgmbench budget create --help`",
            entry.schema().name
        ));
    }
    if entry.availability() == Availability::StandIn {
        note(format_args!("note: {dataset} is a stand-in: its records are already synthetic"));
    }
    if !add_remove && drops(entry.schema()) {
        note(format_args!(
            "note: the schema drops records with missing values; the number of remaining records \
             becomes public without --add-remove"
        ));
    }
}

/// Whether records with missing values are dropped.
fn drops(schema: &Schema) -> bool {
    schema.attributes().iter().any(|attribute| attribute.missing == Missing::Drop)
}
