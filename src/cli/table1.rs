use std::io::{self, Write};

use pgmbench::experiment::{Plan, PlannedData};
use pgmbench::results::manifest::TableFacts;
use private_pgm::model::Projectable;

use super::failure::Failure;
use super::output::print;

/// The columns of Table 1 of the ICML paper: records, attributes, size of the domain, queries. For
/// an experiment about small tables of counts and nothing else, also those of tables 2 and 3 of the
/// KDD paper.
pub(crate) fn print_table(plan: &Plan) -> Result<(), Failure> {
    let about_tables = plan.trials.is_empty().then(|| plan.asked_datasets());
    let tables: Option<Vec<TableFacts>> =
        about_tables.and_then(|datasets| datasets.map(PlannedData::table_facts).collect());
    print(|output| {
        write!(
            output,
            "{:<16} {:>9} {:>11} {:>9} {:>9}",
            "Data set", "Records", "Attributes", "Domain", "Queries"
        )?;
        if tables.is_some() {
            write!(output, " {:>9} {:>9} {:>9} {:>10}", "Cells", "Smallest", "Largest", "Zeros")?;
        }
        writeln!(output)?;
        for (row, data) in plan.asked_datasets().enumerate() {
            let name = format!("{}{}", data.name, if data.standin { " *" } else { "" });
            write!(
                output,
                "{name:<16} {:>9} {:>11} {:>9} {:>9}",
                data.data.len(),
                data.data.domain().len(),
                data.domain_size(),
                data.queries()
            )?;
            if let Some(tables) = &tables {
                let TableFacts { cells, smallest, largest, .. } = tables[row];
                let zeros = tables[row].sparsity();
                write!(output, " {cells:>9} {smallest:>9} {largest:>9} {zeros:>8.1} %")?;
            }
            writeln!(output)?;
        }
        print_predictions(plan, output)?;
        if plan.asked_datasets().any(|data| data.standin) {
            writeln!(
                output,
                "* stand-in: synthetic records in place of data that is not distributed"
            )?;
        }
        Ok(())
    })
}

/// The errors of ResidualPlanner, where the experiment has sizes without data.
fn print_predictions(plan: &Plan, output: &mut dyn Write) -> io::Result<()> {
    let mut datasets = plan.asked_datasets().filter(|data| !data.predictions.is_empty()).peekable();
    if datasets.peek().is_none() {
        return Ok(());
    }
    writeln!(
        output,
        "\nResidualPlanner at a privacy cost of 1 (rho 1/2, add or remove)\n\n\
         {:<16} {:>11} {:>23} {:>30}",
        "Data set", "Marginals", "Least sum: RMSE", "Least largest: standard dev."
    )?;
    for data in datasets {
        for prediction in &data.predictions {
            let ways: Vec<String> = prediction.ways.iter().map(ToString::to_string).collect();
            let (name, ways) = (&data.name, format!("{}-way", ways.join(",")));
            let (rmse, stddev) = (prediction.root_mean_squared_error, prediction.largest_stddev);
            writeln!(output, "{name:<16} {ways:>11} {rmse:>23.3} {stddev:>30.3}")?;
        }
    }
    Ok(())
}
