//! `pgmbench datasets`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use pgmbench::atomic_file::Existing;
use pgmbench::data::{
    AttributeDescription, Availability, Description, Draft, Registry, infer, infer_stream,
};

use super::count::Count;
use super::engine_files::is_standard;
use super::failure::{Failure, ResultExt};
use super::output::{note, on_one_line, print, print_data};
use super::output_file::{ForceArgs, Input, OutputFile, Overwrite};

/// List, describe and import data sets, or draft a schema for your own
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench datasets describe adult\n  \
    pgmbench datasets import stroke IST_corrected.csv\n  \
    pgmbench datasets infer mine.csv --out schema.toml\n  \
    zcat mine.csv.gz | pgmbench datasets infer - --out schema.toml")]
pub(crate) struct DatasetsArgs {
    #[command(subcommand)]
    command: DatasetsCommand,
}

#[derive(Subcommand)]
enum DatasetsCommand {
    /// List all data sets
    List,
    /// Show records, attributes, size of the domain and one-way marginals of a data set
    ///
    /// The counts are exact: not for release.
    Describe {
        /// Its name, or the path of a schema
        name: String,
    },
    /// Import the files of a data set that is not distributed with the program
    ///
    /// Experiments use the imported records from then on, instead of a stand-in.
    Import {
        /// Its name, or the path of a schema
        name: String,
        /// The files as downloaded; they may be compressed
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        force: ForceArgs,
    },
    /// Draft a schema for a CSV file
    ///
    /// Bounds and values are taken from the data, which is not private. The draft contains `draft =
    /// true`, and `synthesize` refuses it until you have checked the schema and removed that line.
    Infer {
        /// The CSV file, with a header; - for the standard input
        file: PathBuf,
        /// Write the draft here instead of printing it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        force: ForceArgs,
    },
}

impl DatasetsArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let registry = Registry::default();
        match self.command {
            DatasetsCommand::List => list(&registry),
            DatasetsCommand::Describe { name } => describe(&registry, &name),
            DatasetsCommand::Import { name, files, force } => {
                import(&registry, &name, &files, force)
            }
            DatasetsCommand::Infer { file, out, force } => draft(&file, out, force),
        }
    }
}

pub(crate) fn state(availability: Availability) -> &'static str {
    match availability {
        Availability::Here => "available",
        Availability::Imported => "imported",
        Availability::StandIn => "stand-in until imported",
        Availability::NotImported => "not imported",
    }
}

fn list(registry: &Registry) -> Result<(), Failure> {
    let entries = registry.entries().input()?;
    print(|output| {
        for entry in &entries {
            let schema = entry.schema();
            let records = schema.expected.records.map_or("?".into(), |n| n.to_string());
            writeln!(
                output,
                "{:<12} {records:>7} records, {:>14}  {} ({})",
                schema.name,
                Count(schema.attributes().len(), "attribute"),
                schema.title,
                state(entry.availability())
            )?;
        }
        Ok(())
    })
}

fn describe(registry: &Registry, name: &str) -> Result<(), Failure> {
    let description = registry.entry(name).and_then(|entry| entry.describe()).input()?;
    print(|output| {
        let Description { title, records, provenance, log10_domain_size, .. } = &description;
        writeln!(output, "{}: {title}", description.name)?;
        let origins = [
            ("licence", &description.licence),
            ("source", &description.source),
            ("citation", &description.citation),
        ];
        for (what, text) in origins {
            if let Some(text) = text {
                writeln!(output, "{what:<9} {text}")?;
            }
        }
        if provenance.stand_in {
            writeln!(output, "stand-in  the records are synthetic; the data is not distributed")?;
        }
        writeln!(
            output,
            "records   {records} ({}, {} dropped)",
            Count(provenance.rows, "row"),
            provenance.dropped
        )?;
        writeln!(output, "domain    10^{log10_domain_size:.1} possible records")?;
        writeln!(output, "the counts below are exact: not for release\n")?;
        description.attributes.iter().try_for_each(|attribute| describe_one(output, attribute))
    })
}

/// Values per attribute at most.
const SHOWN: usize = 8;

fn describe_one(output: &mut dyn Write, attribute: &AttributeDescription) -> io::Result<()> {
    let AttributeDescription { name, kind, labels, counts, outside, .. } = attribute;
    let outside = if *outside > 0 { format!(", {outside} out of range") } else { String::new() };
    let name = on_one_line(name);
    writeln!(output, "{name}: {kind}, {}{outside}", Count(labels.len(), "value"))?;
    let mut by_count: Vec<usize> = (0..counts.len()).collect();
    if *kind == "categorical" {
        by_count.sort_by_key(|&code| std::cmp::Reverse(counts[code]));
    }
    let frequent: Vec<String> = by_count
        .iter()
        .take(SHOWN)
        .map(|&code| format!("{} {}", labels[code], counts[code]))
        .collect();
    let more = if counts.len() > SHOWN { ", ..." } else { "" };
    writeln!(output, "    {}{more}", on_one_line(&frequent.join(", ")))
}

fn import(
    registry: &Registry,
    name: &str,
    files: &[PathBuf],
    force: ForceArgs,
) -> Result<(), Failure> {
    let entry = registry.entry(name).input()?;
    let outputs = entry.import_files();
    let others = entry.files().into_iter().filter(|(_, file)| !outputs.contains(file));
    let others: Vec<(&str, PathBuf)> =
        files.iter().map(|file| ("a file to import", file.clone())).chain(others).collect();
    let inputs: Vec<Input> = others.iter().map(|(what, file)| (*what, &**file)).collect();
    let mut existing = Existing::Kept;
    for output in outputs.iter().filter(|output| output.exists()) {
        let overwrite = force.overwrite_or(Overwrite::Never("--force replaces the earlier import"));
        OutputFile::check(output, overwrite, &inputs)?;
        existing = Existing::Replaced;
    }
    let import = entry.import(files, existing).input()?;
    print(|output| {
        let manifest = &import.manifest;
        writeln!(
            output,
            "imported {} of {} into {}",
            Count(manifest.records, "record"),
            manifest.dataset,
            import.folder.display()
        )?;
        match import.as_expected {
            Some(true) => writeln!(output, "these are the records that the paper used"),
            Some(false) => writeln!(
                output,
                "note: the records differ from those that the schema expects: this is another \
                 edition of the data"
            ),
            None => Ok(()),
        }
    })
}

fn draft(file: &Path, out: Option<PathBuf>, force: ForceArgs) -> Result<(), Failure> {
    let inputs = [("the file with the data", file)];
    let check = |path: PathBuf| OutputFile::check(&path, force.overwrite(), &inputs);
    let out = out.map(check).transpose()?;
    let drafted = match is_standard(file) {
        true => infer_stream("the standard input", io::stdin().lock()),
        false => infer(file),
    };
    let Draft { schema, left_out } = drafted.input()?;
    for (column, reason) in &left_out {
        note(format_args!("note: column '{column}' is omitted: {reason}"));
    }
    note(format_args!("warning: {}", Draft::WARNING));
    let Some(out) = out else {
        return print_data(|output| output.write_all(schema.as_bytes()));
    };
    out.write(schema.as_bytes())?;
    print(|output| writeln!(output, "written  {}", out.path().display()))
}
