use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::cases::{self, Case, NamedWorkload};
use super::{PlanError, chain};
use crate::config::{self, Experiment, RandomMarginals, Source, closest};
use crate::data::{AttributeKind, DataError, Dataset, Entry, Registry, Schema};
use crate::workload::Workload;
use dp::SeedPath;
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::model::Projectable;

/// Numeric attributes with more bins have prefix queries, if neither file nor schema says which
/// attributes have (our choice).
const PREFIX_BINS: usize = 20;
/// Sets of attributes that `every` may generate (our choice).
const MAX_SETS: usize = 100_000;
/// Minimum number of draws before the search for distinct random sets fails (our choice).
const ATTEMPTS: usize = 10_000;

/// A loaded dataset with its cases.
pub struct PlannedData {
    pub name: String,
    /// For display.
    pub title: String,
    pub data: Dataset,
    /// At least one.
    pub cases: Vec<Case>,
    /// [`Dataset::fingerprint`].
    pub fingerprint: String,
    /// Whether the records are stand-ins.
    pub standin: bool,
    /// Whether the schema is a draft, with bounds and values taken from the records.
    pub draft: bool,
}

impl PlannedData {
    pub(in crate::experiment) fn new(title: String, data: Dataset, cases: Vec<Case>) -> Self {
        Self {
            name: data.name().into(),
            title,
            cases,
            fingerprint: data.fingerprint(),
            standin: data.provenance().stand_in,
            draft: false,
            data,
        }
    }

    /// The number of possible records to one digit. It may exceed the range of `f64`.
    pub fn domain_size(&self) -> String {
        let domain = self.data.domain();
        let digits: f64 = domain.ids().map(|id| (domain.size(id) as f64).log10()).sum();
        let (power, lead) = (digits.floor(), 10f64.powf(digits - digits.floor()));
        format!("{lead:.0}e{power}")
    }

    /// The number of queries over all cases.
    pub fn queries(&self) -> usize {
        self.cases.iter().map(|case| case.workload.queries()).sum()
    }
}

/// Loads the datasets of the file. Ignores the filter, because the keys of all rows depend on the
/// contents of the data.
pub(super) fn resolve(
    source: &Source,
    experiment: &Experiment,
    registry: &Registry,
) -> Result<Vec<PlannedData>, PlanError> {
    let mut datasets = Vec::new();
    for named in &experiment.datasets {
        if let Some(chain) = &named.chain {
            datasets.push(chain::planned(source, experiment, named, chain)?);
            continue;
        }
        let entry = entry(source, named, registry)?;
        let marginals = match &experiment.workload.queries {
            Some(_) => None,
            None => Some(marginals(source, experiment, named, entry.schema())?),
        };
        let mut data = entry.load()?;
        if let Some(bins) = &named.bins {
            data = cases::aggregated(source, &data, bins)?;
        }
        let workloads = match marginals {
            Some(workload) => vec![NamedWorkload::unnamed(workload)],
            None => cases::workloads(source, experiment, data.domain())?,
        };
        cases::check_public(source, experiment, named, data.domain().len())?;
        let cases = cases::cases(&experiment.public, workloads, &data)?;
        let Schema { title, draft, .. } = entry.schema();
        datasets
            .push(PlannedData { draft: *draft, ..PlannedData::new(title.clone(), data, cases) });
    }
    Ok(datasets)
}

fn entry(
    source: &Source,
    named: &config::Dataset,
    registry: &Registry,
) -> Result<Entry, PlanError> {
    let Some(schema) = &named.schema else {
        return registry.entry(named.name.as_ref()).map_err(|error| match error {
            DataError::UnknownDataset { name, known } => {
                let close = closest(&name, known.iter().map(String::as_str));
                let help = match close {
                    Some(close) => format!("did you mean \"{close}\"?"),
                    None => format!(
                        "there are {}; your own data needs a schema: {{ name = \
                         \"{name}\", schema = \"schema.toml\" }}",
                        known.join(", ")
                    ),
                };
                let message = format!("there is no data set \"{name}\"");
                source.error(named.name.span(), message, Some(&help)).into()
            }
            other => other.into(),
        });
    };
    let path = source.resolve(schema.as_ref());
    let entry = registry
        .entry(&path.to_string_lossy())
        .map_err(|error| source.error(schema.span(), error.to_string(), None))?;
    let (named_as, schema_name) = (named.name.as_ref(), &entry.schema().name);
    if named_as != schema_name {
        let message = format!("the schema is about \"{schema_name}\", not \"{named_as}\"");
        let help = format!("name = \"{schema_name}\"");
        return Err(source.error(named.name.span(), message, Some(&help)).into());
    }
    Ok(entry)
}

/// The marginals of the file; by default, those of the schema.
fn marginals(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    schema: &Schema,
) -> Result<Workload, PlanError> {
    let domain = schema.domain();
    let (cliques, prefix) = match (asked_sets(source, experiment, named, domain)?, &schema.workload)
    {
        (Some(sets), _) => (sets, numeric(schema)),
        (None, Some(workload)) => (workload.triples.clone(), workload.prefix.clone()),
        (None, None) => {
            let message = format!("the schema of \"{}\" names no workload", schema.name);
            return Err(source.error(named.name.span(), message, Some(WHICH_WORKLOAD)).into());
        }
    };
    of_marginals(source, experiment, named, domain, &cliques, prefix)
}

/// Help for a dataset without a workload.
pub(super) const WHICH_WORKLOAD: &str = "say which with [workload] marginals = \
    [[\"a\", \"b\"], ...], every = 2 or random = { marginals = 15, size = 3, seed = 1 }";

/// The sets of attributes of the file, if it has any.
pub(super) fn asked_sets(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    domain: &Domain,
) -> Result<Option<Vec<Clique>>, PlanError> {
    let asked = &experiment.workload;
    let id = |name: &Spanned<String>| attribute(source, named.name.as_ref(), domain, name);
    Ok(match (&asked.marginals, &asked.every, &asked.random) {
        (Some(sets), ..) => {
            let clique = |set: &Spanned<Vec<Spanned<String>>>| {
                set.as_ref().iter().map(id).collect::<Result<Vec<_>, _>>().map(Clique::new)
            };
            Some(sets.as_ref().iter().map(clique).collect::<Result<Vec<_>, _>>()?)
        }
        (None, Some(size), _) => Some(every(source, size, domain)?),
        (None, None, Some(random)) => Some(draw(source, random, domain)?),
        (None, None, None) => None,
    })
}

/// Marginals on these sets, with prefix queries on the attributes that the file lists; default:
/// `prefix`.
pub(super) fn of_marginals(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    domain: &Domain,
    cliques: &[Clique],
    prefix: Clique,
) -> Result<Workload, PlanError> {
    let id = |name: &Spanned<String>| attribute(source, named.name.as_ref(), domain, name);
    let prefix = match &experiment.workload.prefix {
        Some(names) => Clique::new(names.iter().map(id).collect::<Result<Vec<_>, _>>()?),
        None => prefix,
    };
    Workload::marginals(domain, cliques, &prefix)
        .map_err(|error| source.error(named.name.span(), error.to_string(), None).into())
}

/// The numeric attributes with more than [`PREFIX_BINS`] bins.
fn numeric(schema: &Schema) -> Clique {
    let domain = schema.domain();
    let many = schema.attributes().iter().filter(|attribute| {
        matches!(attribute.kind, AttributeKind::Numeric { .. }) && attribute.size() > PREFIX_BINS
    });
    Clique::new(many.filter_map(|attribute| domain.id(&attribute.name)))
}

fn attribute(
    source: &Source,
    dataset: &str,
    domain: &Domain,
    name: &Spanned<String>,
) -> Result<AttributeId, PlanError> {
    domain.id(name.as_ref()).ok_or_else(|| {
        let known: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
        let help = match closest(name.as_ref(), known.iter().copied()) {
            Some(close) => format!("did you mean \"{close}\"?"),
            None => format!("its attributes are {}", known.join(", ")),
        };
        let message = format!("\"{dataset}\" has no attribute \"{}\"", name.as_ref());
        source.error(name.span(), message, Some(&help)).into()
    })
}

/// All sets of `size` attributes, unless these are too many.
fn every(source: &Source, size: &Spanned<u64>, domain: &Domain) -> Result<Vec<Clique>, PlanError> {
    let (attributes, wanted) = (domain.len(), *size.as_ref() as usize);
    let refuse = |message: String| PlanError::from(source.error(size.span(), message, None));
    if wanted > attributes {
        return Err(refuse(format!(
            "there are {attributes} attributes, too few for sets of {wanted}"
        )));
    }
    let sets = (0..wanted).fold(1.0, |sets, i| sets * (attributes - i) as f64 / (i + 1) as f64);
    if sets > MAX_SETS as f64 {
        return Err(refuse(format!(
            "{sets:.1e} sets of {wanted} attributes are more than {MAX_SETS}"
        )));
    }
    Ok(domain.everything().subsets(wanted))
}

/// Distinct sets of attributes, drawn uniformly.
fn draw(
    source: &Source,
    random: &Spanned<RandomMarginals>,
    domain: &Domain,
) -> Result<Vec<Clique>, PlanError> {
    let RandomMarginals { marginals, size, seed } = random.as_ref();
    let (count, size) = (*marginals.as_ref() as usize, *size.as_ref() as usize);
    let mut cliques: Vec<Clique> = Vec::new();
    let mut rng = ChaCha20Rng::from_seed(SeedPath::new("workload", seed).seed());
    let declared = domain.declared();
    for _ in 0..ATTEMPTS.max(10 * count) {
        if cliques.len() == count || size > declared.len() {
            break;
        }
        let chosen = sample(&mut rng, declared.len(), size);
        let clique = Clique::new(chosen.iter().map(|place| declared[place]));
        if !cliques.contains(&clique) {
            cliques.push(clique);
        }
    }
    if cliques.len() < count {
        let message = format!("there are not {count} different sets of {size} attributes");
        return Err(source.error(random.span(), message, None).into());
    }
    Ok(cliques)
}
