use std::collections::BTreeSet;

use crate::mechanism::MechanismError;
use private_pgm::domain::{AttributeId, Clique, Domain};

/// The largest downward closure, our choice. A clique of k attributes has 2^k - 1 subsets.
const MAX_CANDIDATES: usize = 200_000;

/// The downward closure of a workload: all non-empty subsets of its cliques, with weights.
pub(super) struct Closure {
    /// Ascending in the number of attributes.
    pub(super) cliques: Vec<Clique>,
    /// w_r = sum over the workload's cliques s of c_s |r intersect s|, with c_s = 1 per mention.
    pub(super) weights: Vec<f64>,
}

impl Closure {
    pub(super) fn new(domain: &Domain, workload: &[Clique]) -> Result<Self, MechanismError> {
        let mut closure = BTreeSet::new();
        for clique in workload {
            for size in 1..=clique.len() {
                let sets = (0..size)
                    .fold(1.0, |sets, i| sets * (clique.len() - i) as f64 / (i + 1) as f64);
                if sets + closure.len() as f64 > 4.0 * MAX_CANDIDATES as f64 {
                    return Err(too_many());
                }
                closure.extend(clique.subsets(size));
            }
        }
        if closure.len() > MAX_CANDIDATES {
            return Err(too_many());
        }
        let mut cliques: Vec<Clique> = closure.into_iter().collect();
        cliques.sort_by_key(Clique::len);
        // |r intersect s| is a sum over the attributes of r, so w_r is the sum of their mentions.
        let mut mentions = vec![0.0; domain.len()];
        workload.iter().flat_map(Clique::iter).for_each(|id| mentions[id.index()] += 1.0);
        let weight = |clique: &Clique| clique.iter().map(|id| mentions[id.index()]).sum();
        let weights = cliques.iter().map(weight).collect();
        Ok(Self { cliques, weights })
    }

    /// The attributes of the workload.
    pub(super) fn attributes(&self) -> Vec<AttributeId> {
        let single = |clique: &&Clique| clique.len() == 1;
        self.cliques.iter().take_while(single).flat_map(Clique::iter).collect()
    }
}

fn too_many() -> MechanismError {
    MechanismError::Unsuitable(format!(
        "the marginals of the workload and those inside them are more than {MAX_CANDIDATES}; \
         use a workload of fewer or smaller marginals"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_the_definition() {
        let domain = Domain::new([("a", 2), ("b", 3), ("c", 4), ("d", 5)]).unwrap();
        let ids: Vec<AttributeId> = domain.ids().collect();
        let set = |places: &[usize]| Clique::new(places.iter().map(|&place| ids[place]));
        // One clique is asked for twice, and one is inside another.
        let workload = [set(&[0, 1, 2]), set(&[1, 2]), set(&[0, 1, 2])];
        let closure = Closure::new(&domain, &workload).unwrap();
        assert_eq!(closure.cliques.len(), 7);
        assert_eq!(closure.attributes(), ids[..3]);
        for (clique, weight) in closure.cliques.iter().zip(&closure.weights) {
            let shared = |s: &Clique| clique.intersection(s).len() as f64;
            assert_eq!(*weight, workload.iter().map(shared).sum::<f64>(), "{clique:?}");
        }
    }

    #[test]
    fn a_closure_of_millions_is_refused() {
        let domain = Domain::new((0..60).map(|i| (format!("x{i}"), 2))).unwrap();
        let refused = Closure::new(&domain, &[domain.everything()]).err().unwrap();
        assert!(refused.to_string().contains("fewer or smaller"), "{refused}");
    }
}
