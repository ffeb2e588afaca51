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
use super::condition::{self, Restriction};
use super::engine_files::{read_model, read_queries};
use super::failure::{Failure, ResultExt};
use super::model_description::{description_json, write_description};
use super::output::{note, print, print_data, print_json};
use super::table::{Table, Unit, write_csv};

/// Attributes that a message names at most.
const NAMED: usize = 20;

/// Compute marginals and other counts of a model
///
/// Prints the expected number of records for each combination of values of the listed attributes,
/// or the answers to the factored queries of a file. With --where, counts only records for which
/// the condition holds; with --given, prints conditional probabilities. Several tables are
/// separated by an empty line in CSV, and are the elements of one list in JSON. Without a question,
/// describes the model.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench query model.pgm --marginal age,sex --marginal income\n  \
    pgmbench query model.pgm --where 'age >= 50 and sex = \"F\"'\n  \
    pgmbench query model.pgm --marginal age --given sex=F --format json\n  \
    pgmbench query model.pgm --factored queries.json\n\n\
    A file of factored queries is a JSON list such as\n  \
    [{\"attrs\": [\"age\", \"sex\"], \"query\": [\"prefix\", {\"evidence\": 1}]}]\n\
    with the building blocks of problem files (docs/formats.md).")]
pub(crate) struct QueryArgs {
    /// The model, a file that `estimate` wrote; - for the standard input
    model: PathBuf,
    /// Attributes separated by commas; names that contain a comma are quoted as in CSV (repeatable)
    #[arg(long, value_name = "ATTRS")]
    marginal: Vec<String>,
    /// Count only records with these values: comparisons (=, !=, <, <=, >, >=, in) joined by `and`
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "given")]
    condition: Option<String>,
    /// Print the conditional probabilities of all marginals for records with this value: a label,
    /// or a number if the model has no labels (repeatable)
    #[arg(long, value_name = "ATTR=VALUE", requires = "marginal")]
    given: Vec<String>,
    /// Print the numbers of values instead of their labels
    #[arg(long)]
    codes: bool,
    /// A JSON file with a list of factored queries; - for the standard input
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
        if self.marginal.is_empty() && self.factored.is_none() && self.condition.is_none() {
            return match self.format {
                Format::Csv => print(|output| write_description(&model, output)),
                Format::Json => print_json(&description_json(&model)),
            };
        }
        let domain = model.domain();
        // All queries are checked before the first is answered.
        let given = given(domain, &self.given)?;
        let requested = self.marginal.iter().map(|text| listed(domain, text, &given));
        let mut requested = requested.collect::<Result<Vec<_>, _>>()?;
        let restrictions = match &self.condition {
            Some(text) => condition::parse(text, domain)
                .map_err(|problem| Failure::input(format!("--where: {problem}")))?,
            None => Vec::new(),
        };
        if self.condition.is_some() && requested.is_empty() {
            // The number of records.
            requested.push(Vec::new());
        }
        let factored = match &self.factored {
            Some(path) => read_queries(path, domain)?,
            None => Vec::new(),
        };
        let marginals = Marginals { requested, given, restrictions };
        let tables = match self.oracle(&model)? {
            OracleKind::Exact => self.exact(&model, &marginals, &factored)?,
            OracleKind::Loopy => self.approximate(&model, Loopy::bethe, &marginals)?,
            OracleKind::Convex => self.approximate(&model, Loopy::convex, &marginals)?,
        };
        match self.format {
            Format::Csv => print_data(|output| write_csv(&tables, output)),
            Format::Json => print_json(&tables),
        }
    }

    fn exact(
        &self,
        model: &Model,
        marginals: &Marginals,
        factored: &[FactoredQuery],
    ) -> Result<Vec<Table>, Failure> {
        let domain = model.domain();
        let calibrated = model.calibrate().map_err(|error| self.too_large(error))?;
        let answers = marginals.answers(&calibrated).input_at("--marginal")?;
        let answered = marginals.requested.iter().zip(answers);
        let mut tables: Vec<Table> =
            answered.map(|(ids, values)| self.table(domain, marginals, ids, values)).collect();
        for query in factored {
            let values = calibrated.answer(&query.factors).input_at("--factored")?;
            tables.push(Table {
                attributes: query.factors.iter().map(|(id, _)| domain.name(*id).into()).collect(),
                given: Map::new(),
                condition: None,
                labels: None,
                shape: query.shape(domain),
                unit: Unit::Count,
                values,
            });
        }
        Ok(tables)
    }

    fn table(
        &self,
        domain: &Domain,
        marginals: &Marginals,
        ids: &[AttributeId],
        values: Vec<f64>,
    ) -> Table {
        let name = |id: AttributeId| domain.name(id).to_string();
        let shown = |id: AttributeId, value: usize| match self.codes {
            true => value.to_string(),
            false => domain.label(id, value),
        };
        let axes = ids.iter().map(|&id| {
            let allowed = marginals.allowed(id);
            let all = || (0..domain.size(id)).collect::<Vec<usize>>();
            let values = allowed.map_or_else(all, <[usize]>::to_vec);
            values.into_iter().map(|value| shown(id, value)).collect::<Vec<String>>()
        });
        let axes: Vec<Vec<String>> = axes.collect();
        let is_named = |&id: &AttributeId| {
            marginals.allowed(id).is_some() || (domain.labels(id).is_some() && !self.codes)
        };
        let given = marginals.given.iter().map(|&(id, value)| {
            let is_named = domain.labels(id).is_some() && !self.codes;
            (name(id), if is_named { shown(id, value).into() } else { value.into() })
        });
        Table {
            attributes: ids.iter().map(|&id| name(id)).collect(),
            given: given.collect(),
            condition: self.condition.clone(),
            shape: axes.iter().map(Vec::len).collect(),
            labels: ids.iter().any(is_named).then_some(axes),
            unit: if marginals.given.is_empty() { Unit::Count } else { Unit::Probability },
            values,
        }
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
                if !self.given.is_empty()
                    || self.factored.is_some()
                    || self.condition.is_some() =>
            {
                Err(Failure::input(
                    "--oracle: --given, --where and --factored need the exact oracle",
                ))
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
        marginals: &Marginals,
    ) -> Result<Vec<Table>, Failure> {
        let file = self.model.display();
        let oracle = oracle(model.layout(), LoopyOptions::default()).input_at(&file)?;
        let approximate = model.approximate(oracle).input_at(&file)?;
        let each = marginals.requested.iter().map(|ids| {
            let clique: Clique = ids.iter().copied().collect();
            let found = approximate.project(&clique).input_at("--marginal")?;
            Ok(self.table(model.domain(), marginals, ids, found.values_as_listed(ids)))
        });
        let tables = each.collect::<Result<_, Failure>>()?;
        note(format_args!("note: these marginals are approximations by belief propagation"));
        Ok(tables)
    }
}

/// Marginals of all records, of some, or conditional ones.
struct Marginals {
    requested: Vec<Vec<AttributeId>>,
    given: Vec<(AttributeId, usize)>,
    restrictions: Vec<Restriction>,
}

impl Marginals {
    /// The values of an attribute that a condition allows.
    fn allowed(&self, id: AttributeId) -> Option<&[usize]> {
        let found = self.restrictions.iter().find(|(other, _)| *other == id);
        found.map(|(_, values)| &values[..])
    }

    /// By request, row-major in the attributes as listed.
    fn answers(&self, calibrated: &Calibrated) -> Result<Vec<Vec<f64>>, InferenceError> {
        if !self.given.is_empty() {
            let each = self.requested.iter().map(|ids| {
                let clique: Clique = ids.iter().copied().collect();
                Ok(calibrated.conditional(&clique, &self.given)?.values_as_listed(ids))
            });
            return each.collect();
        }
        if self.restrictions.is_empty() {
            let cliques: Vec<Clique> =
                self.requested.iter().map(|ids| ids.iter().copied().collect()).collect();
            let found = calibrated.marginals(&cliques)?;
            let listed = found.iter().zip(&self.requested);
            return Ok(listed.map(|(table, ids)| table.values_as_listed(ids)).collect());
        }
        let each = self.requested.iter().map(|ids| {
            let listed = ids.iter().map(|&id| match self.allowed(id) {
                Some(values) => {
                    let single = values.iter().map(|&value| (value, value + 1)).collect();
                    (id, QueryFactor::Intervals(single))
                }
                None => (id, QueryFactor::Identity),
            });
            let others = self.restrictions.iter().filter(|(id, _)| !ids.contains(id));
            let others = others.map(|(id, values)| (*id, QueryFactor::Evidence(values.clone())));
            calibrated.answer(&listed.chain(others).collect::<Vec<_>>())
        });
        each.collect()
    }
}

/// The attributes in a list such as `age,"a name, with a comma"`.
pub(crate) fn listed(
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
        // Names and labels may contain the sign.
        let mut splits = text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let first = splits.clone().next();
        let split = splits.find(|(name, _)| domain.id(name).is_some()).or(first);
        let Some((name, text)) = split else {
            return wrong(format!(
                "expected an attribute and its value, as in sex=1, found {text:?}"
            ));
        };
        let id = attribute(domain, "--given", name)?;
        let value = match condition::value(domain, id, text) {
            Ok(value) => value,
            Err(problem) => return wrong(problem),
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
