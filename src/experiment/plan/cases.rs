use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::PlanError;
use crate::config::{self, Experiment, Queries, RandomRanges, Source};
use crate::data::{DataError, Dataset};
use crate::workload::{SubWorkload, Workload};
use dp::SeedPath;
use private_pgm::domain::Domain;
use private_pgm::factor::Projectable;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::query::{QueryError, QueryFactor, QueryMatrix};

/// The most cells of a dense matrix of random queries. Our choice, 1 GiB.
const MOST_ENTRIES: usize = 1 << 27;

/// What is asked of some data, and what is known about it anyway.
pub struct Case {
    /// What sets it apart from other cases of the data; empty for the only one.
    pub name: String,
    /// The number of cells of each query, where all have the same.
    pub size: Option<usize>,
    /// The order of the marginals that are public.
    pub public: Option<usize>,
    /// What is asked.
    pub workload: Workload,
    /// The true answers, for the error. Not for release.
    pub truth: Vec<Vec<f64>>,
}

impl Case {
    /// The only case of some data, with nothing public.
    pub(in crate::experiment) fn only(
        data: &Dataset,
        workload: Workload,
    ) -> Result<Self, DataError> {
        let truth = workload.answers(data)?;
        Ok(Self { name: String::new(), size: None, public: None, workload, truth })
    }
}

/// A workload with a name.
pub(super) struct Named {
    name: String,
    size: Option<usize>,
    workload: Workload,
}

impl Named {
    pub(super) fn unnamed(workload: Workload) -> Self {
        Self { name: String::new(), size: None, workload }
    }
}

/// Whether there are marginals of all orders that are said to be public.
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
                "\"{name}\" has {attributes} attributes, so that no marginals of order {order} can be public"
            );
            let help = format!("`public` may have orders from 0 to {attributes}");
            Err(source.error(named.name.span(), message, Some(&help)).into())
        }
    }
}

/// Each workload with each order of public marginals. The true answers are the same for all orders.
pub(super) fn cases(
    public: &[usize],
    workloads: Vec<Named>,
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
        for (Named { name, size, workload }, truth) in workloads.iter().zip(&truths) {
            let known = match public {
                None => String::new(),
                Some(0) => "public total".into(),
                Some(order) => format!("public marginals of order {order}"),
            };
            let parts = [name.as_str(), &known];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let (name, workload, truth) = (parts.join(", "), workload.clone(), truth.clone());
            cases.push(Case { name, size: *size, public, workload, truth });
        }
    }
    Ok(cases)
}

/// The queries that the file names, on the table of all attributes.
pub(super) fn workloads(
    source: &Source,
    experiment: &Experiment,
    domain: &Domain,
) -> Result<Vec<Named>, PlanError> {
    let Some(queries) = &experiment.workload.queries else { return Ok(Vec::new()) };
    let mut workloads = Vec::new();
    for kind in queries.as_ref() {
        let refuse = |message: String| PlanError::from(source.error(kind.span(), message, None));
        let everything = domain.everything();
        let cells = domain.cells(&everything).ok_or_else(|| {
            refuse(format!(
                "the table of all attributes has {:.1e} cells",
                domain.cells_f64(&everything)
            ))
        })?;
        let path =
            SeedPath::new("queries", format_args!("{:?}", kind.as_ref())).with("cells", cells);
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
            if rows.saturating_mul(cells) > MOST_ENTRIES {
                return Err(refuse(format!("{rows} queries over {cells} cells are too many")));
            }
            let entries = (0..rows * cells).map(|_| values[usize::from(rng.random::<bool>())]);
            let matrix = Matrix::new(rows, cells, entries.collect());
            whole(QueryMatrix::dense(domain, everything.as_slice(), matrix))
        };
        match kind.as_ref() {
            Queries::Identity => {
                let (name, workload) = ("identity".into(), whole(identity())?);
                workloads.push(Named { name, size: Some(1), workload });
            }
            Queries::AllRanges => {
                let ranges = identity().and_then(|query| match everything.len() {
                    1 => query.with_factors(vec![QueryFactor::Ranges]),
                    _ => QueryMatrix::intervals(domain, &everything, all_ranges(cells)),
                });
                workloads.push(Named {
                    name: "all ranges".into(),
                    size: None,
                    workload: whole(ranges)?,
                });
            }
            Queries::Predicates(rows) => workloads.push(Named {
                name: "predicates".into(),
                size: None,
                workload: random(*rows, [0.0, 1.0])?,
            }),
            Queries::Signs(rows) => workloads.push(Named {
                name: "random signs".into(),
                size: None,
                workload: random(*rows, [-1.0, 1.0])?,
            }),
            Queries::Ranges(RandomRanges { size, count }) => {
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
                    let (name, workload) = (format!("ranges of {size}"), whole(ranges)?);
                    workloads.push(Named { name, size: Some(size), workload });
                }
            }
        }
    }
    // What there is only one of needs no name.
    if let [only] = &mut workloads[..] {
        only.name.clear();
    }
    Ok(workloads)
}

/// The sizes of random ranges: 2^1 up to 2^(h-2), where 2^h is the number of cells, rounded up (KDD
/// 2015, section 5.2).
fn sizes(one: Option<u64>, cells: usize) -> Vec<usize> {
    match one {
        Some(size) => vec![size as usize],
        None => {
            let most = cells.next_power_of_two() / 4;
            std::iter::successors(Some(2), |size| Some(2 * size))
                .take_while(|&s| s <= most)
                .collect()
        }
    }
}

fn all_ranges(cells: usize) -> Vec<(usize, usize)> {
    (0..cells).flat_map(|start| (start + 1..=cells).map(move |end| (start, end))).collect()
}

/// A histogram with fewer bins: bin i goes to i * bins / n, so that each takes as many neighbours as the
/// next, or one more.
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
