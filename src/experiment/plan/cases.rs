use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::PlanError;
use crate::config::{self, Experiment, Queries, RandomRanges, Source};
use crate::data::{DataError, Dataset};
use crate::workload::{SubWorkload, Workload};
use dp::SeedPath;
use private_pgm::domain::Domain;
use private_pgm::model::Projectable;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};

/// Entries of a dense matrix of random queries (our choice: 1 GiB).
const MAX_ENTRIES: usize = 1 << 27;

/// A workload on a dataset, and what is public about the dataset.
pub struct Case {
    /// Unique among the cases of the dataset; empty if there is only one.
    pub name: String,
    /// The number of cells of each query, if it is the same for all.
    pub size: Option<usize>,
    /// The order of the public marginals.
    pub public: Option<usize>,
    pub workload: Workload,
    /// The true answers, to compute errors. Not for release.
    pub truth: Vec<Vec<f64>>,
}

impl Case {
    /// The only case of a dataset, with nothing public.
    pub(in crate::experiment) fn only(
        data: &Dataset,
        workload: Workload,
    ) -> Result<Self, DataError> {
        let truth = workload.answers(data)?;
        Ok(Self { name: String::new(), size: None, public: None, workload, truth })
    }
}

pub(super) struct NamedWorkload {
    name: String,
    size: Option<usize>,
    workload: Workload,
}

impl NamedWorkload {
    pub(super) fn new(name: impl Into<String>, size: Option<usize>, workload: Workload) -> Self {
        Self { name: name.into(), size, workload }
    }
}

/// Refuses public marginals of a higher order than there are attributes.
pub(super) fn check_public(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    attributes: usize,
) -> Result<(), PlanError> {
    match experiment.public.iter().find(|&&order| order > attributes) {
        None => Ok(()),
        Some(order) => {
            let name = named.name.as_ref();
            let message = format!(
                "\"{name}\" has {attributes} attributes, so that no marginals of order {order} can \
                 be public"
            );
            let help = format!("`public` may have orders from 0 to {attributes}");
            Err(source.error(named.name.span(), message, Some(&help)).into())
        }
    }
}

/// Each workload with each order of public marginals. All orders share the true answers.
pub(super) fn cases(
    public: &[usize],
    workloads: Vec<NamedWorkload>,
    data: &Dataset,
) -> Result<Vec<Case>, DataError> {
    let orders = match public {
        [] => vec![None],
        orders => orders.iter().copied().map(Some).collect(),
    };
    let truths: Vec<Vec<Vec<f64>>> =
        workloads.iter().map(|named| named.workload.answers(data)).collect::<Result<_, _>>()?;
    let mut cases = Vec::new();
    for public in orders {
        for (NamedWorkload { name, size, workload }, truth) in workloads.iter().zip(&truths) {
            let public_text = match public {
                None => String::new(),
                Some(0) => "public total".into(),
                Some(order) => format!("public marginals of order {order}"),
            };
            let parts = [name.as_str(), &public_text];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let (name, workload, truth) = (parts.join(", "), workload.clone(), truth.clone());
            cases.push(Case { name, size: *size, public, workload, truth });
        }
    }
    Ok(cases)
}

/// The `queries` of the file, over the contingency table of all attributes.
pub(super) fn workloads(
    source: &Source,
    experiment: &Experiment,
    domain: &Domain,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let Some(queries) = &experiment.workload.queries else { return Ok(Vec::new()) };
    let mut workloads = Vec::new();
    for kind in queries.as_ref() {
        workloads.extend(workloads_of_kind(source, domain, kind)?);
    }
    // The name would distinguish nothing.
    if let [only] = &mut workloads[..] {
        only.name.clear();
    }
    Ok(workloads)
}

/// One workload, or one per size of random ranges.
fn workloads_of_kind(
    source: &Source,
    domain: &Domain,
    kind: &Spanned<Queries>,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let refuse = |message: String| PlanError::from(source.error(kind.span(), message, None));
    let everything = domain.everything();
    let cells = domain.cells(&everything).ok_or_else(|| {
        refuse(format!(
            "the table of all attributes has {:.1e} cells",
            domain.cells_f64(&everything)
        ))
    })?;
    let path = SeedPath::new("queries", format_args!("{:?}", kind.as_ref())).with("cells", cells);
    let mut rng = ChaCha20Rng::from_seed(path.seed());
    let whole = |query: Result<QueryMatrix, QueryError>| {
        let query = query.map_err(|error| refuse(error.to_string()))?;
        Ok::<_, PlanError>(Workload::whole(
            domain,
            SubWorkload { clique: everything.clone(), query },
        ))
    };
    let identity = || QueryMatrix::identity(domain, &everything);
    let mut random = |rows: u64, values: [f64; 2]| {
        let rows = rows as usize;
        if rows.saturating_mul(cells) > MAX_ENTRIES {
            return Err(refuse(format!("{rows} queries over {cells} cells are too many")));
        }
        let entries = (0..rows * cells).map(|_| values[usize::from(rng.random::<bool>())]);
        let matrix = Matrix::new(rows, cells, entries.collect());
        whole(QueryMatrix::dense(domain, everything.as_slice(), matrix))
    };
    Ok(match kind.as_ref() {
        Queries::Identity => {
            vec![NamedWorkload::new("identity", Some(1), whole(identity())?)]
        }
        Queries::AllRanges => {
            let ranges = identity().and_then(|query| match everything.len() {
                1 => query.with_factors(vec![QueryFactor::Ranges]),
                _ => QueryMatrix::intervals(domain, &everything, all_ranges(cells)),
            });
            vec![NamedWorkload::new("all ranges", None, whole(ranges)?)]
        }
        Queries::Predicates(rows) => {
            vec![NamedWorkload::new("predicates", None, random(*rows, [0.0, 1.0])?)]
        }
        Queries::Signs(rows) => {
            vec![NamedWorkload::new("random signs", None, random(*rows, [-1.0, 1.0])?)]
        }
        Queries::Ranges(RandomRanges { size, count }) => {
            let mut workloads = Vec::new();
            for size in sizes(*size, cells) {
                if size > cells {
                    return Err(refuse(format!(
                        "there are {cells} cells, and ranges of {size} of them"
                    )));
                }
                let range = |_| {
                    let start = rng.random_range(0..=cells - size);
                    (start, start + size)
                };
                let intervals = (0..*count).map(range).collect();
                let ranges = QueryMatrix::intervals(domain, &everything, intervals);
                let name = format!("ranges of {size}");
                workloads.push(NamedWorkload::new(name, Some(size), whole(ranges)?));
            }
            workloads
        }
    })
}

/// The sizes of random ranges. Default: the powers of two from 2 to 2^(h-2), where h is the binary
/// logarithm of the number of cells, rounded up (KDD 2015, section 5.2).
fn sizes(size: Option<u64>, cells: usize) -> Vec<usize> {
    match size {
        Some(size) => vec![size as usize],
        None => {
            let largest = cells.next_power_of_two() / 4;
            std::iter::successors(Some(2), |size| Some(2 * size))
                .take_while(|&s| s <= largest)
                .collect()
        }
    }
}

fn all_ranges(cells: usize) -> Vec<(usize, usize)> {
    (0..cells).flat_map(|start| (start + 1..=cells).map(move |end| (start, end))).collect()
}

/// A histogram with fewer bins: bin i of n becomes bin floor(i * bins / n), so that the numbers of
/// merged bins differ by at most one.
pub(super) fn aggregated(
    source: &Source,
    data: &Dataset,
    bins: &Spanned<u64>,
) -> Result<Dataset, PlanError> {
    let refuse = |message: String, help: Option<&str>| {
        PlanError::from(source.error(bins.span(), message, help))
    };
    let domain = data.domain();
    let [id] = domain.declared() else {
        let message = format!("`bins` is for histograms, and this has {} attributes", domain.len());
        return Err(refuse(message, Some("leave it out")));
    };
    let (wanted, found) = (*bins.as_ref() as usize, domain.size(*id));
    if wanted == 0 || wanted > found {
        let message = format!("the histogram has {found} bins, which cannot become {wanted}");
        return Err(refuse(message, None));
    }
    let codes = (0..data.len()).map(|record| {
        let bin = data.code(record, *id) as usize;
        (bin * wanted / found) as u32
    });
    let smaller =
        Domain::new([(domain.name(*id), wanted)]).map_err(|e| refuse(e.to_string(), None))?;
    let provenance = data.provenance().clone();
    Dataset::from_codes(data.name(), &smaller, &[codes.collect()], provenance)
        .map_err(|error| refuse(error.to_string(), None))
}
