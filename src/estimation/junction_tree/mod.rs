//! Temporary.
#![allow(missing_docs)]
use crate::domain::{AttributeId, Clique, Domain};
use std::collections::{BTreeMap, BTreeSet};
pub struct JunctionTree {
    cliques: Vec<Clique>,
    parent: Vec<Option<usize>>,
    components: Vec<Vec<usize>>,
}
impl JunctionTree {
    pub fn new(domain: &Domain, cliques: &[Clique]) -> Self {
        let mut adj: BTreeMap<AttributeId, BTreeSet<AttributeId>> = BTreeMap::new();
        for c in cliques {
            for a in c.iter() {
                let e = adj.entry(a).or_default();
                for b in c.iter() {
                    if a != b {
                        e.insert(b);
                    }
                }
            }
        }
        let mut out: Vec<Clique> = Vec::new();
        while !adj.is_empty() {
            let v = *adj
                .iter()
                .min_by(|x, y| {
                    let f = |t: &(&AttributeId, &BTreeSet<AttributeId>)| {
                        t.1.iter().map(|&b| domain.size(b) as f64).product::<f64>()
                            * domain.size(*t.0) as f64
                    };
                    f(x).total_cmp(&f(y))
                })
                .unwrap()
                .0;
            let n = adj.remove(&v).unwrap();
            let c = Clique::new(n.iter().copied().chain([v]));
            for &a in &n {
                let e = adj.get_mut(&a).unwrap();
                e.remove(&v);
                for &b in &n {
                    if a != b {
                        e.insert(b);
                    }
                }
            }
            if !out.iter().any(|o| c.is_subset(o)) {
                out.push(c);
            }
        }
        // prim
        let k = out.len();
        let mut parent = vec![None; k];
        let mut seen = vec![false; k];
        let mut components = Vec::new();
        for r in (0..k).map(|i| (i + k / 2) % k.max(1)) {
            if seen[r] {
                continue;
            }
            seen[r] = true;
            let mut order = vec![r];
            let mut best: Vec<(usize, usize)> =
                (0..k).map(|j| (out[j].intersection(&out[r]).len(), r)).collect();
            loop {
                let Some(j) =
                    (0..k).filter(|&j| !seen[j] && best[j].0 > 0).max_by_key(|&j| best[j].0)
                else {
                    break;
                };
                seen[j] = true;
                parent[j] = Some(best[j].1);
                order.push(j);
                for l in 0..k {
                    if !seen[l] {
                        let w = out[l].intersection(&out[j]).len();
                        if w > best[l].0 {
                            best[l] = (w, j);
                        }
                    }
                }
            }
            order.reverse();
            components.push(order);
        }
        Self { cliques: out, parent, components }
    }
    pub fn cliques(&self) -> &[Clique] {
        &self.cliques
    }
    pub fn parent(&self, i: usize) -> Option<usize> {
        self.parent[i]
    }
    pub fn components(&self) -> &[Vec<usize>] {
        &self.components
    }
    pub fn covering(&self, c: &Clique) -> Option<usize> {
        (0..self.cliques.len()).find(|&i| c.is_subset(&self.cliques[i]))
    }
}
