//! What `pgmbench query` prints without a query: attributes, cliques and origin of a model.

use std::io::{self, Write};

use private_pgm::model::Model;
use serde_json::{Value, json};

use super::count::Count;
use super::output::on_one_line;

pub(crate) fn description_json(model: &Model) -> Value {
    json!({
        "domain": attributes(model).collect::<Vec<_>>(),
        "total": model.total(),
        "cliques": cliques(model).collect::<Vec<_>>(),
        "origin": model.origin(),
    })
}

pub(crate) fn write_description(model: &Model, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "total: {}", model.total())?;
    for (name, size) in attributes(model) {
        writeln!(output, "attribute: {}, {}", on_one_line(name), Count(size, "value"))?;
    }
    for clique in cliques(model) {
        writeln!(output, "clique: {}", on_one_line(&clique.join(", ")))?;
    }
    write_origin(model, output)
}

fn attributes(model: &Model) -> impl Iterator<Item = (&str, usize)> {
    let domain = model.domain();
    domain.declared().iter().map(move |&id| (domain.name(id), domain.size(id)))
}

fn cliques(model: &Model) -> impl Iterator<Item = Vec<&str>> {
    model.layout().cliques().iter().map(move |clique| model.domain().names(clique))
}

fn write_origin(model: &Model, output: &mut dyn Write) -> io::Result<()> {
    let Some(origin) = model.origin() else {
        return writeln!(output, "origin: not recorded");
    };
    let number = |number: Option<f64>| number.map_or("unknown".into(), |x| x.to_string());
    writeln!(output, "estimated by: pgmbench {}", origin.release)?;
    writeln!(
        output,
        "algorithm: {}, {}",
        origin.algorithm,
        Count(origin.iterations as usize, "iteration")
    )?;
    let exact = if origin.oracle_is_exact { "exact" } else { "approximate" };
    writeln!(output, "oracle: {} ({exact})", origin.oracle)?;
    writeln!(output, "loss: {} ({})", number(origin.loss), origin.norm)?;
    writeln!(output, "gap: {}", number(origin.gap))
}
