//! `pgmbench list`.

use std::io::{self, Write};

use clap::Args;
use pgmbench::config::{SHIPPED, Source, closest};
use pgmbench::data::Registry;
use pgmbench::experiment::{ARMS, GuaranteeKind, MECHANISMS, MechanismSpec};
use pgmbench::figures::FIGURES;
use serde_json::{Value, json};

use super::datasets::state;
use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};

/// List the mechanisms, estimators, data sets and figures that experiments can use
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench list\n  \
    pgmbench list mechanisms\n  \
    pgmbench list hdmm\n  \
    pgmbench list datasets --json")]
pub(crate) struct ListArgs {
    /// Only these: mechanisms, estimators, datasets, figures or experiments; or what has this name
    what: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// A list of things of one kind.
struct Section {
    name: &'static str,
    /// With how a file refers to them.
    title: &'static str,
    items: Vec<Item>,
}

struct Item {
    name: String,
    summary: String,
    /// One per line.
    details: Vec<String>,
    /// For `--json`, in addition to `kind`, `name` and `summary`.
    facts: Value,
}

impl Item {
    fn new(name: &str, summary: impl Into<String>) -> Self {
        Self { name: name.into(), summary: summary.into(), details: Vec::new(), facts: json!({}) }
    }
}

impl ListArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut sections = sections()?;
        if let Some(what) = &self.what {
            match sections.iter().any(|section| section.name == what) {
                true => sections.retain(|section| section.name == what),
                false => keep_named(&mut sections, what)?,
            }
        }
        match self.json {
            true => print_json(&sections.iter().flat_map(Section::json).collect::<Vec<_>>()),
            false => print(|output| {
                for (place, section) in sections.iter().enumerate() {
                    if place > 0 {
                        writeln!(output)?;
                    }
                    section.write(output)?;
                }
                Ok(())
            }),
        }
    }
}

/// Keeps the items with this name.
fn keep_named(sections: &mut Vec<Section>, name: &str) -> Result<(), Failure> {
    let known: Vec<String> = sections
        .iter()
        .flat_map(|section| section.items.iter().map(|item| item.name.clone()))
        .chain(sections.iter().map(|section| section.name.to_string()))
        .collect();
    for section in &mut *sections {
        section.items.retain(|item| item.name == name);
    }
    sections.retain(|section| !section.items.is_empty());
    if !sections.is_empty() {
        return Ok(());
    }
    let advice = match closest(name, known.iter().map(String::as_str)) {
        Some(close) => format!("did you mean {close}?"),
        None => "`pgmbench list` shows all names".into(),
    };
    Err(Failure::input(format!("nothing is called \"{name}\"; {advice}")))
}

fn sections() -> Result<Vec<Section>, Failure> {
    let entries = Registry::default().entries().input()?;
    let datasets = entries.iter().map(|entry| {
        let schema = entry.schema();
        let state = state(entry.availability());
        let item = Item::new(&schema.name, format!("{} ({state})", schema.title));
        Item { facts: json!({ "title": schema.title, "state": state.to_string() }), ..item }
    });
    let experiments = SHIPPED.iter().filter_map(|(name, _)| {
        let experiment = Source::shipped(name)?.parse().ok()?;
        Some(Item::new(name, experiment.title))
    });
    Ok(vec![
        Section {
            name: "mechanisms",
            title: "Mechanisms ([[mechanism]] name = ...)",
            items: MECHANISMS.iter().map(|spec| mechanism(spec)).collect(),
        },
        Section {
            name: "estimators",
            title: "Estimators (arms = [...])",
            items: ARMS.iter().map(|arm| Item::new(arm.name, arm.summary)).collect(),
        },
        Section {
            name: "datasets",
            title: "Data sets (datasets = [...])",
            items: datasets.collect(),
        },
        Section {
            name: "figures",
            title: "Figures ([figure] kind = ...)",
            items: FIGURES.iter().map(|f| Item::new(f.kind.name(), f.about)).collect(),
        },
        Section {
            name: "experiments",
            title: "Experiments (pgmbench run ...)",
            items: experiments.collect(),
        },
    ])
}

fn mechanism(spec: &MechanismSpec) -> Item {
    let guarantee = match spec.guarantee {
        GuaranteeKind::Pure => "epsilon",
        GuaranteeKind::Approximate => "epsilon and delta",
        GuaranteeKind::Concentrated => "epsilon and delta, counted as rho",
    };
    let (reference, own) = (spec.reference, spec.own_estimator);
    let mut details = vec![format!("{reference}; {guarantee}; own estimator: {own}")];
    details.extend(spec.extra_estimators.iter().map(|e| format!("arm {}: {}", e.name, e.summary)));
    let parameters = spec.parameters.iter();
    details.extend(parameters.map(|p| format!("{} = {}: {}", p.name, p.default, p.meaning)));
    let arms = spec.extra_estimators.iter();
    let arms = arms.map(|e| json!({ "name": e.name, "summary": e.summary }));
    let parameters = spec.parameters.iter();
    let parameters =
        parameters.map(|p| json!({ "name": p.name, "default": p.default, "meaning": p.meaning }));
    let facts = json!({
        "title": spec.title,
        "reference": reference,
        "guarantee": guarantee,
        "own_estimator": own,
        "arms": arms.collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
    });
    Item { details, facts, ..Item::new(spec.name, spec.summary) }
}

impl Section {
    fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "{}", self.title)?;
        for item in &self.items {
            writeln!(output, "  {:<16} {}", item.name, item.summary)?;
            item.details.iter().try_for_each(|text| writeln!(output, "  {:<16} {text}", ""))?;
        }
        Ok(())
    }

    fn json(&self) -> Vec<Value> {
        let one = |item: &Item| {
            let mut facts = item.facts.clone();
            facts["kind"] = self.name.trim_end_matches('s').into();
            facts["name"] = item.name.as_str().into();
            facts["summary"] = item.summary.as_str().into();
            facts
        };
        self.items.iter().map(one).collect()
    }
}
