//! The lines of a budget file, each with a hash of itself and all lines before it.

use blake3::{Hash, Hasher};
use serde::{Deserialize, Serialize};

use super::Problem;
use dp::{Guarantee, Neighbours};

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    format: String,
    version: u64,
    notice: String,
    pub dataset: String,
    /// The neighbouring relation of all guarantees.
    pub neighbours: Neighbours,
    /// The maximum cost of all releases together.
    pub total: Guarantee,
    /// RFC 3339.
    pub created: String,
}

const FORMAT: &str = "pgmbench budget";
const VERSION: u64 = 1;
const NOTICE: &str = "internal: tells when and how often data was released; not part of a release";

/// Whether a file with this beginning is a budget file, even a damaged one.
pub fn is_budget_file(beginning: &str) -> bool {
    beginning.starts_with("{\"format\":\"pgmbench budget\"")
}

impl Header {
    pub fn new(dataset: &str, neighbours: Neighbours, total: Guarantee, created: &str) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            notice: NOTICE.into(),
            dataset: dataset.into(),
            neighbours,
            total,
            created: created.into(),
        }
    }

    /// Verifies the first line. A file of another kind or of a later version has its own error, and
    /// is not reported as changed.
    pub(super) fn unseal(line: &str) -> Result<(Self, Hash), Problem> {
        #[derive(Deserialize)]
        struct Start {
            format: String,
            version: u64,
        }
        match serde_json::from_str::<Start>(line) {
            Ok(start) if start.format != FORMAT => Err(Problem::Format),
            Ok(start) if start.version != VERSION => Err(Problem::Version(start.version)),
            Ok(_) => unseal(line, 1, None),
            Err(_) => Err(Problem::Format),
        }
    }
}

/// Written before a release draws any noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// Counted from 1.
    pub number: usize,
    /// The name of the output.
    pub release: String,
    pub mechanism: String,
    /// In the currency of the total.
    pub cost: Guarantee,
    /// RFC 3339.
    pub date: String,
}

/// Written after the release of a charge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The number of the charge.
    pub charge: usize,
    /// The checksum of the released records, as in the release's facts.
    pub records_blake3: String,
    /// RFC 3339.
    pub date: String,
}

/// Any line after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Entry {
    Charge(Charge),
    Completed(Completion),
}

/// Separates the content of a line from its hash, which is the last field.
const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";

/// Writes an object as a line with its hash. `previous` is the hash of the line before.
pub(super) fn seal(
    content: &impl Serialize,
    previous: Option<&Hash>,
) -> Result<(String, Hash), serde_json::Error> {
    let text = serde_json::to_string(content)?;
    let hash = chained(&text, previous);
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok((format!("{open}{HASH}{}{END}\n", hash.to_hex()), hash))
}

/// The object and the hash of a line, if they are what [`seal`] wrote after the line with the hash
/// `previous`.
pub(super) fn unseal<T: for<'a> Deserialize<'a>>(
    line: &str,
    number: usize,
    previous: Option<&Hash>,
) -> Result<(T, Hash), Problem> {
    let changed = || Problem::Changed { line: number };
    let (open, hash) =
        line.strip_suffix(END).and_then(|line| line.rsplit_once(HASH)).ok_or_else(changed)?;
    let text = format!("{open}}}");
    let expected = chained(&text, previous);
    if hash != expected.to_hex().as_str() {
        return Err(changed());
    }
    let content = serde_json::from_str(&text)
        .map_err(|error| Problem::Line { line: number, problem: error.to_string() })?;
    Ok((content, expected))
}

fn chained(text: &str, previous: Option<&Hash>) -> Hash {
    let mut hasher = Hasher::new_derive_key("pgmbench 2026 lines of a budget file");
    if let Some(previous) = previous {
        hasher.update(previous.as_bytes());
    }
    hasher.update(text.as_bytes()).finalize()
}
