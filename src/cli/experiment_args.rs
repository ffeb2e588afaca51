use std::path::PathBuf;

use clap::Args;
use pgmbench::config::{ConfigError, Overrides, SHIPPED, Source, closest};
use pgmbench::data::Registry;
use pgmbench::experiment::{Filter, Plan, PlanError, Trial};

use super::failure::{Failure, ResultExt};

/// Which experiment, and which part of it.
#[derive(Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment file, or the name of one in configs/ or of `pgmbench list experiments`
    config: PathBuf,
    /// Override the number of trials
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// Override the number of iterations of every estimate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// A part: dataset=NAME, mechanism=NAME, arm=NAME, epsilon=E, with commas between
    #[arg(long, value_name = "PART", value_parser = parse_filter)]
    only: Option<Filter>,
    /// The small version that the file describes under [quick]
    #[arg(long)]
    quick: bool,
}

impl ExperimentArgs {
    /// Reads and validates the experiment and loads its data.
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let source = self.source()?;
        let overrides = Overrides {
            quick: self.quick,
            trials: self.trials.map(|trials| trials as usize),
            iterations: self.iterations.map(|iterations| iterations as usize),
        };
        let filter = self.only.clone().unwrap_or_default();
        let place = self.config.display().to_string();
        let plan = match Plan::new(source, &overrides, &Registry::default(), &filter) {
            Err(error @ (PlanError::Config(_) | PlanError::NoQuick { .. })) => {
                Err(Failure::Input(error.into()))
            }
            planned => planned.input_at(&place),
        }?;
        // Each name exists, but no arm may match all of them.
        if has_arms(&plan.all_trials) && !has_arms(&plan.trials) {
            return Err(Failure::input(format!(
                "{place}: --only {}: nothing is left; this experiment has {}",
                filter_text(&filter),
                arms_text(&plan)
            )));
        }
        Ok(plan)
    }

    /// The equivalent command-line arguments.
    pub(crate) fn words(&self) -> Vec<String> {
        let named = if self.path().exists() { self.path() } else { self.config.clone() };
        let mut words = vec![named.display().to_string()];
        let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
        self.trials.iter().for_each(|trials| option("--trials", trials.to_string()));
        self.iterations.iter().for_each(|count| option("--iterations", count.to_string()));
        self.only.iter().for_each(|filter| option("--only", filter_text(filter)));
        words.extend(self.quick.then(|| "--quick".to_string()));
        words
    }

    /// The file, or one of the program.
    fn source(&self) -> Result<Source, Failure> {
        let path = self.path();
        let shipped = || Source::shipped(&self.config.to_string_lossy());
        let shipped = if self.is_bare() && !path.exists() { shipped() } else { None };
        let read = || Source::read(path).map_err(|error| self.not_read(error));
        shipped.map_or_else(read, Ok)
    }

    /// A bare name may be meant for an experiment of the program, too.
    fn not_read(&self, error: ConfigError) -> Failure {
        let ConfigError::Missing { path, existing } = &error else {
            return Failure::Input(error.into());
        };
        if !self.is_bare() {
            return Failure::Input(error.into());
        }
        let files = existing.iter().map(|file| file.trim_end_matches(".toml"));
        let names = files.chain(SHIPPED.iter().map(|(name, _)| *name));
        let meant = closest(&self.config.to_string_lossy(), names)
            .map_or_else(String::new, |name| format!("did you mean {name}? "));
        Failure::input(format!(
            "there is no file {}, and no experiment of this name; {meant}`pgmbench list \
             experiments` shows those of the program",
            path.display()
        ))
    }

    /// Whether it is a name without folder and extension.
    fn is_bare(&self) -> bool {
        self.config.components().count() == 1 && self.config.extension().is_none()
    }

    /// A bare name refers to a file in `configs`.
    fn path(&self) -> PathBuf {
        if !self.is_bare() || self.config.exists() {
            return self.config.clone();
        }
        PathBuf::from("configs").join(&self.config).with_extension("toml")
    }
}

fn has_arms(trials: &[Trial]) -> bool {
    trials.iter().any(|trial| !trial.rows.is_empty())
}

/// The arms of each mechanism: `laplace with own, pgm; hdmm with lls, pgm`.
fn arms_text(plan: &Plan) -> String {
    let each = plan.mechanisms.iter().map(|mechanism| {
        let arms: Vec<&str> = mechanism.arms.iter().map(|arm| arm.name.as_str()).collect();
        format!("{} with {}", mechanism.label, arms.join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The filter in the syntax of `--only`.
fn filter_text(filter: &Filter) -> String {
    let epsilons: Vec<String> = filter.epsilons.iter().map(f64::to_string).collect();
    let parts = [
        ("dataset", &filter.datasets),
        ("mechanism", &filter.mechanisms),
        ("arm", &filter.arms),
        ("epsilon", &epsilons),
    ];
    let all =
        parts.iter().flat_map(|(what, names)| names.iter().map(move |n| format!("{what}={n}")));
    all.collect::<Vec<_>>().join(",")
}

fn parse_filter(text: &str) -> Result<Filter, String> {
    let mut filter = Filter::default();
    for part in text.split(',') {
        let (what, name) = part.split_once('=').ok_or_else(|| {
            format!("expected dataset=, mechanism=, arm= or epsilon= and a name, found '{part}'")
        })?;
        match what.trim() {
            "dataset" => filter.datasets.push(name.trim().into()),
            "mechanism" => filter.mechanisms.push(name.trim().into()),
            "arm" => filter.arms.push(name.trim().into()),
            "epsilon" => filter.epsilons.push(
                name.trim().parse().map_err(|_| format!("epsilon: '{name}' is not a number"))?,
            ),
            other => {
                return Err(format!(
                    "expected dataset, mechanism, arm or epsilon before '=', found '{other}'"
                ));
            }
        }
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_written_as_it_is_read() {
        let text = "dataset=adult,dataset=loans,mechanism=hdmm,arm=pgm,epsilon=0.5,epsilon=2";
        assert_eq!(filter_text(&parse_filter(text).unwrap()), text);
    }
}
