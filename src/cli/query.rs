//! `pgmbench query`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::factor::CliqueLayout;
use private_pgm::fit::OracleKind;
use private_pgm::model::{Calibrated, InferenceError, Model, Projectable};
use private_pgm::oracle::{Loopy, LoopyError, LoopyOptions};
use private_pgm::problem::FactoredQuery;
use private_pgm::query::QueryFactor;
use serde_json::Map;

use super::choice::one_of;
use super::engine_files::{read_model, read_queries};
use super::failure::{Failure, ResultExt};
use super::model_description::{description_json, write_description};
use super::output::{print, print_json};
use super::table::{Table, write_csv};

/// Attributes that a message names at most.
const NAMED: usize = 20;

/// Compute marginals and other counts of a model
///
/// Prints the expected number of records for each combination of values of the listed attributes,
/// or the answers to the factored queries of a file. Several tables are separated by an empty line
/// in CSV, and are the elements of one list in JSON. Without --marginal and --factored, describes
/// the model.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench query model.pgm --marginal age,sex --marginal income\n  \
    pgmbench query model.pgm --marginal age --given sex=1 --format json\n  \
    pgmbench query model.pgm --factored queries.json\n\n\
    A file of factored queries is a JSON list such as\n  \
    [{\"attrs\": [\"age\", \"sex\"], \"query\": [\"prefix\", {\"evidence\": 1}]}]\n\
    with the building blocks of problem files (docs/formats.md).")]
pub(crate) struct QueryArgs {
    /// The model, a file that `estimate` wrote
    model: PathBuf,
    /// Attributes separated by commas; names that contain a comma are quoted as in CSV (repeatable)
    #[arg(long, value_name = "ATTRS")]
    marginal: Vec<String>,
    /// Count only records with this value, in all marginals (repeatable)
    #[arg(long, value_name = "ATTR=VALUE", requires = "marginal")]
    given: Vec<String>,
    /// A JSON file with a list of factored queries
    #[arg(long, value_name = "FILE")]
    factored: Option<PathBuf>,
    /// Computation of marginals [default: exact; required if the model was estimated with another
    /// oracle]; loopy and convex are approximations for models whose junction tree is too large,
    /// and only of attributes that were measured together
    #[arg(long, value_parser = one_of::<OracleKind>())]
    oracle: Option<OracleKind>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// One line per answer: the values of the attributes, then the count
    Csv,
    /// A list of objects with attrs and values, row-major in attrs as listed
    Json,
}

impl QueryArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let model = read_model(&self.model)?;
        if self.marginal.is_empty() && self.factored.is_none() {
            return match self.format {
                Format::Csv => print(|output| write_description(&model, output)),
                Format::Json => print_json(&description_json(&model)),
            };
        }
        let domain = model.domain();
        // All queries are checked before the first is answered.
        let given = given(domain, &self.given)?;
        let requested = self.marginal.iter().map(|text| listed(domain, text, &given));
        let requested = requested.collect::<Result<Vec<_>, _>>()?;
        let factored = match &self.factored {
            Some(path) => read_queries(path, domain)?,
            None => Vec::new(),
        };
        let tables = match self.oracle(&model)? {
            OracleKind::Exact => self.exact(&model, &requested, &given, &factored)?,
            OracleKind::Loopy => self.approximate(&model, Loopy::bethe, &requested)?,
            OracleKind::Convex => self.approximate(&model, Loopy::convex, &requested)?,
        };
        match self.format {
            Format::Csv => print(|output| write_csv(&tables, output)),
            Format::Json => print_json(&tables),
        }
    }

    fn exact(
        &self,
        model: &Model,
        requested: &[Vec<AttributeId>],
        given: &[(AttributeId, usize)],
        factored: &[FactoredQuery],
    ) -> Result<Vec<Table>, Failure> {
        let domain = model.domain();
        let calibrated = model.calibrate().map_err(|error| self.too_large(error))?;
        let mut tables = marginals(model, &calibrated, requested, given).input_at("--marginal")?;
        for query in factored {
            let values = calibrated.answer(&query.factors).input_at("--factored")?;
            tables.push(Table {
                attributes: query.factors.iter().map(|(id, _)| domain.name(*id).into()).collect(),
                given: Map::new(),
                shape: query.shape(domain),
                values,
            });
        }
        Ok(tables)
    }

    /// The oracle of --oracle, or the exact one if the model was estimated with it.
    fn oracle(&self, model: &Model) -> Result<OracleKind, Failure> {
        let estimated = model.origin().filter(|origin| !origin.oracle_is_exact);
        match (self.oracle, estimated) {
            (None, Some(origin)) => Err(Failure::input(format!(
                "{}: this model was estimated with the {name} oracle, whose marginals differ from \
                 the exact ones; choose --oracle {name} for the estimated marginals, or --oracle \
                 exact",
                self.model.display(),
                name = origin.oracle
            ))),
            (Some(OracleKind::Loopy | OracleKind::Convex), _)
                if !self.given.is_empty() || self.factored.is_some() =>
            {
                Err(Failure::input("--oracle: --given and --factored need the exact oracle"))
            }
            (requested, _) => Ok(requested.unwrap_or(OracleKind::Exact)),
        }
    }

    fn too_large(&self, error: InferenceError) -> Failure {
        let hint = match error {
            InferenceError::TooLarge { .. } => {
                "; --oracle convex approximates marginals of attributes that were measured together"
            }
            _ => "",
        };
        Failure::input(format!("{}: {error}{hint}", self.model.display()))
    }

    fn approximate(
        &self,
        model: &Model,
        oracle: fn(&Arc<CliqueLayout>, LoopyOptions) -> Result<Loopy, LoopyError>,
        requested: &[Vec<AttributeId>],
    ) -> Result<Vec<Table>, Failure> {
        let file = self.model.display();
        let oracle = oracle(model.layout(), LoopyOptions::default()).input_at(&file)?;
        let approximate = model.approximate(oracle).input_at(&file)?;
        let each = requested.iter().map(|ids| {
            let clique: Clique = ids.iter().copied().collect();
            let found = approximate.project(&clique).input_at("--marginal")?;
            Ok(table(model.domain(), ids, &[], found.values_as_listed(ids)))
        });
        let tables = each.collect::<Result<_, Failure>>()?;
        eprintln!("note: these marginals are approximations by belief propagation");
        Ok(tables)
    }
}

fn marginals(
    model: &Model,
    calibrated: &Calibrated,
    requested: &[Vec<AttributeId>],
    given: &[(AttributeId, usize)],
) -> Result<Vec<Table>, InferenceError> {
    let domain = model.domain();
    let values: Vec<Vec<f64>> = if given.is_empty() {
        let cliques: Vec<Clique> =
            requested.iter().map(|ids| ids.iter().copied().collect()).collect();
        let found = calibrated.marginals(&cliques)?;
        found.iter().zip(requested).map(|(table, ids)| table.values_as_listed(ids)).collect()
    } else {
        let evidence = given.iter().map(|&(id, value)| (id, QueryFactor::Evidence(vec![value])));
        let queries = requested.iter().map(|ids| {
            let every = ids.iter().map(|&id| (id, QueryFactor::Identity));
            calibrated.answer(&every.chain(evidence.clone()).collect::<Vec<_>>())
        });
        queries.collect::<Result<_, _>>()?
    };
    Ok(requested
        .iter()
        .zip(values)
        .map(|(ids, values)| table(domain, ids, given, values))
        .collect())
}

fn table(
    domain: &Domain,
    ids: &[AttributeId],
    given: &[(AttributeId, usize)],
    values: Vec<f64>,
) -> Table {
    let name = |id: AttributeId| domain.name(id).to_string();
    Table {
        attributes: ids.iter().map(|&id| name(id)).collect(),
        given: given.iter().map(|&(id, value)| (name(id), value.into())).collect(),
        shape: ids.iter().map(|&id| domain.size(id)).collect(),
        values,
    }
}

/// The attributes in a list such as `age,"a name, with a comma"`.
fn listed(
    domain: &Domain,
    text: &str,
    given: &[(AttributeId, usize)],
) -> Result<Vec<AttributeId>, Failure> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let names = reader.records().next().transpose().input_at("--marginal")?.unwrap_or_default();
    let mut ids = Vec::with_capacity(names.len());
    for name in &names {
        let id = attribute(domain, "--marginal", name)?;
        if ids.contains(&id) {
            return Err(Failure::input(format!("--marginal: expected {name:?} once, found twice")));
        }
        if given.iter().any(|&(other, _)| other == id) {
            let message = format!("--marginal: --given already fixes the value of {name:?}");
            return Err(Failure::input(message));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn given(domain: &Domain, texts: &[String]) -> Result<Vec<(AttributeId, usize)>, Failure> {
    let mut given: Vec<(AttributeId, usize)> = Vec::with_capacity(texts.len());
    for text in texts {
        let wrong = |message: String| Err(Failure::input(format!("--given: {message}")));
        let Some((name, value)) = text.rsplit_once('=') else {
            return wrong(format!(
                "expected an attribute and its value, as in sex=1, found {text:?}"
            ));
        };
        let id = attribute(domain, "--given", name)?;
        let size = domain.size(id);
        let Some(value) = value.parse().ok().filter(|&value: &usize| value < size) else {
            return wrong(format!("expected a value of {name:?} below {size}, found {value:?}"));
        };
        if given.iter().any(|&(other, _)| other == id) {
            return wrong(format!("expected {name:?} once, found twice"));
        }
        given.push((id, value));
    }
    Ok(given)
}

fn attribute(domain: &Domain, flag: &str, name: &str) -> Result<AttributeId, Failure> {
    domain.id(name).ok_or_else(|| {
        let names: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
        let known = names[..names.len().min(NAMED)].join(", ");
        let more = if names.len() > NAMED { ", ..." } else { "" };
        Failure::input(format!(
            "{flag}: expected an attribute of the model ({known}{more}), found {name:?}"
        ))
    })
}
