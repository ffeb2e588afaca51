use std::ops::Range;
use std::sync::Arc;

use ndarray::ArrayViewD;

use super::Factor;
use crate::domain::{Clique, Domain};
use crate::numeric::memory;

/// The cliques of a model, and the range of each clique's table in one flat array.
#[derive(Debug, PartialEq, Eq)]
pub struct CliqueLayout {
    domain: Domain,
    cliques: Vec<Clique>,
    offsets: Vec<usize>,
}

impl CliqueLayout {
    /// Tables over these cliques, concatenated in this order.
    ///
    /// # Panics
    /// If the cells of all tables exceed `usize::MAX`.
    pub fn new(domain: Domain, cliques: Vec<Clique>) -> Arc<Self> {
        let mut offsets = vec![0usize];
        for clique in &cliques {
            let end = domain
                .cells(clique)
                .and_then(|cells| cells.checked_add(offsets[offsets.len() - 1]))
                .expect("measured cliques fit in the address space");
            offsets.push(end);
        }
        Arc::new(Self { domain, cliques, offsets })
    }

    /// The domain of the cliques.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The cliques, in the order of their tables.
    pub fn cliques(&self) -> &[Clique] {
        &self.cliques
    }

    /// The range of the table at `index` in the flat array.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.offsets[index]..self.offsets[index + 1]
    }

    /// The number of cells of all tables.
    pub fn len(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the smallest table whose clique contains `clique`, if any. Cost: linear in the
    /// number of cliques.
    pub fn covering(&self, clique: &Clique) -> Option<usize> {
        (0..self.cliques.len())
            .filter(|&index| clique.is_subset(&self.cliques[index]))
            .min_by_key(|&index| self.range(index).len())
    }
}

/// One table per clique, the paper's concatenated vector over a collection of cliques.
#[derive(Debug, PartialEq)]
pub struct CliqueVector {
    layout: Arc<CliqueLayout>,
    values: Vec<f64>,
}

impl Clone for CliqueVector {
    fn clone(&self) -> Self {
        Self { layout: Arc::clone(&self.layout), values: memory::copied(&self.values) }
    }
}

impl CliqueVector {
    /// A vector of zeros.
    pub fn zeros(layout: &Arc<CliqueLayout>) -> Self {
        Self { layout: Arc::clone(layout), values: memory::zeros(layout.len()) }
    }

    /// The cliques and the ranges of their tables.
    pub fn layout(&self) -> &Arc<CliqueLayout> {
        &self.layout
    }

    /// The cells of all tables, concatenated.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The cells of all tables, concatenated.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The cells of the table at `index`, row-major in axis order.
    pub fn table(&self, index: usize) -> &[f64] {
        &self.values[self.layout.range(index)]
    }

    /// The cells of the table at `index`, row-major in axis order.
    pub fn table_mut(&mut self, index: usize) -> &mut [f64] {
        &mut self.values[self.layout.range(index)]
    }

    /// Each table with the names of its attributes, the axes in their order.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = (Vec<&str>, ArrayViewD<'_, f64>)> {
        let domain = &self.layout.domain;
        self.layout.cliques.iter().enumerate().map(move |(index, clique)| {
            let view = ArrayViewD::from_shape(domain.shape(clique), self.table(index));
            (domain.names(clique), view.expect("a value for each cell"))
        })
    }

    /// A copy of the table at `index` together with its clique.
    pub fn factor(&self, index: usize) -> Factor {
        let clique = self.layout.cliques[index].clone();
        Factor::new(&self.layout.domain, clique, memory::copied(self.table(index)))
    }
}

macro_rules! space {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub CliqueVector);

        impl $name {
            /// A vector of zeros.
            pub fn zeros(layout: &Arc<CliqueLayout>) -> Self {
                Self(CliqueVector::zeros(layout))
            }
        }

        impl std::ops::Deref for $name {
            type Target = CliqueVector;
            fn deref(&self) -> &CliqueVector {
                &self.0
            }
        }

        impl std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut CliqueVector {
                &mut self.0
            }
        }
    };
}

space! {
    /// Log-potentials theta: p(x) is proportional to exp(sum over C of theta_C(x_C)). A
    /// [`MarginalOracle`](crate::oracle::MarginalOracle) maps them to [`Marginals`].
    Potentials
}
space! {
    /// Marginals in counts: the paper's mu times the total N.
    Marginals
}
