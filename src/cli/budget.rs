//! `pgmbench budget`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dp::{Delta, Epsilon, Guarantee, Neighbours, Rho};
use pgmbench::budget_file::{BudgetFile, Header, Statement};
use pgmbench::data::Registry;
use serde_json::{Value, json};

use super::failure::{Failure, ResultExt};
use super::output::{print, print_json};
use super::privacy_args::{delta, epsilon, rho};
use super::release_charge::now;

/// The budget of a data set across releases: a file that `synthesize` charges
///
/// Charges are made before any noise is drawn, and refused once the total is spent. The file is
/// internal to the holder of the data, and no part of a release.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench budget create adult.budget --dataset adult --epsilon 3 --delta 1e-6\n  \
    pgmbench budget create adult.budget --dataset adult --rho 0.5\n  \
    pgmbench budget show adult.budget")]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    command: BudgetCommand,
}

#[derive(Subcommand)]
enum BudgetCommand {
    Create(CreateArgs),
    Show(ShowArgs),
}

impl BudgetArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            BudgetCommand::Create(args) => args.run(),
            BudgetCommand::Show(args) => args.run(),
        }
    }
}

/// Create a budget file with a total, which cannot be changed later
///
/// With --epsilon and --delta, both add up over the releases. With --rho the releases are counted
/// in zero-concentrated differential privacy, which allows more of them for the same protection.
#[derive(Args)]
struct CreateArgs {
    /// The file, which must not exist
    file: PathBuf,
    /// The name of the data set, or the path of its schema
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// The epsilon of all releases together
    #[arg(long, value_name = "E", value_parser = epsilon, required_unless_present = "rho")]
    epsilon: Option<Epsilon>,
    /// The delta of all releases together, far below 1/n for n records
    #[arg(long, value_name = "D", value_parser = delta, requires = "epsilon")]
    delta: Option<Delta>,
    /// The rho of all releases together
    #[arg(long, value_name = "R", value_parser = rho, conflicts_with_all = ["epsilon", "delta"])]
    rho: Option<Rho>,
    /// Count releases with --add-remove, rather than those about replaced records
    #[arg(long)]
    add_remove: bool,
}

impl CreateArgs {
    fn run(self) -> Result<(), Failure> {
        let entry = Registry::default().entry(&self.dataset).input()?;
        let total = match (self.rho, self.epsilon, self.delta) {
            (Some(rho), ..) => Guarantee::from(rho),
            (None, Some(epsilon), Some(delta)) => (epsilon, delta).into(),
            (None, Some(epsilon), None) => epsilon.into(),
            (None, None, _) => return Err(Failure::input("a budget needs --epsilon or --rho")),
        };
        if matches!(total, Guarantee::Pure { .. }) {
            eprintln!(
                "note: releases of `synthesize` have a delta, and this budget pays for none; a \
                 budget with --delta or --rho does"
            );
        }
        let neighbours = match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        let name = &entry.schema().name;
        BudgetFile::at(&self.file).create(&Header::new(name, neighbours, total, &now())).input()?;
        print(|output| {
            let file = self.file.display();
            writeln!(output, "created  {file}: {total} for all releases of {name} together")?;
            writeln!(output, "charge   with --budget {file}, or always: budget = ... in the schema")
        })
    }
}

/// Verify a budget file, and show what is spent and what is left
#[derive(Args)]
struct ShowArgs {
    /// The file
    file: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    fn run(self) -> Result<(), Failure> {
        let statement = BudgetFile::at(&self.file).read().input()?;
        match self.json {
            true => print_json(&as_json(&statement)),
            false => print(|output| show(&statement, output)),
        }
    }
}

/// For which a total in rho is shown as an epsilon (our choice).
const SHOWN_DELTA: f64 = 1e-9;

fn show(statement: &Statement, output: &mut dyn Write) -> io::Result<()> {
    let Statement { header, account, releases, chain } = statement;
    let relation = match header.neighbours {
        Neighbours::Replace => "replaced",
        Neighbours::AddRemove => "added or removed",
    };
    let amount = |guarantee: Option<Guarantee>| {
        guarantee.map_or("nothing".to_string(), |guarantee| guarantee.to_string())
    };
    writeln!(output, "budget   of {}, between records that are {relation}", header.dataset)?;
    writeln!(output, "total    {}{}", header.total, implied(header.total))?;
    writeln!(output, "spent    {}", amount(account.spent()))?;
    writeln!(output, "left     {}", amount(account.remaining()))?;
    for release in releases {
        let charge = &release.charge;
        let state = match release.completion {
            Some(_) => "",
            None => " (not completed; it counts all the same)",
        };
        writeln!(
            output,
            "{:>7}  {}  {}  {}  {}{state}",
            charge.number, charge.date, charge.cost, charge.mechanism, charge.release
        )?;
    }
    writeln!(output, "chain    {} after {} lines", chain.to_hex(), statement.lines())?;
    writeln!(output, "this file is internal: it is no part of a release")
}

/// What a total in rho means in the other currency.
fn implied(total: Guarantee) -> String {
    let Guarantee::Concentrated { rho } = total else { return String::new() };
    match Delta::new(SHOWN_DELTA).and_then(|delta| rho.epsilon(delta)) {
        Ok(epsilon) => format!(", which is epsilon = {epsilon:.4} at delta = {SHOWN_DELTA:e}"),
        Err(_) => String::new(),
    }
}

fn as_json(statement: &Statement) -> Value {
    let Statement { header, account, releases, chain } = statement;
    let releases: Vec<Value> = releases
        .iter()
        .map(|release| json!({ "charge": release.charge, "completed": release.completion }))
        .collect();
    json!({
        "dataset": header.dataset,
        "neighbours": header.neighbours,
        "created": header.created,
        "total": header.total,
        "spent": account.spent(),
        "left": account.remaining(),
        "releases": releases,
        "lines": statement.lines(),
        "chain": chain.to_hex().as_str(),
    })
}
