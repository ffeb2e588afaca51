//! Claims about data: the columns of a table of datasets.

use super::super::manifest::{DatasetFacts, PredictionFacts};
use super::super::text_table::number;
use super::check::on_standin;
use super::{Finding, Verdict};
use crate::config::claim::{Bounds, Claim, Fact, Property, Statement};

const TOO_LARGE: &str = "a table of more than a million cells";

const NOT_PREDICTED: &str = "what is not predicted";

impl Claim {
    /// Compares a claim about data with the facts of the manifest; `None` for other claims.
    pub fn check_data(&self, datasets: &[DatasetFacts]) -> Option<Finding> {
        let Statement::Describes(property, bounds) = &self.statement else { return None };
        let named = |data: &&DatasetFacts| Some(data.name.as_str()) == self.dataset();
        let (ours, value, (verdict, why)) = match datasets.iter().find(named) {
            None => ("-".into(), None, (Verdict::CannotTell, "the data was not there".into())),
            Some(data) => {
                let (ours, value) = property.of(data);
                let (verdict, why) = judge(value, &ours, *bounds);
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

impl Property {
    /// As text and as a number.
    fn of(&self, data: &DatasetFacts) -> (String, Option<f64>) {
        let count = |count: usize| (count.to_string(), Some(count as f64));
        let predicted = |error: fn(&PredictionFacts) -> f64| {
            let found = data.predictions.iter().find(|prediction| prediction.ways == self.ways);
            match found.map(error) {
                Some(error) => (format!("{error:.4}"), Some(error)),
                None => (NOT_PREDICTED.into(), None),
            }
        };
        match self.fact {
            Fact::Records => count(data.records),
            Fact::Attributes => count(data.attributes),
            Fact::Queries => count(data.queries),
            Fact::Domain => (data.domain.clone(), data.domain.parse().ok()),
            Fact::Cells | Fact::Smallest | Fact::Largest | Fact::Sparsity => {
                let Some(table) = &data.table else { return (TOO_LARGE.into(), None) };
                match self.fact {
                    Fact::Smallest => count(table.smallest as usize),
                    Fact::Largest => count(table.largest as usize),
                    Fact::Sparsity => (number(table.sparsity()), Some(table.sparsity())),
                    _ => count(table.cells),
                }
            }
            Fact::Rmse => predicted(|prediction| prediction.root_mean_squared_error),
            Fact::Stddev => predicted(|prediction| prediction.largest_stddev),
        }
    }
}
