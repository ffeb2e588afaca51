use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ModelFileError;
use crate::domain::{AttributeId, Clique, Domain, Labels, LabelsError};
use crate::factor::CliqueLayout;
use crate::model::{Model, Origin};
use crate::query::MAX_CELLS;

/// The header in its JSON form.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    domain: Vec<(String, usize)>,
    pub(super) total: f64,
    cliques: Vec<Vec<String>>,
    #[serde(default)]
    pub(super) origin: Option<Origin>,
    /// By attribute; absent in files of before 0.3.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    edges: BTreeMap<String, Vec<f64>>,
}

/// The tables of a file, and the order of their axes in it.
pub(super) struct FileLayout {
    pub(super) layout: Arc<CliqueLayout>,
    /// The attributes of each table in the order of the file.
    pub(super) listed: Vec<Vec<AttributeId>>,
}

impl Header {
    pub(super) fn new(model: &Model) -> Self {
        let domain = model.domain();
        let attribute = |&id: &AttributeId| (domain.name(id).to_string(), domain.size(id));
        let names = |clique: &Clique| domain.names(clique).into_iter().map(String::from).collect();
        Self {
            domain: domain.declared().iter().map(attribute).collect(),
            total: model.total(),
            cliques: model.layout().cliques().iter().map(names).collect(),
            origin: model.origin().cloned(),
            labels: lists(domain, Labels::names),
            edges: lists(domain, Labels::edges),
        }
    }

    /// The domain with its labels.
    fn domain(&self) -> Result<Domain, ModelFileError> {
        let wrong = |error: String| ModelFileError::Header(error);
        let mut domain = Domain::new(self.domain.iter().map(|(name, size)| (name, *size)))
            .map_err(|error| wrong(error.to_string()))?;
        for (name, names) in &self.labels {
            let labels = Labels::new(names).and_then(|labels| match self.edges.get(name) {
                Some(edges) => labels.with_edges(edges.clone()),
                None => Ok(labels),
            });
            let labelled = labels.and_then(|labels| domain.with_labels(name, labels));
            domain = labelled.map_err(|error: LabelsError| {
                wrong(format!("the labels of '{name}' do not fit: {error}"))
            })?;
        }
        Ok(domain)
    }

    /// Validates the header against itself and against the number of potentials in the file.
    pub(super) fn file_layout(&self, potentials: u64) -> Result<FileLayout, ModelFileError> {
        let wrong = |problem: String| Err(ModelFileError::Header(problem));
        if !(self.total > 0.0 && self.total.is_finite()) {
            return wrong(format!("the total is {}", self.total));
        }
        let domain = self.domain()?;
        let mut cells = 0u64;
        let mut cliques = Vec::with_capacity(self.cliques.len());
        let mut listed = Vec::with_capacity(self.cliques.len());
        for (index, names) in self.cliques.iter().enumerate() {
            let known: Option<Vec<AttributeId>> =
                names.iter().map(|name| domain.id(name)).collect();
            let Some(ids) = known else {
                return wrong(format!("clique {index} has an attribute that is not in the domain"));
            };
            let clique = Clique::new(ids.iter().copied());
            if clique.len() != ids.len() {
                return wrong(format!("clique {index} has an attribute twice"));
            }
            match domain.cells(&clique).filter(|&cells| cells <= MAX_CELLS) {
                Some(table) => cells = cells.saturating_add(table as u64),
                None => return wrong(format!("clique {index} has more than {MAX_CELLS} cells")),
            }
            cliques.push(clique);
            listed.push(ids);
        }
        if cells != potentials {
            return wrong(format!("its cliques have {cells} cells, the file has {potentials}"));
        }
        Ok(FileLayout { layout: CliqueLayout::new(domain, cliques), listed })
    }
}

/// The names or the edges of all attributes that have them.
fn lists<T: Clone>(domain: &Domain, list: fn(&Labels) -> &[T]) -> BTreeMap<String, Vec<T>> {
    let of = |id| Some((domain.name(id).to_string(), list(domain.labels(id)?).to_vec()));
    domain.ids().filter_map(of).filter(|(_, list)| !list.is_empty()).collect()
}
