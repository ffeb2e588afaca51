//! `pgmbench query`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::factor::CliqueLayout;
use private_pgm::fit::OracleKind;
use private_pgm::model::{InferenceError, Model, Projectable};
use private_pgm::oracle::{Loopy, LoopyError, LoopyOptions};
use private_pgm::problem::FactoredQuery;
use serde_json::Map;

use super::choice::one_of;
use super::condition;
use super::engine_files::{read_model, read_queries};
use super::error_bar_args::ErrorBarArgs;
use super::failure::{Failure, ResultExt};
use super::marginals::Marginals;
use super::model_description::{description_json, write_description};
use super::output::{note, print, print_data, print_json};
use super::table::{Table, Unit, write_csv};

/// Compute marginals and other counts of a model
///
/// Prints the expected number of records for each combination of values of the listed attributes,
/// or the answers to the factored queries of a file. With --where, counts only records for which
/// the condition holds; with --given, prints conditional probabilities. Several tables are
/// separated by an empty line in CSV, and are the elements of one list in JSON. With --error-bars,
/// each answer has an interval. Without a question, describes the model.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    pgmbench query model.pgm --marginal age,sex --marginal income\n  \
    pgmbench query model.pgm --where 'age >= 50 and (sex = \"F\" or town in (Bath, Ely))'\n  \
    pgmbench query model.pgm --marginal age --given sex=F --format json\n  \
    pgmbench query model.pgm --factored queries.json\n  \
    pgmbench query model.pgm --marginal age --error-bars problem.json\n\n\
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
    /// and `or`; `and` binds first, brackets group
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
    #[command(flatten)]
    error_bars: ErrorBarArgs,
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
        let blocks = match &self.condition {
            Some(text) => Some(
                condition::parse(text, domain)
                    .map_err(|error| Failure::input(format!("--where, {}", error.shown(text))))?,
            ),
            None => None,
        };
        if self.condition.is_some() && requested.is_empty() {
            // The number of records.
            requested.push(Vec::new());
        }
        let factored = match &self.factored {
            Some(path) => read_queries(path, domain)?,
            None => Vec::new(),
        };
        let marginals = Marginals { requested, given, blocks };
        let oracle = self.oracle(&model)?;
        if oracle != OracleKind::Exact && self.error_bars.is_asked() {
            return Err(Failure::input("--error-bars: intervals need the exact oracle"));
        }
        let tables = match oracle {
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
                intervals: None,
            });
        }
        let requested = &marginals.requested;
        self.error_bars.add_to((&mut tables, requested), model, |model| {
            let mut answers = marginals.answers(model)?;
            for query in factored {
                answers.push(model.answer(&query.factors)?);
            }
            Ok(answers.concat())
        })?;
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
            let values = allowed.unwrap_or_else(|| (0..domain.size(id)).collect());
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
            intervals: None,
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
    condition::attribute(domain, name)
        .map_err(|problem| Failure::input(format!("{flag}: {problem}")))
}
