use std::collections::{BTreeMap, HashMap};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::PrivBayes;
use super::candidates::ParentSets;
use super::model_size::ModelSize;
use super::score::{Score, Shape};
use crate::data::Dataset;
use crate::mechanism::support::bayesian_network::Family;
use crate::mechanism::{MechanismError, Private};
use dp::{NoiseSource, Scores, SeedPath, Share};
use private_pgm::domain::{AttributeId, Clique, Domain};
use private_pgm::model::{MarginalError, Projectable};

/// Selects the families of a network over all attributes, one per share after the first attribute.
/// Parents come before their children.
///
/// Cost: a pass over the columns of each new candidate, in parallel. Scores do not depend on the
/// step and are cached.
pub(super) fn choose(
    privbayes: &PrivBayes,
    private: Private<'_>,
    useful_cells: usize,
    shares: Vec<Share>,
    source: &mut NoiseSource,
    in_time: impl Fn() -> Result<(), MechanismError>,
) -> Result<Vec<Family>, MechanismError> {
    let domain = private.domain();
    // Ids ascend with size, so the first attribute has the fewest values.
    let mut rest: Vec<AttributeId> = domain.ids().collect();
    let first = dp::sabotage!(
        rest.remove(0),
        "privbayes-first-by-the-data",
        rest.remove(crate::mechanism::sabotaged::commonest(private.unpaid()).index())
    );
    let mut families = vec![Family { child: first, parents: Clique::empty() }];
    // Not secret: it decides which sets are compared, independently of the data.
    let mut rng = ChaCha8Rng::from_seed(SeedPath::new("mechanism", "privbayes").seed());
    let mut scored = HashMap::new();
    for share in shares {
        in_time()?;
        let candidates = candidates(privbayes, domain, &families, &rest, useful_cells, &mut rng);
        let candidates = dp::sabotage!(
            candidates,
            "privbayes-drops-independent-parents",
            candidates
                .iter()
                .filter(|family| {
                    **family == candidates[0]
                        || score(privbayes.score, private.unpaid(), family)
                            .is_ok_and(|score| score > 0.0)
                })
                .cloned()
                .collect::<Vec<Family>>()
        );
        let data = private.read(&share);
        let records = data.len();
        let scores = scores(privbayes.score, data, &candidates, &mut scored)?;
        let scores = dp::sabotage!(
            scores,
            "privbayes-half-the-temperature",
            scores.into_iter().map(|score| 2.0 * score).collect::<Vec<f64>>()
        );
        let shapes: Vec<Shape> = candidates.iter().map(|family| shape(domain, family)).collect();
        let sensitivity = privbayes.score.sensitivity(records, &shapes)?;
        let label = format!("attribute {} of the network", families.len() + 1);
        let share = dp::sabotage!(
            share,
            "privbayes-network-unpaid",
            crate::mechanism::sabotaged::again(share)
        );
        let chosen = dp::sabotage!(
            share.select(label, &scores, sensitivity, Scores::General, source)?,
            "privbayes-takes-the-best",
            crate::mechanism::sabotaged::largest(&scores)
        );
        rest.retain(|&id| id != candidates[chosen].child);
        families.push(candidates[chosen].clone());
    }
    Ok(families)
}

/// The scores of the candidates, of which those that are new are added to `scored`.
fn scores(
    kind: Score,
    data: &Dataset,
    candidates: &[Family],
    scored: &mut HashMap<(AttributeId, Clique), f64>,
) -> Result<Vec<f64>, MarginalError> {
    let key = |family: &Family| (family.child, family.parents.clone());
    let is_new = |family: &&Family| !scored.contains_key(&key(family));
    let new: Vec<&Family> = candidates.iter().filter(is_new).collect();
    let scores = new.par_iter().map(|family| score(kind, data, family));
    let scores = scores.collect::<Result<Vec<f64>, _>>()?;
    scored.extend(new.into_iter().map(key).zip(scores));
    Ok(candidates.iter().map(|family| scored[&key(family)]).collect())
}

/// The candidates of the next selection.
fn candidates(
    privbayes: &PrivBayes,
    domain: &Domain,
    families: &[Family],
    rest: &[AttributeId],
    useful_cells: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<Family> {
    let chosen: Vec<AttributeId> = families.iter().map(|family| family.child).collect();
    let model = ModelSize::new(domain, families, privbayes.model_cells);
    let sets = ParentSets::new(domain, &chosen, |set| model.allows(set));
    let most = (privbayes.candidates / rest.len()).max(1);
    // Children of the same size have the same sets.
    let mut by_size: BTreeMap<usize, Vec<Clique>> = BTreeMap::new();
    let mut candidates = Vec::new();
    for &child in rest {
        let size = domain.size(child);
        let sets =
            by_size.entry(size).or_insert_with(|| sets.maximal(useful_cells / size, most, rng));
        candidates.extend(sets.iter().map(|set| Family { child, parents: set.clone() }));
    }
    candidates
}

/// The dependence of a child on its parents in the data.
pub(super) fn score(score: Score, data: &Dataset, family: &Family) -> Result<f64, MarginalError> {
    if family.parents.is_empty() {
        return Ok(0.0);
    }
    let listed: Vec<AttributeId> =
        [family.child].into_iter().chain(family.parents.iter()).collect();
    let counts = data.project(&family.clique())?.values_as_listed(&listed);
    Ok(score.of(&counts, shape(data.domain(), family).parents))
}

fn shape(domain: &Domain, family: &Family) -> Shape {
    let parents = family.parents.iter().map(|id| domain.size(id)).product();
    Shape { child: domain.size(family.child), parents }
}
