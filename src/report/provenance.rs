use super::experiment::Experiment;
use super::table::{Cell, Table, chosen, text};
use crate::figures::labels;
use crate::results::manifest::{DatasetFacts, Run, TableFacts};
use crate::results::number;

/// The datasets, with checksums and a note on stand-ins.
pub(super) fn datasets(id: String, experiment: &Experiment) -> Table {
    let parts = |data: &DatasetFacts| match &data.cases[..] {
        [only] => chosen(only.workload.len() as f64),
        _ => Cell::default(),
    };
    let table = |data: &DatasetFacts, fact: fn(&TableFacts) -> f64| {
        data.table.as_ref().map_or_else(Cell::default, |table| chosen(fact(table)))
    };
    let row = |data: &DatasetFacts| {
        [
            text(labels::dataset(&data.name)),
            chosen(data.records as f64),
            chosen(data.attributes as f64),
            Cell { value: data.domain.parse().ok(), ..text(data.domain.as_str()) },
            chosen(data.queries as f64),
            parts(data),
            table(data, |table| table.smallest as f64),
            table(data, |table| table.largest as f64),
            table(data, TableFacts::sparsity),
            text(if data.standin { "stand-in" } else { "real" }),
            Cell { class: "code", ..text(data.blake3.as_str()) },
        ]
    };
    let columns = [
        "dataset",
        "records*",
        "attributes*",
        "possible records*",
        "queries*",
        "sub-workloads*",
        "smallest cell*",
        "largest cell*",
        "empty cells, %*",
        "records are",
        "BLAKE3 checksum",
    ];
    let rows = experiment.manifest.datasets.iter().map(row).collect();
    Table::new(id, "Data", columns, rows).without_empty_columns()
}

/// The runs that produced the results.
pub(super) fn runs(id: String, experiment: &Experiment) -> Table {
    let row = |run: &Run| {
        let seconds = run.wall_seconds.map_or_else(Cell::default, |seconds| Cell {
            value: Some(seconds),
            ..text(number(seconds))
        });
        [
            text(run.start.as_str()),
            text(run.end.clone().unwrap_or_else(|| "stopped or running".into())),
            seconds,
            Cell { class: "code", ..text(run.command_line.join(" ")) },
            text(program(run)),
            text(machine(run)),
        ]
    };
    let columns = ["start", "end", "seconds*", "command", "program", "machine"];
    let rows = experiment.manifest.runs.iter().map(row).collect();
    Table::new(id, "Runs", columns, rows)
}

fn program(run: &Run) -> String {
    let build = &run.build;
    let commit = build.commit.as_ref().map(|commit| {
        let changed = if commit.is_clean { "" } else { " with changes" };
        format!("commit {}{changed}", commit.id)
    });
    let lock = build.cargo_lock_blake3.as_ref().map(|hash| format!("Cargo.lock {hash}"));
    let version = Some(format!("pgmbench {}", build.version));
    let parts = [version, commit, build.rustc.clone(), lock];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn machine(run: &Run) -> String {
    let machine = &run.machine;
    let threads = if run.threads == 1 { "thread" } else { "threads" };
    format!(
        "{} ({}), {}, {}, {} {threads}",
        machine.cpu,
        machine.cpu_features.join(" "),
        machine.architecture,
        machine.os,
        run.threads
    )
}
