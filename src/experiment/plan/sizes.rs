//! Sizes of attributes in place of data: what ResidualPlanner's errors would be.

use toml::Spanned;

use super::PlanError;
use super::cases;
use super::data::{PlannedData, WHICH_WORKLOAD, of_marginals};
use super::sets::asked_sets;
use crate::config::{self, Experiment, Source};
use crate::data::{Dataset, Provenance};
use crate::mechanism::residual_planner::{Objective, predict};
use crate::results::manifest::PredictionFacts;
use dp::{Neighbours, Rho};
use private_pgm::domain::{Clique, Domain};

/// The numbers of attributes of the marginals of ResidualPlanner's paper.
const PREDICTED: [&[usize]; 4] = [&[1], &[2], &[3], &[0, 1, 2, 3]];

/// A privacy cost of 1 in ResidualPlanner's paper.
const RHO: f64 = 0.5;

/// More attributes would take minutes. Our choice.
const MAX_ATTRIBUTES: usize = 100;

/// A dataset without records, with predictions.
pub(super) fn planned(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    sizes: &Spanned<Vec<u64>>,
) -> Result<PlannedData, PlanError> {
    let refuse = |message: String, help: Option<&str>| {
        PlanError::from(source.error(sizes.span(), message, help))
    };
    if experiment.kind != config::Kind::Datasets {
        let help = "predictions are for `kind = \"datasets\"`";
        return Err(refuse("there are no records to run a mechanism on".into(), Some(help)));
    }
    let count = sizes.as_ref().len();
    if count > MAX_ATTRIBUTES {
        return Err(refuse(format!("{count} attributes are more than {MAX_ATTRIBUTES}"), None));
    }
    let attributes = sizes.as_ref().iter().enumerate();
    let domain =
        Domain::new(attributes.map(|(i, &n)| (format!("attribute {}", i + 1), n as usize)))
            .map_err(|error| refuse(error.to_string(), None))?;
    let sets = asked_sets(source, experiment, named, &domain, None)?
        .ok_or_else(|| refuse("nothing is asked".into(), Some(WHICH_WORKLOAD)))?;
    let workloads = of_marginals(source, experiment, named, &domain, sets, &Clique::empty())?;
    let codes = vec![Vec::new(); count];
    let data = Dataset::from_codes(named.name.as_ref(), &domain, &codes, Provenance::default())
        .map_err(|error| refuse(error.to_string(), None))?;
    let cases = cases::cases(&experiment.public, workloads, &data)?;
    let title = format!("Sizes of {count} attributes, without data");
    let name = named.label().as_ref().clone();
    let predictions = predictions(&domain);
    Ok(PlannedData { name, predictions, ..PlannedData::new(title, data, cases) })
}

fn predictions(domain: &Domain) -> Vec<PredictionFacts> {
    let everything = domain.everything();
    let rho = Rho::new(RHO).expect("it is positive");
    let of = |ways: &&[usize]| {
        let cliques: Vec<Clique> = ways.iter().flat_map(|&k| everything.subsets(k)).collect();
        let least = |objective| predict(domain, &cliques, Neighbours::AddRemove, objective, rho);
        Some(PredictionFacts {
            ways: ways.to_vec(),
            root_mean_squared_error: least(Objective::Sum)?.root_mean_squared_error,
            largest_stddev: least(Objective::Largest)?.largest_stddev,
        })
    };
    let possible = PREDICTED.iter().filter(|ways| ways.iter().all(|&k| k <= domain.len()));
    possible.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;
    use crate::data::Registry;
    use crate::experiment::{Filter, Plan};
    use crate::results::claims::Verdict;

    /// By brute force: one attribute of n values at a privacy cost of 1. The residual of the total
    /// and that of the attribute have costs 1 / s and (1 - 1/n) / t and add s / n^2 and t (1 - 1/n)
    /// to the variance of each cell.
    #[test]
    fn one_attribute_has_the_least_error_of_all_divisions_of_the_budget() {
        let n = 5.0;
        let domain = Domain::new([("a", 5)]).unwrap();
        let found = &predictions(&domain)[0];
        let variance = |part: f64| {
            let (total, residual) = (1.0 / part, (1.0 - 1.0 / n) / (1.0 - part));
            total / (n * n) + residual * (1.0 - 1.0 / n)
        };
        let least = (1..10_000).map(|i| variance(f64::from(i) / 1e4)).fold(f64::MAX, f64::min);
        assert!((found.root_mean_squared_error / least.sqrt() - 1.0).abs() < 1e-6, "{found:?}");
        assert_eq!(found.ways, [1]);
        assert_eq!(predictions(&domain).len(), 1);
    }

    fn plan(text: &str) -> Result<Plan, String> {
        let source = Source { path: "sizes.toml".into(), text: text.into() };
        let (overrides, filter) = (Overrides::default(), Filter::default());
        Plan::new(source, &overrides, &Registry::default(), &filter).map_err(|e| e.to_string())
    }

    /// The two that differ were remembered otherwise; the file says so.
    #[test]
    fn remembered_errors_of_the_paper_agree_but_for_two_of_adult() {
        let plan = plan(&Source::shipped("residual-planner").unwrap().text).unwrap();
        let facts = plan.manifest(Vec::new()).datasets;
        let findings =
            plan.experiment.claims.iter().map(|c| c.as_ref().check_data(&facts).unwrap());
        let (hold, differ): (Vec<_>, Vec<_>) =
            findings.partition(|finding| finding.verdict == Verdict::Holds);
        assert_eq!((hold.len(), differ.len()), (7, 2));
        assert!(differ.iter().all(|finding| finding.verdict == Verdict::Differs), "{differ:?}");
        assert!(differ.iter().all(|finding| finding.says.contains("of Adult is")), "{differ:?}");
    }

    #[test]
    fn sizes_are_no_data_for_mechanisms_and_have_no_other_settings() {
        let table = "name = \"a\"\n[workload]\nevery = 1\n";
        let with = |kind: &str, dataset: &str| {
            plan(&format!("{kind}\ndatasets = [{{ name = \"x\", {dataset} }}]\n{table}"))
        };
        let datasets = "kind = \"datasets\"";
        assert!(with(datasets, "sizes = [2, 3]").is_ok());
        let refused = with(datasets, "sizes = [2, 3], records = 5").err().unwrap();
        assert!(refused.contains("leave it out"), "{refused}");
        assert!(with(datasets, "sizes = []").is_err());
        let refused = with("epsilon = 1.0\nmechanism = [{ name = \"laplace\" }]", "sizes = [2]");
        assert!(refused.err().unwrap().contains("there are no records"));
    }
}
