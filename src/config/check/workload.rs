use toml::Spanned;

use super::Checked;
use super::values::{MAX_COUNT, count, distinct, not_empty};
use crate::config::source::Source;
use crate::config::workload::{Queries, RandomMarginals, RandomRanges, Workload};

/// The largest number of draws of a workload (our choice).
const MAX_DRAWS: u64 = 1000;
/// The largest number of random queries, and of cells of a query (our choice).
const MAX_ROWS: u64 = 1_000_000;

pub(super) fn workload(source: &Source, workload: Workload) -> Checked<Workload> {
    let ways = [
        workload.marginals.as_ref().map(Spanned::span),
        workload.every.as_ref().map(Spanned::span),
        workload.random.as_ref().map(Spanned::span),
    ];
    if let Some(second) = ways.iter().flatten().nth(1) {
        let message = "a workload has one of `marginals`, `every` and `random`, not several";
        return Err(source.error(second.clone(), message, Some("leave the others out")));
    }
    if let Some(queries) = &workload.queries {
        if let Some(other) = ways.into_iter().flatten().next() {
            let message = "a workload has either `queries` or marginals, not both";
            return Err(source.error(other, message, Some("leave one of them out")));
        }
        not_empty(source, "queries", queries)?;
        for kind in queries.as_ref() {
            let numbers = match kind.as_ref() {
                Queries::Identity | Queries::AllRanges => Vec::new(),
                Queries::Ranges(RandomRanges { size, count }) => {
                    vec![("size", size.unwrap_or(1)), ("count", *count)]
                }
                Queries::Predicates(rows) => vec![("predicates", *rows)],
                Queries::Signs(rows) => vec![("signs", *rows)],
            };
            for (name, number) in numbers {
                count(source, name, &Spanned::new(kind.span(), number), 1..=MAX_ROWS)?;
            }
        }
    }
    if let Some(marginals) = &workload.marginals {
        not_empty(source, "marginals", marginals)?;
        for attributes in marginals.as_ref() {
            not_empty(source, "marginals", attributes)?;
            distinct(source, "marginals", attributes.as_ref(), String::clone, None)?;
        }
    }
    if let Some(every) = &workload.every {
        count(source, "every", every, 1..=MAX_COUNT)?;
    } else if let Some(target) = &workload.target {
        let message = "`target` restricts `every`, which is missing";
        let help = "say for example every = 3, or leave the target out";
        return Err(source.error(target.span(), message, Some(help)));
    }
    if let Some(random) = &workload.random {
        count(source, "marginals", &random.as_ref().marginals, 1..=MAX_COUNT)?;
        count(source, "size", &random.as_ref().size, 1..=MAX_COUNT)?;
        draws(source, random.as_ref())?;
    }
    distinct(source, "prefix", workload.prefix.iter().flatten(), String::clone, None)?;
    Ok(workload)
}

/// The settings of several draws, and of draws with a number of queries.
fn draws(source: &Source, random: &RandomMarginals) -> Checked<()> {
    if let Some(draws) = &random.draws {
        count(source, "draws", draws, 1..=MAX_DRAWS)?;
    }
    let Some(factor) = &random.queries_within else { return Ok(()) };
    if random.skewed {
        let message = "`queries_within` chooses among all draws alike, and `skewed` does not";
        return Err(source.error(factor.span(), message, Some("leave one of them out")));
    }
    match *factor.as_ref() {
        value if value > 1.0 && value.is_finite() => Ok(()),
        value => {
            let message = format!("`queries_within` is {value}, which is not a factor above 1");
            Err(source.error(factor.span(), message, Some("for example 1.05")))
        }
    }
}
