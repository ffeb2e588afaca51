use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::cases::{self, Case, NamedWorkload};
use super::origin::Origin;
use super::sets::{NamedSets, asked_sets, attribute};
use super::{PlanError, chain, sizes};
use crate::config::{self, Experiment, Source, closest};
use crate::data::{AttributeKind, CodesError, DataError, Dataset, Entry, Registry, Schema};
use crate::results::manifest::{PredictionFacts, TableFacts};
use crate::workload::Workload;
use dp::SeedPath;
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::model::Projectable;

/// Numeric attributes with more bins have prefix queries, if neither file nor schema says which
/// attributes have (our choice).
const PREFIX_BINS: usize = 20;

/// The counts of larger tables are of no use as facts.
const MAX_TABLE_CELLS: usize = 1_000_000;

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
    /// Where the workload comes from, if file or schema say so.
    pub origin: Option<Origin>,
    /// Of sizes without data.
    pub predictions: Vec<PredictionFacts>,
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
            origin: None,
            predictions: Vec::new(),
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

    /// `None` for a table of more than a million cells.
    pub fn table_facts(&self) -> Option<TableFacts> {
        let domain = self.data.domain();
        let cells = domain.cells(&domain.everything())?;
        if cells > MAX_TABLE_CELLS {
            return None;
        }
        let table = self.data.project(&domain.everything()).ok()?;
        let counts = table.values();
        let extreme = |choose: fn(f64, f64) -> f64| counts.iter().copied().reduce(choose);
        Some(TableFacts {
            cells,
            zeros: counts.iter().filter(|count| **count == 0.0).count(),
            smallest: extreme(f64::min)? as u64,
            largest: extreme(f64::max)? as u64,
        })
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
        if let Some(sizes) = &named.sizes {
            datasets.push(sizes::planned(source, experiment, named, sizes)?);
            continue;
        }
        let entry = entry(source, named, registry)?;
        let domain = kept_domain(source, named, entry.schema().domain())?;
        let marginals = match &experiment.workload.queries {
            Some(_) => None,
            None => Some(marginals(source, experiment, named, entry.schema(), &domain)?),
        };
        let mut data = entry.load()?;
        if domain.len() < data.domain().len() {
            let refuse =
                |error: CodesError| source.error(named.name.span(), error.to_string(), None);
            data = restricted(&data, &domain).map_err(refuse)?;
        }
        if let Some(count) = &named.records {
            data = subsample(source, experiment.seed, &data, count)?;
        }
        if let Some(bins) = &named.bins {
            data = cases::aggregated(source, &data, bins)?;
        }
        let workloads = match marginals {
            Some(workloads) => workloads,
            None => cases::workloads(source, experiment, data.domain())?,
        };
        cases::check_public(source, experiment, named, data.domain().len())?;
        let cases = cases::cases(&experiment.public, workloads, &data)?;
        let Schema { title, draft, .. } = entry.schema();
        let name = named.label().as_ref().clone();
        let origin = Origin::of(&experiment.workload, entry.schema());
        let planned = PlannedData::new(title.clone(), data, cases);
        datasets.push(PlannedData { name, draft: *draft, origin, ..planned });
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

/// The domain without the attributes that the file leaves out.
fn kept_domain(
    source: &Source,
    named: &config::Dataset,
    domain: &Domain,
) -> Result<Domain, PlanError> {
    let id = |name: &Spanned<String>| attribute(source, named.name.as_ref(), domain, name);
    let ids = |names: &[Spanned<String>]| names.iter().map(id).collect::<Result<Vec<_>, _>>();
    let gone = Clique::new(ids(&named.without)?);
    let only = match &named.only {
        Some(names) => Clique::new(ids(names.as_ref())?),
        None => domain.everything(),
    };
    let kept = domain.declared().iter().filter(|&&id| only.contains(id) && !gone.contains(id));
    let kept: Vec<AttributeId> = kept.copied().collect();
    let first = match &named.attributes {
        Some(count) if *count.as_ref() > kept.len() as u64 => {
            let message = format!("there are {} attributes, not {count}", kept.len());
            return Err(source.error(count.span(), message, None).into());
        }
        Some(count) => *count.as_ref() as usize,
        None => kept.len(),
    };
    let refuse = |message: String| source.error(named.name.span(), message, None);
    let kept = kept[..first].iter();
    let kept = Domain::new(kept.map(|&id| (domain.name(id), domain.size(id))))
        .map_err(|error| refuse(error.to_string()))?;
    match kept.is_empty() && !domain.is_empty() {
        true => Err(refuse("no attribute is left".into()).into()),
        false => Ok(kept),
    }
}

/// A random subset of the records in their order. It depends on the seed of the experiment and the
/// numbers of records only.
fn subsample(
    source: &Source,
    seed: u64,
    data: &Dataset,
    count: &Spanned<u64>,
) -> Result<Dataset, PlanError> {
    let wanted = *count.as_ref() as usize;
    let refuse = |message: String| source.error(count.span(), message, None);
    if wanted > data.len() {
        return Err(refuse(format!("there are {} records, not {wanted}", data.len())).into());
    }
    let path = SeedPath::new("subsample", seed).with("records", data.len());
    let mut rng = ChaCha20Rng::from_seed(path.with("count", wanted).seed());
    let mut kept = sample(&mut rng, data.len(), wanted).into_vec();
    kept.sort_unstable();
    let domain = data.domain();
    let column = |&id: &AttributeId| kept.iter().map(|&record| data.code(record, id)).collect();
    let codes: Vec<Vec<u32>> = domain.declared().iter().map(column).collect();
    let provenance = data.provenance().clone();
    Dataset::from_codes(data.name(), domain, &codes, provenance)
        .map_err(|error| refuse(error.to_string()).into())
}

/// The columns of the attributes of `domain`.
fn restricted(data: &Dataset, domain: &Domain) -> Result<Dataset, CodesError> {
    let column = |&id: &AttributeId| {
        let id = data.domain().id(domain.name(id)).expect("the domain is a part of the data's");
        (0..data.len()).map(|record| data.code(record, id)).collect::<Vec<u32>>()
    };
    let codes: Vec<Vec<u32>> = domain.declared().iter().map(column).collect();
    Dataset::from_codes(data.name(), domain, &codes, data.provenance().clone())
}

/// The marginals of the file; by default, those of the schema. `domain` has the attributes of the
/// schema, or some of them.
fn marginals(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    schema: &Schema,
    domain: &Domain,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let here = |clique: &Clique| -> Clique {
        schema.domain().names(clique).into_iter().filter_map(|name| domain.id(name)).collect()
    };
    let queries = schema.workload.as_ref().map(|known| known.query_count(schema.domain()));
    let asked = asked_sets(source, experiment, named, domain, queries)?;
    let (sets, prefix) = match (asked, &schema.workload) {
        (Some(sets), _) => (sets, here(&numeric(schema))),
        (None, Some(workload)) => {
            let complete = |(set, clique): (&Clique, &Clique)| set.len() == clique.len();
            let sets: Vec<Clique> = workload.triples.iter().map(here).collect();
            let kept = sets.iter().zip(&workload.triples).filter(|&pair| complete(pair));
            let kept = kept.map(|(set, _)| set.clone()).collect();
            (vec![(String::new(), kept)], here(&workload.prefix))
        }
        (None, None) => {
            let message = format!("the schema of \"{}\" names no workload", schema.name);
            return Err(source.error(named.name.span(), message, Some(WHICH_WORKLOAD)).into());
        }
    };
    of_marginals(source, experiment, named, domain, sets, &prefix)
}

/// Help for a dataset without a workload.
pub(super) const WHICH_WORKLOAD: &str = "say which with [workload] marginals = \
    [[\"a\", \"b\"], ...], every = 2 or random = { marginals = 15, size = 3, seed = 1 }";

/// Marginals on each list of sets, with prefix queries on the attributes that the file lists;
/// default: `prefix`.
pub(super) fn of_marginals(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    domain: &Domain,
    sets: Vec<NamedSets>,
    prefix: &Clique,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let id = |name: &Spanned<String>| attribute(source, named.name.as_ref(), domain, name);
    let prefix = match &experiment.workload.prefix {
        Some(names) => Clique::new(names.iter().map(id).collect::<Result<Vec<_>, _>>()?),
        None => prefix.clone(),
    };
    let workload = |(name, cliques): NamedSets| {
        let workload = Workload::marginals(domain, &cliques, &prefix)
            .map_err(|error| source.error(named.name.span(), error.to_string(), None))?;
        Ok(NamedWorkload::new(name, None, workload))
    };
    sets.into_iter().map(workload).collect()
}

/// The numeric attributes with more than [`PREFIX_BINS`] bins.
fn numeric(schema: &Schema) -> Clique {
    let domain = schema.domain();
    let many = schema.attributes().iter().filter(|attribute| {
        matches!(attribute.kind, AttributeKind::Numeric { .. }) && attribute.size() > PREFIX_BINS
    });
    Clique::new(many.filter_map(|attribute| domain.id(&attribute.name)))
}
