//! Validation: from the syntax of a file to a consistent experiment.

mod commands;
mod figure;
mod kinds;
mod sections;
mod styles;
pub(super) mod values;
mod workload;

use toml::Spanned;

use super::error::ConfigError;
use super::estimation::Estimation;
use super::evaluation::Evaluation;
use super::experiment::{Changes, Experiment, Kind, Limits};
use super::figure::Figure;
use super::raw::{RawEvaluation, RawExperiment, RawLimits};
use super::source::Source;
use super::workload::Workload;
use dp::Neighbours;
use figure::Variety;
use values::{MAX_COUNT, count, name, positive};

type Checked<T> = Result<T, ConfigError>;

/// The experiment of a file, if its settings are consistent with each other and with its kind.
pub(super) fn experiment(source: &Source, raw: RawExperiment) -> Checked<Experiment> {
    kinds::check(source, &raw)?;
    complete(source, raw)
}

/// The experiment, if its settings are consistent with each other. Settings that its kind does not
/// use are allowed, because manifests spell out every default.
pub(super) fn complete(source: &Source, raw: RawExperiment) -> Checked<Experiment> {
    name(source, "name", &raw.name)?;
    let estimation = match &raw.estimation {
        Some(layer) => layer.as_ref().over(source, &Estimation::default())?,
        None => Estimation::default(),
    };
    let mechanisms = sections::mechanisms(source, raw.mechanism, &estimation)?;
    let epsilon = match (raw.epsilon, raw.kind) {
        (Some(written), _) => values::epsilon(source, written)?,
        // The budget of the measurements that estimators are timed on; it does not affect the time.
        (None, Kind::Scaling) => vec![Spanned::new(0..0, 1.0)],
        (None, _) => Vec::new(),
    };
    let public = match &raw.public {
        Some(orders) => values::counts(source, "public", orders, 0..=MAX_COUNT)?,
        None => Vec::new(),
    };
    let workload = match raw.workload {
        Some(written) => workload::workload(source, written.into_inner())?,
        None => Workload::default(),
    };
    let sweep = match raw.sweep {
        Some(written) => Some(sections::sweep(source, written.into_inner())?),
        None => None,
    };
    let variety = Variety::new(epsilon.len(), &workload, &public, sweep.as_ref());
    let figure = match raw.figure {
        Some(written) => Figure {
            metric: figure::metric(source, written.metric)?,
            statistic: written.statistic,
            arms: styles::arm_styles(source, written.arms, &mechanisms)?,
            ..figure::figure(source, &written.kind, raw.kind, variety, &mechanisms)?
        },
        None => figure::default(raw.kind, variety),
    };
    Ok(Experiment {
        title: raw.title.unwrap_or_else(|| raw.name.as_ref().clone()),
        document: raw.document,
        name: raw.name,
        kind: raw.kind,
        trials: match &raw.trials {
            Some(trials) => count(source, "trials", trials, 1..=MAX_COUNT)?,
            // As many as in the paper.
            None => 5,
        },
        seed: raw.seed.map(Spanned::into_inner).unwrap_or_default(),
        epsilon,
        delta: raw.delta.map(|delta| values::delta(source, delta)).transpose()?,
        datasets: match raw.datasets {
            Some(written) => values::datasets(source, written)?,
            None => Vec::new(),
        },
        public,
        // As in the paper: the number of records is public.
        neighbours: raw.neighbours.map_or(Neighbours::Replace, Spanned::into_inner),
        noise: raw.noise.map(Spanned::into_inner).unwrap_or_default(),
        workload,
        sweep,
        limits: match raw.limits {
            Some(written) => limits(source, written.into_inner())?,
            None => Limits::default(),
        },
        evaluation: match raw.evaluation {
            Some(written) => evaluation(source, &written.into_inner())?,
            None => Evaluation::default(),
        },
        scaling: match raw.scaling {
            Some(written) => Some(sections::scaling(source, written.into_inner(), &estimation)?),
            None => None,
        },
        estimators: commands::estimators(source, raw.estimator)?,
        figure,
        quick: match raw.quick {
            Some(changes) => sections::quick(source, changes, raw.kind)?,
            None => Changes::default(),
        },
        claims: raw.claim,
        estimation,
        mechanisms,
    })
}

fn evaluation(source: &Source, raw: &RawEvaluation) -> Checked<Evaluation> {
    let default = Evaluation::default();
    let coverage = raw.coverage.as_ref().map(|value| values::probability(source, value));
    let replicates = raw.replicates.as_ref();
    let replicates = replicates.map(|value| count(source, "replicates", value, 2..=MAX_COUNT));
    Ok(Evaluation {
        coverage: coverage.transpose()?,
        replicates: replicates.transpose()?.unwrap_or(default.replicates),
    })
}

fn limits(source: &Source, raw: RawLimits) -> Checked<Limits> {
    let seconds = raw.seconds.as_ref().map(|seconds| positive(source, "seconds", seconds));
    Ok(Limits { memory: raw.memory, seconds: seconds.transpose()? })
}
