//! Figure 2b: chains of increasing length, with marginals on all triples of adjacent attributes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::plan::{Case, PlanError, PlannedData, PlannedMechanism, arms, commands};
use crate::config::{Experiment, Scaling, Source};
use crate::data::{Dataset, Provenance};
use crate::mechanism;
use crate::workload::Workload;
use dp::SeedPath;
use private_pgm::domain::{Clique, Domain};

/// Measures every marginal of the workload and selects nothing.
const MECHANISM: &str = "laplace";

/// One dataset per number of attributes. Values are independent and uniform, because the time of an
/// iteration does not depend on them.
pub(super) fn datasets(
    source: &Source,
    experiment: &Experiment,
) -> Result<Vec<PlannedData>, PlanError> {
    let Some(scaling) = &experiment.scaling else { return Ok(Vec::new()) };
    let at_name = |message: String| source.error(experiment.name.span(), message, None);
    let chain = |&attributes: &usize| {
        let Scaling { values, records, .. } = *scaling;
        let name = format!("chain-{attributes}");
        let domain = Domain::new((0..attributes).map(|i| (format!("x{i}"), values)))
            .map_err(|error| at_name(error.to_string()))?;
        let path = SeedPath::new("seed", experiment.seed).with("dataset", &name);
        let mut rng = ChaCha20Rng::from_seed(path.seed());
        let mut column = || (0..records).map(|_| rng.random_range(0..values as u32)).collect();
        let columns: Vec<Vec<u32>> = (0..attributes).map(|_| column()).collect();
        let data = Dataset::from_codes(&name, &domain, &columns, Provenance::default())
            .map_err(|error| at_name(error.to_string()))?;
        let triples: Vec<Clique> =
            domain.declared().windows(3).map(|three| Clique::new(three.iter().copied())).collect();
        let workload = Workload::marginals(&domain, &triples, &Clique::empty())
            .map_err(|error| at_name(error.to_string()))?;
        let title = format!("a chain of {attributes} attributes");
        let case = Case::only(&data, workload)?;
        Ok(PlannedData::new(title, data, vec![case]))
    };
    scaling.attributes.iter().map(chain).collect()
}

/// The mechanism [`MECHANISM`] with the estimators in the file.
pub(super) fn mechanisms(
    source: &Source,
    experiment: &Experiment,
) -> Result<Vec<PlannedMechanism>, PlanError> {
    let Some(scaling) = &experiment.scaling else { return Ok(Vec::new()) };
    let failed = |message: String| source.error(experiment.name.span(), message, None);
    let kind = mechanism::find(MECHANISM)
        .ok_or_else(|| failed(format!("there is no mechanism \"{MECHANISM}\"")))?;
    let built = (kind.build)(&toml::Table::new()).map_err(|error| failed(error.message))?;
    Ok(vec![PlannedMechanism {
        name: kind.name.into(),
        label: kind.name.into(),
        title: kind.title.into(),
        mechanism: built,
        parameters: String::new(),
        command: None,
        workload_dependence: kind.workload_dependence,
        has_rounds: kind.has_rounds,
        cost_model: kind.cost_model,
        guarantee: kind.guarantee,
        delta: None,
        arms: arms(source, &[], &scaling.arms, &commands::estimators(source, experiment)?)?,
    }])
}
