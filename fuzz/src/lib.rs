//! What fuzzing feeds with bytes: every reader of a file that a user may hand us. A target says
//! whether the reader has accepted them; it must not panic, hang, or take memory out of proportion.
//!
//! The same functions are called by `cargo fuzz` (nightly) and by `drive`, which needs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use dp::{Delta, Epsilon, Guarantee, Ledger, Neighbours, Rho};
use pgmbench::config::Source;
use pgmbench::data::{Registry, Schema, infer};
use pgmbench::results::Metric;
use pgmbench::results::manifest::Manifest;
use pgmbench::results::store::{Recorded, read_ledger};
use pgmbench::results::summary::Summary;
use private_pgm::domain::{Clique, Domain};
use private_pgm::model::Model;
use private_pgm::problem::{FactoredQuery, Problem};

/// A reader, and where files are that it accepts.
pub struct Target {
    /// What `drive` and `cargo fuzz` call it.
    pub name: &'static str,
    /// Whether it accepts the bytes.
    pub read: fn(&[u8]) -> bool,
    /// Files to begin with, relative to this package; a folder stands for its files.
    pub seeds: &'static [&'static str],
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "configuration",
        read: configuration,
        seeds: &["../configs", "../src/config/tests/everything.toml"],
    },
    Target { name: "table", read: table, seeds: &["seeds/table"] },
    Target {
        name: "schema",
        read: schema,
        seeds: &[
            "../datasets/adult/schema.toml",
            "../datasets/titanic/schema.toml",
            "seeds/schema/every.toml",
        ],
    },
    Target {
        name: "problem",
        read: problem,
        seeds: &[
            "../docs/example.json",
            "../crates/private-pgm/tests/golden/chain.json",
            "seeds/problem",
        ],
    },
    Target { name: "model", read: model, seeds: &["seeds/model"] },
    Target { name: "results", read: results, seeds: &["seeds/results"] },
    Target { name: "ledger", read: ledger, seeds: &["seeds/ledger"] },
];

/// An experiment file and the message about its mistakes.
pub fn configuration(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let source = Source { path: PathBuf::from("fuzz.toml"), text };
    match source.parse() {
        Err(error) => {
            let _ = error.render(true);
            false
        }
        Ok(experiment) => {
            let quick = experiment.quick.clone();
            let _ = experiment.changed(&quick);
            true
        }
    }
}

/// A CSV file: read by a schema that uses every kind of setting, and drafted a schema for.
pub fn table(bytes: &[u8]) -> bool {
    let folder = Folder::new();
    let file = folder.file("table.csv", bytes);
    folder.file("schema.toml", include_bytes!("../seeds/schema/every.toml"));
    let entry =
        Registry::new("no such folder").entry(&folder.path("schema.toml")).expect("a schema");
    let data = entry.load_files(std::slice::from_ref(&file));
    if let Ok(draft) = infer(&file) {
        Schema::parse(&draft.schema).expect("a drafted schema is one");
    }
    data.is_ok_and(|data| !data.fingerprint().is_empty())
}

/// A schema.
pub fn schema(bytes: &[u8]) -> bool {
    let Ok(schema) = Schema::parse(&String::from_utf8_lossy(bytes)) else { return false };
    for attribute in schema.attributes() {
        let _ = attribute.label(0);
        let _ = attribute.label(attribute.size() as u32);
    }
    true
}

/// A problem file, or a list of factored queries.
pub fn problem(bytes: &[u8]) -> bool {
    let problem = Problem::from_json(&String::from_utf8_lossy(bytes));
    let domain = Domain::new([("a", 3), ("b", 2), ("c", 4)]).expect("a domain");
    let queries = FactoredQuery::list_from_json(bytes, &domain);
    queries.iter().flatten().for_each(|query| drop(query.shape(&domain)));
    problem.is_ok() || queries.is_ok()
}

/// A model as it is, and one with what stands before the header and at the end put right: here the
/// header ends with its line, and the potentials follow.
pub fn model(bytes: &[u8]) -> bool {
    let _ = Model::read(bytes);
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (header, rest) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let potentials = &rest[..rest.len() / 8 * 8];
    let mut whole = b"\x89PGM\r\n\x1a\n".to_vec();
    whole.extend_from_slice(&1u32.to_le_bytes());
    whole.extend_from_slice(&(header.len() as u64).to_le_bytes());
    whole.extend_from_slice(&(potentials.len() as u64 / 8).to_le_bytes());
    whole.extend_from_slice(header);
    whole.extend_from_slice(potentials);
    let checksum = blake3::hash(&whole);
    whole.extend_from_slice(checksum.as_bytes());
    let Ok(model) = Model::read(&whole[..]) else { return false };
    // Asking a large one takes its time, rightly.
    let domain = model.domain().clone();
    let cells: f64 = domain.ids().map(|id| domain.size(id) as f64).product();
    if cells <= 4096.0
        && let Ok(calibrated) = model.calibrate()
    {
        for id in domain.ids() {
            let _ = calibrated.marginal(&Clique::new([id]));
        }
    }
    true
}

/// The files of an experiment's results, one after another, with this line between them.
pub const BETWEEN: &str = "\n=====\n";

/// `trials.csv`, `traces.csv`, `ledger.jsonl` and `manifest.json`.
pub fn results(bytes: &[u8]) -> bool {
    let folder = Folder::new();
    let text = String::from_utf8_lossy(bytes);
    let names = ["trials.csv", "traces.csv", "ledger.jsonl", "manifest.json"];
    for (name, part) in names.iter().zip(text.split(BETWEEN)) {
        folder.file(name, part.as_bytes());
    }
    let recorded = Recorded::read(folder.0.path());
    if let Ok(recorded) = &recorded {
        let _ = Summary::of(&recorded.rows).table(Metric::default());
    }
    let ledger = read_ledger(folder.0.path());
    recorded.is_ok() && ledger.is_ok() && Manifest::read(folder.0.path()).is_ok()
}

/// A ledger by itself, which is then verified.
pub fn ledger(bytes: &[u8]) -> bool {
    let (epsilon, delta) = (Epsilon::new(1.0).expect("one"), Delta::new(1e-6).expect("small"));
    let totals: [Guarantee; 3] =
        [epsilon.into(), (epsilon, delta).into(), Rho::new(0.1).expect("small").into()];
    let mut accepted = false;
    for total in totals {
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            if let Ok(ledger) = Ledger::read_json_lines(bytes, total, neighbours) {
                let _ = ledger.verify(total);
                accepted = true;
            }
        }
    }
    accepted
}

/// A folder that goes away again.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for temporary files"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("a temporary file");
        path
    }
}

/// The files that a target begins with.
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    files(target.seeds.iter().map(|seed| seed.to_string()))
}

/// Inputs made to do harm, and former findings, which need not be accepted: `corpus/TARGET`.
pub fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = format!("corpus/{}", target.name);
    let exists = Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder).is_dir();
    files(exists.then_some(folder))
}

fn files(paths: impl IntoIterator<Item = String>) -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for path in paths {
        let path = here.join(path);
        match fs::read_dir(&path) {
            Ok(entries) => files.extend(entries.map(|entry| entry.expect("an entry").path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    files.iter().map(|path| fs::read(path).expect("a file")).collect()
}
