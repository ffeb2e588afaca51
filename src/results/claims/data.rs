//! Claims about data: the columns of a table of datasets.

use super::super::manifest::DatasetFacts;
use super::super::text_table::number;
use super::check::on_standin;
use super::{Finding, Verdict};
use crate::config::claim::{Bounds, Claim, Fact, Statement};

const TOO_LARGE: &str = "a table of more than a million cells";

impl Claim {
    /// Compares a claim about data with the facts of the manifest; `None` for other claims.
    pub fn check_data(&self, datasets: &[DatasetFacts]) -> Option<Finding> {
        let Statement::Describes(fact, bounds) = self.statement else { return None };
        let named = |data: &&DatasetFacts| Some(data.name.as_str()) == self.dataset();
        let (ours, value, (verdict, why)) = match datasets.iter().find(named) {
            None => ("-".into(), None, (Verdict::CannotTell, "the data was not there".into())),
            Some(data) => {
                let (ours, value) = fact.of(data);
                let (verdict, why) = judge(value, &ours, bounds);
                let judgement = match data.standin {
                    true => on_standin(&data.name, verdict, why),
                    false => (verdict, why),
                };
                (ours, value, judgement)
            }
        };
        Some(Finding {
            says: self.says.clone(),
            role: self.role,
            paper: self.paper.to_string(),
            ours,
            value,
            low: None,
            high: None,
            coverage: None,
            verdict,
            why,
        })
    }
}

fn judge(value: Option<f64>, ours: &str, bounds: Bounds) -> (Verdict, String) {
    match value {
        None => (Verdict::CannotTell, format!("{ours} is not a number")),
        Some(value) if bounds.contain(value) => (Verdict::Holds, format!("{ours} is {bounds}")),
        Some(_) => (Verdict::Differs, format!("{ours} is not {bounds}")),
    }
}

impl Fact {
    /// As text and as a number.
    fn of(self, data: &DatasetFacts) -> (String, Option<f64>) {
        let count = |count: usize| (count.to_string(), Some(count as f64));
        match self {
            Fact::Records => count(data.records),
            Fact::Attributes => count(data.attributes),
            Fact::Queries => count(data.queries),
            Fact::Domain => (data.domain.clone(), data.domain.parse().ok()),
            Fact::Cells | Fact::Smallest | Fact::Largest | Fact::Sparsity => {
                let Some(table) = &data.table else { return (TOO_LARGE.into(), None) };
                match self {
                    Fact::Smallest => count(table.smallest as usize),
                    Fact::Largest => count(table.largest as usize),
                    Fact::Sparsity => (number(table.sparsity()), Some(table.sparsity())),
                    _ => count(table.cells),
                }
            }
        }
    }
}
