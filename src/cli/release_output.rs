//! Writing a release: as CSV with its facts, or as a stand-in next to the schema.

use dp::{Delta, Epsilon, Neighbours};
use pgmbench::data::{Dataset, Entry, RecordWriter, StandIn, ValueForm};
use pgmbench::experiment::{ERROR_BAR_CONFIDENCE, ErrorBar, ReleaseMechanism, SyntheticRelease};
use private_pgm::model::Projectable;
use rand::SeedableRng;
use rand::rngs::SysRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::release_files::RecordFiles;

const MADE_BY: &str = concat!("pgmbench ", env!("CARGO_PKG_VERSION"));

/// The guarantee of a release.
#[derive(Clone, Copy)]
pub(crate) struct ReleaseTerms {
    pub(crate) epsilon: Epsilon,
    pub(crate) delta: Delta,
    pub(crate) neighbours: Neighbours,
    pub(crate) mechanism: ReleaseMechanism,
}

pub(crate) enum Destination {
    Files(RecordFiles, ValueForm),
    StandIn,
}

/// A release that was written.
pub(crate) struct Written {
    pub(crate) records_blake3: String,
    /// For the terminal.
    pub(crate) summary: String,
}

impl Destination {
    /// The name of the release in a budget file.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Files(files, _) => files.records_path().display().to_string(),
            Self::StandIn => "stand-in".into(),
        }
    }

    pub(crate) fn write(
        &self,
        entry: &Entry,
        terms: &ReleaseTerms,
        release: &SyntheticRelease,
    ) -> Result<Written, Failure> {
        match self {
            Self::Files(files, form) => write_files(files, *form, entry, terms, release),
            Self::StandIn => store_stand_in(entry, terms, release),
        }
    }
}

fn write_files(
    files: &RecordFiles,
    form: ValueForm,
    entry: &Entry,
    terms: &ReleaseTerms,
    release: &SyntheticRelease,
) -> Result<Written, Failure> {
    let out = files.records_path().display();
    let cannot_write = || format!("cannot write {out}");
    let records = &release.records;
    let ledger = serde_json::to_value(release.ledger.lines()).internal_at(cannot_write())?;
    let csv = csv(entry, form, records).internal_at(cannot_write())?;
    let records_blake3 = blake3::hash(&csv).to_hex().to_string();
    files.write(&csv, || {
        json!({
            "dataset": entry.schema().name,
            "records": records.len(),
            "records_blake3": records_blake3,
            "epsilon": terms.epsilon.get(),
            "delta": terms.delta.get(),
            "neighbours": terms.neighbours,
            "mechanism": terms.mechanism.name(),
            "randomness": release.randomness,
            "made_by": MADE_BY,
            "error_bars": error_bars(release),
            "ledger": ledger,
        })
    })?;
    let bars = error_bar_summary(release);
    let summary = format!(
        "written  {out}: {}\n\
         {bars}private  ({}, {})-differentially, noise from the operating system; {} lists {}\n",
        Count(records.len(), "synthetic record"),
        terms.epsilon.get(),
        terms.delta.get(),
        files.facts_path().display(),
        Count(release.ledger.lines().len(), "draw")
    );
    Ok(Written { records_blake3, summary })
}

fn store_stand_in(
    entry: &Entry,
    terms: &ReleaseTerms,
    release: &SyntheticRelease,
) -> Result<Written, Failure> {
    let facts = StandIn {
        mechanism: terms.mechanism.name().into(),
        epsilon: terms.epsilon.get(),
        delta: terms.delta.get(),
        neighbours: Some(variant_name(&terms.neighbours)),
        randomness: Some(variant_name(&release.randomness)),
        made_by: MADE_BY.into(),
    };
    let records = &release.records;
    let stored = entry.store_stand_in(records, facts).internal()?;
    let summary = format!(
        "stored   {} in {}\n",
        Count(records.len(), "synthetic record"),
        stored.folder.display()
    );
    Ok(Written { records_blake3: stored.manifest.records_blake3, summary })
}

/// The bounds on the marginals' L1 errors in records, from the release alone. Null if the mechanism
/// has none.
fn error_bars(release: &SyntheticRelease) -> serde_json::Value {
    let bar = |bar: &ErrorBar| {
        json!({
            "attributes": release.records.domain().names(&bar.clique),
            "l1_at_most": bar.bound.l1,
            "from": bar.bound.source.name(),
        })
    };
    match &release.error_bars[..] {
        [] => serde_json::Value::Null,
        bars => json!({
            "confidence": ERROR_BAR_CONFIDENCE,
            "records": release.total,
            "marginals": bars.iter().map(bar).collect::<Vec<_>>(),
        }),
    }
}

/// A line with the median over the marginals of each size; empty if there are no error bars.
fn error_bar_summary(release: &SyntheticRelease) -> String {
    let largest = release.error_bars.iter().map(|bar| bar.clique.len()).max().unwrap_or(0);
    let median = |size: usize| {
        let of_size = release.error_bars.iter().filter(|bar| bar.clique.len() == size);
        let mut bounds: Vec<f64> = of_size.map(|bar| bar.bound.l1).collect();
        bounds.sort_by(f64::total_cmp);
        let median = bounds.get(bounds.len() / 2)? / release.total;
        Some(format!("{size}-way {:.1} %", 100.0 * median))
    };
    let medians: Vec<String> = (1..=largest).filter_map(median).collect();
    match medians.is_empty() {
        true => String::new(),
        false => format!(
            "errors   with {} % confidence the counts of a marginal differ from the true ones, in \
             sum, by at most (median): {} of the records\n",
            100.0 * ERROR_BAR_CONFIDENCE,
            medians.join(", ")
        ),
    }
}

/// The serialised name of a variant.
fn variant_name(variant: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().to_string()
}

/// The records as a file. The draws within bins depend on the released records alone, so that they
/// cost nothing.
fn csv(entry: &Entry, form: ValueForm, records: &Dataset) -> anyhow::Result<Vec<u8>> {
    let writer = RecordWriter::new(entry.schema(), form, entry.columns()?)?;
    let column = |&id| (0..records.len()).map(|record| records.code(record, id)).collect();
    let codes: Vec<Vec<u32>> = records.domain().declared().iter().map(column).collect();
    Ok(writer.write(&codes, &mut ChaCha20Rng::try_from_rng(&mut SysRng)?)?)
}
