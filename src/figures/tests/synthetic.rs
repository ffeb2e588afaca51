//! Synthetic trial records with the shape of the paper's figures; no number is a result.

use crate::config::{Claim, Sweep};
use crate::results::{Status, TraceRecord, TrialRecord};

pub(crate) const DATASETS: [(&str, usize); 4] =
    [("titanic", 9), ("adult", 15), ("loans", 48), ("stroke", 110)];

/// A trial that is done, with this workload error.
pub(crate) fn trial(
    dataset: &str,
    mechanism: &str,
    arm: &str,
    trial: usize,
    error: f64,
) -> TrialRecord {
    TrialRecord {
        key: format!("{dataset}/{mechanism}/{arm}/{trial}"),
        experiment: "synthetic".into(),
        dataset: dataset.into(),
        attributes: 9,
        records: 1000,
        mechanism: mechanism.into(),
        arm: arm.into(),
        epsilon: 1.0,
        trial,
        seed: "00".into(),
        workload_error: Some(error),
        ..TrialRecord::default()
    }
}

/// The same trial with another status and without a value.
pub(crate) fn ended(trial: TrialRecord, status: Status, peak_bytes: Option<f64>) -> TrialRecord {
    TrialRecord { status, peak_bytes, workload_error: None, seconds_per_iteration: None, ..trial }
}

/// Five trials around a value.
pub(crate) fn five(dataset: &str, mechanism: &str, arm: &str, around: f64) -> Vec<TrialRecord> {
    let factors = [1.0, 0.86, 1.21, 0.95, 1.08];
    let one = |(i, factor): (usize, &f64)| trial(dataset, mechanism, arm, i, around * factor);
    factors.iter().enumerate().map(one).collect()
}

/// Two ratios of Figure 1, as claims.
pub(crate) fn ratio_claims() -> Vec<Claim> {
    let claim = |mechanism: &str, arm: &str, paper: f64| {
        let text = format!(
            "says = 'so'\npaper = {paper:?}\nkind = 'ratio'\ndataset = 'adult'\narm = '{arm}'\n\
             mechanism = '{mechanism}'\nagainst = 'pgm'\n"
        );
        toml::from_str(&text).unwrap()
    };
    vec![claim("hdmm", "lls", 3.2), claim("privbayes", "own", 1.43)]
}

/// Like Figure 1, in another order than it is drawn.
pub(crate) fn figure_1() -> Vec<TrialRecord> {
    let errors = [
        ("hdmm", "lls", [0.46, 0.27, 1.9, 0.31]),
        ("hdmm", "pgm", [0.07, 0.085, 0.07, 0.05]),
        ("privbayes", "own", [0.21, 0.13, 0.52, 0.61]),
        ("privbayes", "pgm", [0.17, 0.1, 0.087, 0.087]),
        ("dualquery", "own", [0.42, 0.31, 0.6, 0.35]),
        ("dualquery", "pgm", [0.35, 0.17, 0.17, 0.08]),
        ("mwem", "pgm", [0.19, 0.09, 0.11, 0.043]),
    ];
    let mut rows = Vec::new();
    for (mechanism, arm, values) in errors {
        for ((dataset, _), value) in DATASETS.iter().zip(values) {
            rows.extend(five(dataset, mechanism, arm, value));
        }
    }
    let needs = [2.2e9, 8.2e19, 4.2e81, 2.9e105];
    for ((dataset, _), bytes) in DATASETS.iter().zip(needs) {
        let own = |mechanism| five(dataset, mechanism, "own", 0.043).into_iter();
        let without_value = |status| move |row| ended(row, status, Some(bytes));
        rows.extend(own("hdmm").map(without_value(Status::Infeasible)));
        match *dataset {
            "stroke" => rows.extend(own("mwem")),
            "adult" => rows.extend(own("mwem").map(|row| ended(row, Status::Timeout, None))),
            _ => rows.extend(own("mwem").map(without_value(Status::Infeasible))),
        }
    }
    rows.iter_mut()
        .for_each(|row| row.standin = matches!(row.dataset.as_str(), "loans" | "stroke"));
    rows
}

/// Like Figure 2a.
pub(crate) fn figure_2a() -> Vec<TrialRecord> {
    let mut rows = Vec::new();
    for epsilon in [0.1, 0.3, 1.0, 3.0, 10.0] {
        for (arm, value) in [("lls", 0.27 / epsilon), ("pgm", 0.085 / f64::powf(epsilon, 0.65))] {
            let here = five("adult", "hdmm", arm, value).into_iter();
            rows.extend(here.map(|row| TrialRecord { epsilon, ..row }));
        }
        let own = five("adult", "hdmm", "own", 1.0).into_iter();
        let gone = own.map(|row| ended(row, Status::Infeasible, Some(8.2e19)));
        rows.extend(gone.map(|row| TrialRecord { epsilon, ..row }));
    }
    rows
}

/// A sweep over two values of delta.
pub(crate) fn two_deltas() -> Sweep {
    toml::from_str("parameter = \"delta\"\nvalues = [1e-9, 0.01]").unwrap()
}

/// The mechanism of [`figure_2a`] with the values of [`two_deltas`].
pub(crate) fn swept() -> Vec<TrialRecord> {
    let with_delta = |(label, row): (&str, TrialRecord)| TrialRecord {
        key: format!("{label} {} {} {}", row.arm, row.epsilon, row.trial),
        mechanism: label.into(),
        ..row
    };
    let at_1 = || figure_2a().into_iter().filter(|row| row.epsilon == 1.0);
    let labels = ["hdmm (delta 1e-9)", "hdmm (delta 0.01)"];
    labels.iter().flat_map(|label| at_1().map(|row| with_delta((label, row)))).collect()
}

/// Like Figure 2b.
pub(crate) fn figure_2b() -> Vec<TrialRecord> {
    let mut rows = Vec::new();
    for attributes in [3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 200, 500, 1000] {
        let cells = 10f64.powi(attributes as i32);
        let arms = [
            ("pgm", 2e-5 * attributes as f64),
            ("mw", 3e-6 + 6e-9 * cells),
            ("lsmr", 8e-6 + 2e-8 * cells),
        ];
        for (arm, seconds) in arms {
            let attributes_of = |row| TrialRecord { attributes, ..row };
            for row in five("synthetic", "triples", arm, seconds).into_iter().map(attributes_of) {
                rows.push(match arm != "pgm" && attributes > 8 {
                    true => ended(row, Status::Infeasible, Some(cells * 24.0)),
                    false => {
                        let seconds_per_iteration = row.workload_error;
                        TrialRecord { seconds_per_iteration, ..row }
                    }
                });
            }
        }
    }
    rows
}

/// Like Figure 3.
pub(crate) fn figure_3() -> Vec<TraceRecord> {
    let mut rows = Vec::new();
    for (arm, worse) in [("pgm-l1", 1.0), ("pgm-l2", 0.0)] {
        for trial in 0..3 {
            for step in 0..60 {
                let iteration = f64::powf(10_000.0, f64::from(step) / 59.0).round();
                let off = 1.0 + 0.03 * trial as f64;
                rows.push(TraceRecord {
                    key: format!("adult/hdmm/{arm}/{trial}"),
                    dataset: "adult".into(),
                    mechanism: "hdmm".into(),
                    arm: arm.into(),
                    epsilon: 1.0,
                    trial,
                    iteration: iteration as usize,
                    seconds: 0.0,
                    l1_loss: off * (43_000.0 - 1500.0 * worse + 300_000.0 / iteration),
                    l2_loss: off * (20_000.0 + 6000.0 * worse + 4e6 / iteration.powf(1.4)),
                    workload_error: off
                        * (0.062 + 0.01 * worse + 0.4 / iteration + 0.0026 * iteration.ln()),
                });
            }
        }
    }
    rows
}

/// The trials of [`figure_3`].
pub(crate) fn figure_3_trials() -> Vec<TrialRecord> {
    let row = |arm: &'static str, i: usize| TrialRecord {
        l1_loss: Some(42_000.0),
        l2_loss: Some(22_000.0),
        loss: Some(if arm == "pgm-l1" { 42_000.0 } else { 22_000.0 }),
        gap: Some(1.0),
        ..trial("adult", "hdmm", arm, i, 0.1)
    };
    let arms = ["pgm-l1", "pgm-l2"].into_iter();
    arms.flat_map(|arm| (0..3).map(move |i| row(arm, i))).collect()
}

/// Range queries of several sizes, a case each, at two epsilons.
pub(crate) fn with_sizes() -> Vec<TrialRecord> {
    let mut rows = Vec::new();
    for epsilon in [0.1, 1.0] {
        for size in [2, 4, 8] {
            for (mechanism, error) in [("laplace", 0.01 * size as f64), ("privlet", 0.03)] {
                let here = five("nettrace", mechanism, "own", error / epsilon).into_iter();
                let case = format!("ranges of {size}");
                let key = |row: &TrialRecord| format!("{epsilon}/{size}/{}", row.key);
                rows.extend(here.map(|row| TrialRecord {
                    key: key(&row),
                    epsilon,
                    case: case.clone(),
                    size: Some(size),
                    ..row
                }));
            }
        }
    }
    rows
}

/// Trials of a mechanism with rounds and a bound, on datasets of increasing size.
pub(crate) fn with_rounds() -> Vec<TrialRecord> {
    let sizes = [100, 1000, 10_000].into_iter();
    let of_size = |records: usize| {
        let rows = five(&format!("chain-{records}"), "pmw", "own", 1.0 / records as f64);
        rows.into_iter().map(move |row| TrialRecord {
            records,
            max_error: row.workload_error,
            error_bound: (records > 100).then_some(10.0 / records as f64),
            rounds: Some(records / 50),
            round_limit: Some(records),
            ..row
        })
    };
    sizes.flat_map(of_size).collect()
}
