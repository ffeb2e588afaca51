//! `pgmbench budget`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dp::{Delta, Epsilon, Guarantee, Neighbours, Rho};
use pgmbench::budget_file::{BudgetFile, Header, Statement};
use pgmbench::data::Registry;
use serde_json::{Value, json};

use super::count::Count;
use super::failure::{Failure, ResultExt};
use super::output::{note, print, print_json};
use super::privacy_args::{delta, epsilon, rho};
use super::release_charge::now;

/// Create or show a budget file, which limits all releases of a data set together
///
/// `synthesize` charges the file before it draws any noise, and refuses a release that would exceed
/// the total. The file is for the data holder only, and not part of a release.
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

/// Create a budget file with a fixed total
///
/// With --epsilon and --delta, the epsilons and deltas of the releases are added. With --rho,
/// releases are counted in zero-concentrated differential privacy, which allows more of them for
/// the same protection.
#[derive(Args)]
struct CreateArgs {
    /// The budget file; it must not exist
    file: PathBuf,
    /// The name of the data set, or the path of its schema
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// Total epsilon of all releases
    #[arg(long, value_name = "E", value_parser = epsilon, required_unless_present = "rho")]
    #[arg(allow_negative_numbers = true)]
    epsilon: Option<Epsilon>,
    /// Total delta of all releases, far below 1/n for n records
    #[arg(long, value_name = "D", value_parser = delta, requires = "epsilon")]
    #[arg(allow_negative_numbers = true)]
    delta: Option<Delta>,
    /// Total rho of all releases
    #[arg(long, value_name = "R", value_parser = rho, conflicts_with_all = ["epsilon", "delta"])]
    #[arg(allow_negative_numbers = true)]
    rho: Option<Rho>,
    /// For releases with --add-remove [default: for releases without it]
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
            note(format_args!(
                "note: releases of `synthesize` have a delta, and this budget covers none; add \
                 --delta, or use --rho"
            ));
        }
        let neighbours = match self.add_remove {
            true => Neighbours::AddRemove,
            false => Neighbours::Replace,
        };
        let name = &entry.schema().name;
        BudgetFile::at(&self.file).create(&Header::new(name, neighbours, total, &now())).input()?;
        print(|output| {
            let file = self.file.display();
            writeln!(output, "created  {file}: {total} in total for all releases of {name}")?;
            writeln!(
                output,
                "charge   with --budget {file}, or declare it in the schema: budget = ..."
            )
        })
    }
}

/// Verify a budget file, and show what is spent and what remains
#[derive(Args)]
struct ShowArgs {
    /// The budget file
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

/// The delta at which a total in rho is also shown as an epsilon (our choice).
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
    writeln!(output, "budget   of {}, neighbours by {relation} records", header.dataset)?;
    writeln!(output, "total    {}{}", header.total, implied(header.total))?;
    writeln!(output, "spent    {}", amount(account.spent()))?;
    writeln!(output, "left     {}", amount(account.remaining()))?;
    for release in releases {
        let charge = &release.charge;
        let state = match release.completion {
            Some(_) => "",
            None => " (not completed, but charged)",
        };
        writeln!(
            output,
            "{:>7}  {}  {}  {}  {}{state}",
            charge.number, charge.date, charge.cost, charge.mechanism, charge.release
        )?;
    }
    writeln!(output, "chain    {} after {}", chain.to_hex(), Count(statement.lines(), "line"))?;
    writeln!(output, "this file is confidential: it is not part of a release")
}

/// A total in rho as an epsilon.
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
