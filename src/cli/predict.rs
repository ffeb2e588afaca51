//! `pgmbench predict`.

use std::io::{self, Write};

use clap::Args;
use dp::{Delta, Epsilon, Neighbours, Rho};
use pgmbench::data::Registry;
use pgmbench::experiment::{Objective, Prediction, predict};
use private_pgm::domain::{Clique, Domain};
use serde_json::{Value, json};

use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};
use super::privacy_args::{delta, epsilon, rho};

/// More marginals than this are refused: the answer would take minutes. Our choice.
const MOST_MARGINALS: f64 = 1e6;

/// Predict the errors of ResidualPlanner on marginals, exactly, from the sizes of the attributes
///
/// No data is read and no noise is drawn. For each number K of attributes, the workload is all
/// marginals on K attributes; the last line is the workload of all of them together.
/// ResidualPlanner minimises the sum of the variances of all cells, or the largest variance.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench predict adult --ways 1,2 --epsilon 1 --delta 1e-9\n  \
    pgmbench predict --sizes 100,50,7,4,2 --ways 0,1,2,3 --add-remove")]
pub(crate) struct PredictArgs {
    /// A data set whose schema has the sizes
    #[arg(conflicts_with = "sizes")]
    dataset: Option<String>,
    /// The number of values of each attribute
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// The numbers of attributes of the marginals
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_values_t = [1, 2, 3])]
    ways: Vec<usize>,
    /// The budget
    #[arg(long, value_name = "E", value_parser = epsilon, requires = "delta")]
    #[arg(allow_negative_numbers = true)]
    epsilon: Option<Epsilon>,
    /// The delta of the budget
    #[arg(long, value_name = "D", value_parser = delta, requires = "epsilon")]
    #[arg(allow_negative_numbers = true)]
    delta: Option<Delta>,
    /// The budget in rho [default: 0.5, a privacy cost of 1 in ResidualPlanner's paper]
    #[arg(long, value_name = "R", value_parser = rho, conflicts_with_all = ["epsilon", "delta"])]
    #[arg(allow_negative_numbers = true)]
    rho: Option<Rho>,
    /// Neighbours add or remove a record [default: they replace one]
    #[arg(long)]
    add_remove: bool,
    /// Print a list of JSON objects
    #[arg(long)]
    json: bool,
}

/// A workload and its errors.
struct Line {
    workload: String,
    least_sum: Prediction,
    least_largest: Prediction,
}

impl PredictArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let domain = self.domain()?;
        let rho = match (self.epsilon, self.delta) {
            (Some(epsilon), Some(delta)) => Rho::implying(epsilon, delta).input()?,
            _ => match self.rho {
                Some(rho) => rho,
                None => Rho::new(0.5).internal()?,
            },
        };
        let lines = self.lines(&domain, rho)?;
        match self.json {
            true => print_json(&Value::Array(lines.iter().map(Line::json).collect())),
            false => print(|output| write_lines(&lines, rho, output)),
        }
    }

    fn domain(&self) -> Result<Domain, Failure> {
        match &self.dataset {
            Some(name) => Ok(Registry::default().entry(name).input()?.schema().domain().clone()),
            None if self.sizes.is_empty() => {
                Err(Failure::input("give a data set, or the sizes of attributes: --sizes 100,50,7"))
            }
            None => {
                let sizes = self.sizes.iter().enumerate();
                Domain::new(sizes.map(|(i, &n)| (format!("attribute {}", i + 1), n))).input()
            }
        }
    }

    fn lines(&self, domain: &Domain, rho: Rho) -> Result<Vec<Line>, Failure> {
        let marginals: f64 = self.ways.iter().map(|&ways| choose(domain.len(), ways)).sum();
        if let Some(ways) = self.ways.iter().find(|&&ways| ways > domain.len()) {
            return Err(Failure::input(format!(
                "--ways {ways}: there are {} attributes",
                domain.len()
            )));
        }
        if marginals > MOST_MARGINALS {
            return Err(Failure::input(format!(
                "--ways: expected at most {MOST_MARGINALS:.0} marginals, found {marginals:.3e}"
            )));
        }
        let everything = domain.everything();
        let of = |ways: usize| everything.subsets(ways);
        let mut workloads: Vec<(String, Vec<Clique>)> =
            self.ways.iter().map(|&ways| (format!("{ways}-way"), of(ways))).collect();
        if workloads.len() > 1 {
            let all = self.ways.iter().flat_map(|&ways| of(ways)).collect();
            workloads.push(("together".into(), all));
        }
        let neighbours = match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        let line = |(workload, cliques): (String, Vec<Clique>)| {
            let errors = |objective| predict(domain, &cliques, neighbours, objective, rho);
            let least_sum = errors(Objective::Sum)?;
            let least_largest = errors(Objective::Largest)?;
            Some(Line { workload, least_sum, least_largest })
        };
        // A workload without anything private, such as a public number of records, has no line.
        let lines: Vec<Line> = workloads.into_iter().filter_map(line).collect();
        match lines.is_empty() {
            true => Err(Failure::input(
                "nothing would be measured: no attribute has two values, or --ways 0 asks for the \
                 number of records, which is public without --add-remove",
            )),
            false => Ok(lines),
        }
    }
}

impl Line {
    fn json(&self) -> Value {
        let errors = |prediction: &Prediction| {
            json!({
                "root_mean_squared_error": prediction.root_mean_squared_error,
                "largest_stddev": prediction.largest_stddev,
            })
        };
        json!({
            "workload": self.workload,
            "marginals": self.least_sum.marginals,
            "cells": self.least_sum.cells,
            "least_sum": errors(&self.least_sum),
            "least_largest": errors(&self.least_largest),
        })
    }
}

fn write_lines(lines: &[Line], rho: Rho, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "ResidualPlanner at rho = {rho}, errors in counts\n")?;
    writeln!(
        output,
        "{:<10} {:>9} {:>12} {:>23} {:>23}",
        "", "", "", "least sum", "least largest"
    )?;
    writeln!(
        output,
        "{:<10} {:>9} {:>12} {:>11} {:>11} {:>11} {:>11}",
        "Workload", "Marginals", "Cells", "RMSE", "Largest sd", "RMSE", "Largest sd"
    )?;
    for Line { workload, least_sum, least_largest } in lines {
        writeln!(
            output,
            "{workload:<10} {:>9} {:>12} {:>11.3} {:>11.3} {:>11.3} {:>11.3}",
            least_sum.marginals,
            least_sum.cells,
            least_sum.root_mean_squared_error,
            least_sum.largest_stddev,
            least_largest.root_mean_squared_error,
            least_largest.largest_stddev
        )?;
    }
    Ok(())
}

/// The number of subsets of this size.
fn choose(of: usize, size: usize) -> f64 {
    (0..size).map(|i| of.saturating_sub(i) as f64 / (i + 1) as f64).product()
}
