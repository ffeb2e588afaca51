//! The sections of an experiment.

use std::collections::BTreeMap;

use toml::Spanned;

use super::Checked;
use super::commands;
use super::values::{self, MAX_COUNT, count, counts, distinct, name, not_empty};
use crate::config::estimation::Estimation;
use crate::config::experiment::{Arm, Changes, Kind, Mechanism, Scaling};
use crate::config::figure::{Figure, FigureKind, Statistic};
use crate::config::metric::Metric;
use crate::config::raw::{RawArm, RawChanges, RawMechanism, RawScaling};
use crate::config::source::Source;
use crate::config::sweep::Sweep;
use crate::config::workload::{Queries, RandomMarginals, RandomRanges, Workload};

/// The largest number of attributes of a chain (our choice, a hundred times the paper's).
const MAX_ATTRIBUTES: u64 = 100_000;
/// The largest number of draws of a workload (our choice).
const MAX_DRAWS: u64 = 1000;
/// The largest number of random queries, and of cells of a query (our choice).
const MAX_ROWS: u64 = 1_000_000;

pub(super) fn mechanism(
    source: &Source,
    raw: RawMechanism,
    estimation: &Estimation,
) -> Checked<Mechanism> {
    let label = raw.label.unwrap_or_else(|| raw.name.clone());
    name(source, "label", &label)?;
    let estimation = raw.estimation.over(source, estimation)?;
    let delta = raw.delta.map(|delta| values::delta(source, delta)).transpose()?;
    let command = commands::of_mechanism(source, raw.command, raw.files, raw.guarantee)?;
    if command.is_some() {
        name(source, "name of a command", &raw.name)?;
    }
    Ok(Mechanism {
        name: raw.name,
        label,
        arms: match raw.arms {
            Some(written) => arms(source, written, &estimation)?,
            None => Vec::new(),
        },
        estimation,
        parameters: raw.parameters,
        delta,
        command,
    })
}

fn arms(
    source: &Source,
    written: Spanned<Vec<RawArm>>,
    estimation: &Estimation,
) -> Checked<Vec<Arm>> {
    not_empty(source, "arms", &written)?;
    let mut arms = Vec::with_capacity(written.as_ref().len());
    for raw in written.into_inner() {
        name(source, "name of an arm", &raw.name)?;
        let estimation = raw.estimation.over(source, estimation)?;
        arms.push(Arm { name: raw.name, estimator: raw.estimator, estimation });
    }
    let help =
        "an estimator that takes part twice needs a name: { name = \"a\", estimator = \"pgm\" }";
    distinct(source, "arms", arms.iter().map(|arm| &arm.name), String::clone, Some(help))?;
    Ok(arms)
}

pub(super) fn scaling(
    source: &Source,
    raw: RawScaling,
    estimation: &Estimation,
) -> Checked<Scaling> {
    let number = |setting, value: Option<Spanned<u64>>, default: usize, low| match &value {
        Some(value) => count(source, setting, value, low..=MAX_COUNT),
        None => Ok(default),
    };
    Ok(Scaling {
        attributes: counts(source, "attributes", &raw.attributes, 3..=MAX_ATTRIBUTES)?,
        // As many as in the paper.
        values: number("values", raw.values, 10, 2)?,
        // Our choice; the time does not depend on it.
        records: number("records", raw.records, 1000, 1)?,
        arms: arms(source, raw.arms, estimation)?,
    })
}

pub(super) fn workload(source: &Source, workload: Workload) -> Checked<Workload> {
    let ways = [
        workload.marginals.as_ref().map(Spanned::span),
        workload.every.as_ref().map(Spanned::span),
        workload.random.as_ref().map(Spanned::span),
    ];
    if let Some(second) = ways.iter().flatten().nth(1) {
        let message = "a workload has one of `marginals`, `every` and `random`, not several";
        return Err(source.error(second.clone(), message, Some("leave the others out")));
    }
    if let Some(queries) = &workload.queries {
        if let Some(other) = ways.into_iter().flatten().next() {
            let message = "a workload has either `queries` or marginals, not both";
            return Err(source.error(other, message, Some("leave one of them out")));
        }
        not_empty(source, "queries", queries)?;
        for kind in queries.as_ref() {
            let numbers = match kind.as_ref() {
                Queries::Identity | Queries::AllRanges => Vec::new(),
                Queries::Ranges(RandomRanges { size, count }) => {
                    vec![("size", size.unwrap_or(1)), ("count", *count)]
                }
                Queries::Predicates(rows) => vec![("predicates", *rows)],
                Queries::Signs(rows) => vec![("signs", *rows)],
            };
            for (name, number) in numbers {
                count(source, name, &Spanned::new(kind.span(), number), 1..=MAX_ROWS)?;
            }
        }
    }
    if let Some(marginals) = &workload.marginals {
        not_empty(source, "marginals", marginals)?;
        for attributes in marginals.as_ref() {
            not_empty(source, "marginals", attributes)?;
            distinct(source, "marginals", attributes.as_ref(), String::clone, None)?;
        }
    }
    if let Some(every) = &workload.every {
        count(source, "every", every, 1..=MAX_COUNT)?;
    } else if let Some(target) = &workload.target {
        let message = "`target` restricts `every`, which is missing";
        let help = "say for example every = 3, or leave the target out";
        return Err(source.error(target.span(), message, Some(help)));
    }
    if let Some(random) = &workload.random {
        count(source, "marginals", &random.as_ref().marginals, 1..=MAX_COUNT)?;
        count(source, "size", &random.as_ref().size, 1..=MAX_COUNT)?;
        draws(source, random.as_ref())?;
    }
    distinct(source, "prefix", workload.prefix.iter().flatten(), String::clone, None)?;
    Ok(workload)
}

pub(super) fn sweep(source: &Source, sweep: Sweep) -> Checked<Sweep> {
    not_empty(source, "values", &sweep.values)?;
    distinct(source, "values", sweep.values.as_ref(), ToString::to_string, None)?;
    Ok(sweep)
}

/// The settings of several draws, and of draws with a number of queries.
fn draws(source: &Source, random: &RandomMarginals) -> Checked<()> {
    if let Some(draws) = &random.draws {
        count(source, "draws", draws, 1..=MAX_DRAWS)?;
    }
    let Some(factor) = &random.queries_within else { return Ok(()) };
    if random.skewed {
        let message = "`queries_within` chooses among all draws alike, and `skewed` does not";
        return Err(source.error(factor.span(), message, Some("leave one of them out")));
    }
    match *factor.as_ref() {
        value if value > 1.0 && value.is_finite() => Ok(()),
        value => {
            let message = format!("`queries_within` is {value}, which is not a factor above 1");
            Err(source.error(factor.span(), message, Some("for example 1.05")))
        }
    }
}

/// The number of values along the dimensions that a figure can show in addition to data, mechanisms
/// and estimators.
#[derive(Clone, Copy)]
pub(super) struct Variety {
    epsilons: usize,
    /// Kinds of queries, or draws of a workload. Ranges of all sizes count as two.
    queries: usize,
    /// Orders of public marginals.
    public: usize,
    /// Whether there is a sweep over positive numbers.
    sweep: bool,
}

impl Variety {
    pub(super) fn new(
        epsilons: usize,
        workload: &Workload,
        public: &[usize],
        sweep: Option<&Sweep>,
    ) -> Self {
        let cases = |kind: &Spanned<Queries>| match kind.as_ref() {
            Queries::Ranges(RandomRanges { size: None, .. }) => 2,
            _ => 1,
        };
        let kinds = workload.queries.iter().flat_map(|kinds| kinds.as_ref());
        let random = workload.random.iter().filter_map(|random| random.as_ref().draws.as_ref());
        let draws = random.map(|draws| *draws.as_ref() as usize);
        let queries = kinds.map(cases).chain(draws).sum();
        let sweep = sweep.is_some_and(Sweep::is_positive);
        Self { epsilons, queries, public: public.len(), sweep }
    }

    fn has_cases(self) -> bool {
        self.queries > 1 || self.public > 1
    }
}

/// The figure of an experiment whose file does not name one.
pub(super) fn default_figure(kind: Kind, variety: Variety) -> Figure {
    let kind = match kind {
        Kind::Mechanisms if variety.sweep && !variety.has_cases() => FigureKind::Sweep,
        Kind::Mechanisms if variety.epsilons > 1 => FigureKind::Epsilon,
        Kind::Mechanisms if variety.has_cases() => FigureKind::Cases,
        Kind::Mechanisms => FigureKind::Bars,
        Kind::Scaling => FigureKind::Scaling,
        Kind::Datasets => FigureKind::Table,
    };
    plain(kind)
}

pub(super) fn figure(
    source: &Source,
    figure: &Spanned<FigureKind>,
    kind: Kind,
    variety: Variety,
    mechanisms: &[Mechanism],
) -> Checked<Figure> {
    let refuse = |message: &str, help: &str| Err(source.error(figure.span(), message, Some(help)));
    let traced = |mechanism: &Mechanism| {
        mechanism.estimation.trace.is_some()
            || mechanism.arms.iter().any(|arm| arm.estimation.trace.is_some())
    };
    match (*figure.as_ref(), kind) {
        (FigureKind::Bars, Kind::Mechanisms) if variety.epsilons > 1 => {
            refuse("bars show a single epsilon", "the figure for several is \"epsilon\"")
        }
        (FigureKind::Epsilon, Kind::Mechanisms) if variety.epsilons == 1 => {
            refuse("there is only one epsilon to show", "give a list: epsilon = [0.1, 1, 10]")
        }
        // Their medians would mix unrelated queries.
        (
            FigureKind::Bars | FigureKind::Records | FigureKind::Rounds | FigureKind::Sweep,
            Kind::Mechanisms,
        ) if variety.has_cases() => refuse(
            "this figure shows a single case, and each of the queries and public orders is one",
            "the figures for several are \"cases\" and, for several epsilons, \"epsilon\"",
        ),
        (FigureKind::Sizes, Kind::Mechanisms) if variety.public > 1 => refuse(
            "this figure shows a single public order",
            "the figures for several are \"cases\" and, for several epsilons, \"epsilon\"",
        ),
        (FigureKind::Sweep, Kind::Mechanisms) if !variety.sweep => refuse(
            "there is no sweep over positive numbers to show",
            "say for example sweep = { parameter = \"iterations\", values = [10, 100, 1000] }",
        ),
        (FigureKind::Traces, Kind::Mechanisms) if !mechanisms.iter().any(traced) => refuse(
            "no traces are recorded",
            "say under [estimation] how often to record: trace = 50, for every 50 iterations",
        ),
        (
            FigureKind::Bars
            | FigureKind::Epsilon
            | FigureKind::Sizes
            | FigureKind::Cases
            | FigureKind::Records
            | FigureKind::Rounds
            | FigureKind::Sweep
            | FigureKind::Traces
            | FigureKind::Ratios,
            Kind::Mechanisms,
        )
        | (FigureKind::Scaling, Kind::Scaling)
        | (FigureKind::Table, _) => Ok(plain(*figure.as_ref())),
        (_, kind) => {
            let message = format!("kind = \"{}\" has no such figure", kind.name());
            let help = match kind {
                Kind::Mechanisms => {
                    "its figures are bars, epsilon, sizes, cases, records, rounds, sweep, traces, \
                     ratios and \
                     table"
                }
                Kind::Scaling => "its figures are scaling and table",
                Kind::Datasets => "its only figure is table",
            };
            refuse(&message, help)
        }
    }
}

fn plain(kind: FigureKind) -> Figure {
    Figure { kind, metric: None, statistic: Statistic::default(), arms: BTreeMap::new() }
}

/// The error that a figure shows. Time and rounds have their own kinds of figures.
pub(super) fn figure_metric(
    source: &Source,
    metric: Option<Spanned<Metric>>,
) -> Checked<Option<Metric>> {
    let Some(metric) = metric else { return Ok(None) };
    match *metric.as_ref() {
        shown @ (Metric::WorkloadError
        | Metric::MeanSquaredError
        | Metric::MaxError
        | Metric::Coverage
        | Metric::BoundCoverage) => Ok(Some(shown)),
        other => {
            let message = format!("figures do not show `{}`", other.name());
            let help = "they show workload_error, mean_squared_error, max_error, coverage or \
                        bound_coverage";
            Err(source.error(metric.span(), message, Some(help)))
        }
    }
}

pub(super) fn quick(source: &Source, raw: RawChanges, kind: Kind) -> Checked<Changes> {
    let no_data = raw.datasets.as_ref().filter(|_| kind == Kind::Scaling).map(Spanned::span);
    let no_chains = raw.attributes.as_ref().filter(|_| kind != Kind::Scaling).map(Spanned::span);
    let estimates =
        [raw.algorithm.as_ref().map(Spanned::span), raw.gap.as_ref().map(Spanned::span)];
    let no_estimates = estimates.into_iter().flatten().find(|_| kind == Kind::Datasets);
    if let Some(place) = no_data.or(no_chains).or(no_estimates) {
        let message = format!("kind = \"{}\" has no such setting to change", kind.name());
        let help = "datasets are for kind mechanisms or datasets, attributes for kind scaling, \
                    algorithm and gap for kind mechanisms or scaling";
        return Err(source.error(place, message, Some(help)));
    }
    let number = |setting, value: Option<Spanned<u64>>| {
        value.map(|value| count(source, setting, &value, 1..=MAX_COUNT)).transpose()
    };
    Ok(Changes {
        trials: number("trials", raw.trials)?,
        algorithm: raw.algorithm.map(Spanned::into_inner),
        iterations: number("iterations", raw.iterations)?,
        gap: raw.gap.map(|gap| values::gap(source, &gap)).transpose()?,
        datasets: raw.datasets.map(|list| values::datasets(source, list)).transpose()?,
        attributes: match &raw.attributes {
            Some(list) => Some(counts(source, "attributes", list, 3..=MAX_ATTRIBUTES)?),
            None => None,
        },
    })
}
