//! The lines of a budget file, each chained to those before it.

use blake3::{Hash, Hasher};
use serde::{Deserialize, Serialize};

use super::Problem;
use dp::{Guarantee, Neighbours};

/// The first line: which budget this is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    format: String,
    version: u64,
    notice: String,
    /// The name of the dataset.
    pub dataset: String,
    /// The relation that all guarantees are about.
    pub neighbours: Neighbours,
    /// What all releases together may cost.
    pub total: Guarantee,
    /// When the file was created, as RFC 3339.
    pub created: String,
}

const FORMAT: &str = "pgmbench budget";
const VERSION: u64 = 1;
const NOTICE: &str = "internal: tells when and how often data was released; not part of a release";

/// Whether a file with this beginning is a budget file, damaged or not.
pub fn is_budget_file(beginning: &str) -> bool {
    beginning.starts_with("{\"format\":\"pgmbench budget\"")
}

impl Header {
    /// The beginning of a new file.
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

    /// Reads the first line. A file of another kind, or of a later version, is called that and not
    /// damaged.
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

/// What a release was charged, before it drew any noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// Counted from 1.
    pub number: usize,
    /// The name of the output.
    pub release: String,
    /// The mechanism.
    pub mechanism: String,
    /// The cost, in the currency of the total.
    pub cost: Guarantee,
    /// When, as RFC 3339.
    pub date: String,
}

/// That the release of a charge was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The number of the charge.
    pub charge: usize,
    /// The checksum of the released records, as in the file beside them.
    pub records_blake3: String,
    /// When, as RFC 3339.
    pub date: String,
}

/// Every line but the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Entry {
    Charge(Charge),
    Completed(Completion),
}

/// Between a line and its hash, which comes last.
const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";

/// An object as a line with its hash, and the hash. `previous` is that of the line before.
pub(super) fn seal(
    content: &impl Serialize,
    previous: Option<&Hash>,
) -> Result<(String, Hash), serde_json::Error> {
    let text = serde_json::to_string(content)?;
    let hash = chained(&text, previous);
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok((format!("{open}{HASH}{}{END}\n", hash.to_hex()), hash))
}

/// The object of a line, and its hash, if both are as [`seal`] wrote them after the line with the
/// hash `previous`.
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
