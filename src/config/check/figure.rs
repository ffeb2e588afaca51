use std::collections::BTreeMap;

use toml::Spanned;

use super::Checked;
use crate::config::experiment::{Kind, Mechanism};
use crate::config::figure::{Figure, FigureKind, Statistic};
use crate::config::metric::Metric;
use crate::config::source::Source;
use crate::config::sweep::Sweep;
use crate::config::workload::{Queries, RandomRanges, Workload};

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
pub(super) fn default(kind: Kind, variety: Variety) -> Figure {
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
        (FigureKind::Traces | FigureKind::Rates, Kind::Mechanisms)
            if !mechanisms.iter().any(traced) =>
        {
            refuse(
                "no traces are recorded",
                "say under [estimation] how often to record: trace = 50, for every 50 iterations",
            )
        }
        (
            FigureKind::Bars
            | FigureKind::Epsilon
            | FigureKind::Sizes
            | FigureKind::Cases
            | FigureKind::Records
            | FigureKind::Rounds
            | FigureKind::Sweep
            | FigureKind::Traces
            | FigureKind::Rates
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
                     rates, ratios and table"
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
pub(super) fn metric(source: &Source, metric: Option<Spanned<Metric>>) -> Checked<Option<Metric>> {
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
