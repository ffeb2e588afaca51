use super::experiment::Experiment;
use super::table::{Cell, Table, chosen, text};
use crate::figures::labels;
use crate::results::manifest::{DatasetFacts, Run};
use crate::results::number;

/// The data, with checksums and with stand-ins named.
pub(super) fn datasets(id: String, experiment: &Experiment) -> Table {
    let queries = |name: &str| {
        let workload = experiment.manifest.workloads.get(name).and_then(|list| list.as_array());
        workload.map_or_else(Cell::default, |list| chosen(list.len() as f64))
    };
    let row = |data: &DatasetFacts| {
        [
            text(labels::dataset(&data.name)),
            chosen(data.records as f64),
            queries(&data.name),
            text(if data.standin { "made-up stand-ins" } else { "real" }),
            Cell { class: "code", ..text(data.blake3.as_str()) },
        ]
    };
    let columns = ["dataset", "records*", "sub-workloads*", "records are", "BLAKE3 checksum"];
    let rows = experiment.manifest.datasets.iter().map(row).collect();
    Table::new(id, "Data", columns, rows).without_empty_columns()
}

/// The runs that made the results.
pub(super) fn runs(id: String, experiment: &Experiment) -> Table {
    let row = |run: &Run| {
        let unknown = || "not known".to_string();
        let commit = run.build.commit.as_ref().map_or_else(unknown, |commit| {
            let changed = if commit.is_clean { "" } else { ", with changes" };
            format!("{}{changed}", commit.id)
        });
        let seconds = run.wall_seconds.map_or_else(Cell::default, |seconds| Cell {
            value: Some(seconds),
            ..text(number(seconds))
        });
        let machine = &run.machine;
        let features = machine.cpu_features.join(" ");
        [
            text(run.start.as_str()),
            text(run.end.clone().unwrap_or_else(|| "stopped, or still running".into())),
            seconds,
            Cell { class: "code", ..text(run.command_line.join(" ")) },
            text(run.build.version.as_str()),
            Cell { class: "code", ..text(commit) },
            text(run.build.rustc.clone().unwrap_or_else(unknown)),
            Cell {
                class: "code",
                ..text(run.build.cargo_lock_blake3.clone().unwrap_or_else(unknown))
            },
            text(format!("{} ({features})", machine.cpu.clone())),
            text(format!("{}, {}", machine.os, machine.architecture)),
            chosen(run.threads as f64),
        ]
    };
    let columns = [
        "start",
        "end",
        "seconds*",
        "command",
        "pgmbench",
        "commit",
        "compiler",
        "BLAKE3 of Cargo.lock",
        "processor",
        "system",
        "threads*",
    ];
    let rows = experiment.manifest.runs.iter().map(row).collect();
    Table::new(id, "Runs", columns, rows)
}
