//! Which settings each kind of experiment uses.

use std::ops::Range;

use toml::Spanned;

use super::Checked;
use crate::config::experiment::Kind::{self, Datasets, Mechanisms, Scaling};
use crate::config::raw::RawExperiment;
use crate::config::source::Source;

/// A setting, its span, the kinds that use it and the kinds that require it.
struct Setting {
    name: &'static str,
    place: Option<Range<usize>>,
    used_by: &'static [Kind],
    needed_by: &'static [Kind],
    /// How to write it.
    example: &'static str,
}

/// Rejects settings that the experiment's kind ignores, and missing ones that it requires.
pub(super) fn check(source: &Source, raw: &RawExperiment) -> Checked<()> {
    let kind = raw.kind.name();
    for setting in settings(raw) {
        match setting.place {
            Some(place) if !setting.used_by.contains(&raw.kind) => {
                let message = format!("`{}` has no meaning for kind = \"{kind}\"", setting.name);
                let users: Vec<_> = setting.used_by.iter().map(|kind| kind.name()).collect();
                let help = format!("it belongs to experiments of kind {}", users.join(" or "));
                return Err(source.error(place, message, Some(&help)));
            }
            None if setting.needed_by.contains(&raw.kind) => {
                let message = format!("`{}` is missing", setting.name);
                let help = format!("kind = \"{kind}\" needs it: {}", setting.example);
                return Err(source.error(raw.name.span(), message, Some(&help)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn settings(raw: &RawExperiment) -> [Setting; 16] {
    fn setting<T>(
        name: &'static str,
        written: &Option<Spanned<T>>,
        used_by: &'static [Kind],
    ) -> Setting {
        let place = written.as_ref().map(Spanned::span);
        Setting { name, place, used_by, needed_by: &[], example: "" }
    }
    const RUNS: &[Kind] = &[Mechanisms, Scaling];
    const HAVE_DATA: &[Kind] = &[Mechanisms, Datasets];
    [
        setting("trials", &raw.trials, RUNS),
        setting("seed", &raw.seed, RUNS),
        Setting {
            needed_by: &[Mechanisms],
            example: "epsilon = 1.0, or a list",
            ..setting("epsilon", &raw.epsilon, RUNS)
        },
        setting("delta", &raw.delta, &[Mechanisms]),
        Setting {
            needed_by: HAVE_DATA,
            example: "datasets = [\"adult\"]",
            ..setting("datasets", &raw.datasets, HAVE_DATA)
        },
        setting("public", &raw.public, &[Mechanisms]),
        setting("neighbours", &raw.neighbours, RUNS),
        setting("noise", &raw.noise, RUNS),
        setting("workload", &raw.workload, HAVE_DATA),
        setting("sweep", &raw.sweep, &[Mechanisms]),
        setting("estimation", &raw.estimation, RUNS),
        setting("limits", &raw.limits, RUNS),
        setting("evaluation", &raw.evaluation, &[Mechanisms]),
        Setting {
            needed_by: &[Mechanisms],
            example: "a section [[mechanism]] with a name",
            ..setting("mechanism", &raw.mechanism, &[Mechanisms])
        },
        setting("estimator", &raw.estimator, RUNS),
        Setting {
            needed_by: &[Scaling],
            example: "a section [scaling] with attributes and arms",
            ..setting("scaling", &raw.scaling, &[Scaling])
        },
    ]
}

impl Kind {
    /// The name in experiment files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mechanisms => "mechanisms",
            Scaling => "scaling",
            Datasets => "datasets",
        }
    }
}
