use crate::data::Dataset;
use crate::domain::Clique;
use crate::estimation::estimator::{Answers, NoAnswer};
use crate::factor::{Factor, Projectable};

/// Synthetic records answer by counting.
impl Answers for Dataset {
    fn marginals(&self, cliques: &[Clique]) -> Result<Vec<Factor>, NoAnswer> {
        let count = |clique: &Clique| {
            self.project(clique).map_err(|error| NoAnswer::Unknown { attributes: error.attributes })
        };
        cliques.iter().map(count).collect()
    }
}
