//! `pgmbench archive`.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pgmbench::results::folder::read_manifest;
use pgmbench::results::manifest::{Manifest, NOTICE, Run};
use private_pgm::numeric::bytes::Bytes;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::output::print;
use super::output_file::{ForceArgs, OutputFile};
use super::results_args::ResultsArgs;

/// Pack the results of an experiment into one zip file
///
/// It has every file of the results, the configuration as it was written, a note with the versions,
/// the machine and the checksums of the data, and SHA256SUMS, which `sha256sum -c` checks. The same
/// results give the same bytes. The data itself is not packed. Results of experiments are computed
/// from true answers: the archive is not for release.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench archive fig1\n  \
    pgmbench archive results/fig1 --out paper/fig1.zip")]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    results: ResultsArgs,
    /// Write to this file [default: NAME.zip]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
}

/// A file of the archive.
struct Packed {
    name: String,
    content: Vec<u8>,
}

impl ArchiveArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = self.results.folder();
        let manifest = read_manifest(&folder).input()?;
        let name = manifest.name().to_string();
        let out = self.out.unwrap_or_else(|| format!("{name}.zip").into());
        let files = names(&folder)?;
        let inputs: Vec<PathBuf> = files.iter().map(|name| folder.join(name)).collect();
        let inputs: Vec<_> = inputs.iter().map(|path| ("a file of the results", &**path)).collect();
        let out = OutputFile::check(&out, self.force.overwrite(), &inputs)?;
        let read = |name: String| {
            let path = folder.join(&name);
            let content = fs::read(&path).input_at(path.display())?;
            Ok(Packed { name, content })
        };
        let mut packed = files.into_iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let add = |packed: &mut Vec<Packed>, name: &str, text: String| {
            packed.push(Packed { name: name.into(), content: text.into_bytes() });
        };
        add(&mut packed, "configuration.toml", manifest.configuration_text.clone());
        add(&mut packed, "README.txt", note(&manifest));
        let checksums = checksums(&packed);
        add(&mut packed, "SHA256SUMS", checksums);
        let bytes = zipped(&name, &packed).internal_at("cannot pack the results")?;
        out.write(&bytes)?;
        let (files, size) = (Count(packed.len(), "file"), Bytes(bytes.len() as f64));
        print(|output| writeln!(output, "{files}, {size}, in {}", out.path().display()))
    }
}

/// The names of the files in the folder, sorted; locks are hidden.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).input_at(folder.display())? {
        let entry = entry.input_at(folder.display())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// As `sha256sum` writes and checks them.
fn checksums(packed: &[Packed]) -> String {
    let line = |file: &Packed| {
        let digest = Sha256::digest(&file.content);
        let digits = digest.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        format!("{digits}  {}\n", file.name)
    };
    packed.iter().map(line).collect()
}

/// What the archive is and where its numbers come from.
fn note(manifest: &Manifest) -> String {
    let mut note = format!(
        "Results of the experiment \"{}\", packed by pgmbench {}.\n\nThey are {NOTICE}.\n\n\
         sha256sum -c SHA256SUMS checks the files. configuration.toml is the experiment as it was\n\
         written; manifest.json has it with all defaults.\n",
        manifest.name(),
        env!("CARGO_PKG_VERSION"),
    );
    note += "\nData (BLAKE3 of the records; the data itself is not here):\n";
    for data in &manifest.datasets {
        let standin = if data.standin { ", a stand-in" } else { "" };
        let (name, records, blake3) = (&data.name, data.records, &data.blake3);
        note += &format!("  {name}: {records} records{standin}, {blake3}\n");
    }
    note += "\nRuns:\n";
    manifest.runs.iter().for_each(|run| note += &described(run));
    note
}

fn described(run: &Run) -> String {
    let commit = run.build.commit.as_ref().map_or(String::new(), |commit| {
        let changed = if commit.is_clean { "" } else { " with changes" };
        format!(", commit {}{changed}", commit.id)
    });
    let rustc = run.build.rustc.as_deref().unwrap_or("an unknown compiler");
    let (version, command) = (&run.build.version, run.command_line.join(" "));
    format!("  {}: {command}\n    pgmbench {version}{commit}, {rustc}\n", run.start)
}

/// The files in a folder with the name of the experiment. Times are fixed, so that the same files
/// give the same bytes.
fn zipped(name: &str, packed: &[Packed]) -> anyhow::Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for file in packed {
        archive.start_file(format!("{name}/{}", file.name), options)?;
        archive.write_all(&file.content)?;
    }
    Ok(archive.finish()?.into_inner())
}
