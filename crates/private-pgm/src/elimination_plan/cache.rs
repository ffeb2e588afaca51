use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{Clique, Domain};
use crate::numeric::contraction::{Axis, Contraction};

/// Compiles the kernels of a plan, one per distinct shape: all nodes of a chain share one.
pub(crate) struct ContractionCache<'a> {
    domain: &'a Domain,
    compiled: HashMap<Vec<Axis>, Arc<Contraction>>,
}

impl<'a> ContractionCache<'a> {
    pub(crate) fn new(domain: &'a Domain) -> Self {
        Self { domain, compiled: HashMap::new() }
    }

    pub(crate) fn domain(&self) -> &'a Domain {
        self.domain
    }

    /// The kernel O = sum of A * B for tables over the attributes `a`, `b` and `o`. The sum is over
    /// the attributes outside `o`; O is constant along attributes of `o` in neither `a` nor `b`.
    pub(crate) fn get(&mut self, a: &Clique, b: &Clique, o: &Clique) -> Arc<Contraction> {
        let axis = |id| Axis {
            size: self.domain.size(id),
            in_a: a.contains(id),
            in_b: b.contains(id),
            in_o: o.contains(id),
        };
        let axes: Vec<Axis> = a.union(b).union(o).iter().map(axis).collect();
        let entry = self.compiled.entry(axes);
        Arc::clone(entry.or_insert_with_key(|axes| Arc::new(Contraction::new(axes))))
    }
}
