//! Sets of attributes that an experiment asks for.

use std::collections::BTreeSet;

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use toml::Spanned;

use super::PlanError;
use super::draws::Sets;
use crate::config::{self, Experiment, RandomMarginals, Source, closest};
use dp::SeedPath;
use private_pgm::domain::{AttributeId, Clique, Domain};

/// Sets of attributes that `every` may generate (our choice).
const MAX_SETS: usize = 100_000;

/// A workload of the file: the name of its case, and its sets of attributes.
pub(super) type NamedSets = (String, Vec<Clique>);

/// The sets of attributes of the file, if it has any; several if it asks for several draws.
/// `queries` is the number of queries of the schema's workload.
pub(super) fn asked_sets(
    source: &Source,
    experiment: &Experiment,
    named: &config::Dataset,
    domain: &Domain,
    queries: Option<usize>,
) -> Result<Option<Vec<NamedSets>>, PlanError> {
    let asked = &experiment.workload;
    let id = |name: &Spanned<String>| attribute(source, named.name.as_ref(), domain, name);
    let unnamed = |sets: Vec<Clique>| vec![(String::new(), sets)];
    Ok(match (&asked.marginals, &asked.every, &asked.random) {
        (Some(sets), ..) => {
            let clique = |set: &Spanned<Vec<Spanned<String>>>| {
                set.as_ref().iter().map(id).collect::<Result<Vec<_>, _>>().map(Clique::new)
            };
            Some(unnamed(sets.as_ref().iter().map(clique).collect::<Result<Vec<_>, _>>()?))
        }
        (None, Some(size), _) => {
            let target = asked.target.as_ref().map(id).transpose()?;
            let mut sets = every(source, size, domain)?;
            sets.retain(|set| target.is_none_or(|target| set.contains(target)));
            Some(unnamed(sets))
        }
        (None, None, Some(random)) => Some(draws(source, random, named, domain, queries)?),
        (None, None, None) => None,
    })
}

pub(super) fn attribute(
    source: &Source,
    dataset: &str,
    domain: &Domain,
    name: &Spanned<String>,
) -> Result<AttributeId, PlanError> {
    domain.id(name.as_ref()).ok_or_else(|| {
        let known: Vec<&str> = domain.declared().iter().map(|&id| domain.name(id)).collect();
        let help = match closest(name.as_ref(), known.iter().copied()) {
            Some(close) => format!("did you mean \"{close}\"?"),
            None => format!("its attributes are {}", known.join(", ")),
        };
        let message = format!("\"{dataset}\" has no attribute \"{}\"", name.as_ref());
        source.error(name.span(), message, Some(&help)).into()
    })
}

/// All sets of `size` attributes, unless these are too many.
fn every(source: &Source, size: &Spanned<u64>, domain: &Domain) -> Result<Vec<Clique>, PlanError> {
    let (attributes, wanted) = (domain.len(), *size.as_ref() as usize);
    let refuse = |message: String| PlanError::from(source.error(size.span(), message, None));
    if wanted > attributes {
        return Err(refuse(format!(
            "there are {attributes} attributes, too few for sets of {wanted}"
        )));
    }
    let sets = sets_of(domain, wanted);
    if sets > MAX_SETS as f64 {
        return Err(refuse(format!(
            "{sets:.1e} sets of {wanted} attributes are more than {MAX_SETS}"
        )));
    }
    Ok(domain.everything().subsets(wanted))
}

/// The number of sets of `size` attributes.
fn sets_of(domain: &Domain, size: usize) -> f64 {
    (0..size).fold(1.0, |sets, i| sets * (domain.len() as f64 - i as f64) / (i + 1) as f64)
}

/// Each draw of the file. The name would distinguish nothing if there is only one.
fn draws(
    source: &Source,
    random: &Spanned<RandomMarginals>,
    named: &config::Dataset,
    domain: &Domain,
    queries: Option<usize>,
) -> Result<Vec<NamedSets>, PlanError> {
    let RandomMarginals { seed, draws, queries_within, .. } = random.as_ref();
    let count = draws.as_ref().map_or(1, |draws| *draws.as_ref());
    let name = |number: u64| match count {
        1 => String::new(),
        _ => format!("draw {}", number + 1),
    };
    let Some(factor) = queries_within else {
        let sets = |number| Ok((name(number), draw(source, random, domain, number)?));
        return (0..count).map(sets).collect();
    };
    let refuse = |message: String, help: Option<&str>| {
        PlanError::from(source.error(factor.span(), message, help))
    };
    let wanted = queries.ok_or_else(|| {
        let name = named.name.as_ref();
        let message = format!("\"{name}\" has no workload whose number of queries is known");
        refuse(message, Some("leave `queries_within` out, or name a workload in the schema"))
    })?;
    let (factor, wanted) = (*factor.as_ref(), wanted as f64);
    let sets = Sets::new(source, random, factor, wanted, domain)?;
    let draw = |number| match sets.draw(*seed, number) {
        Some(drawn) => Ok((name(number), drawn)),
        None => Err(refuse(
            format!("no draw with {wanted} queries was found on \"{}\"", named.name.as_ref()),
            Some("a larger factor makes them more frequent"),
        )),
    };
    (0..count).map(draw).collect()
}

/// Distinct sets of attributes: drawn uniformly, or one after the other with probability
/// proportional to the product of their attributes' weights. A weight is the square of an
/// exponential variable (McKenna, Mullins, Sheldon, Miklau 2022, section 6.1: "skewed").
fn draw(
    source: &Source,
    random: &Spanned<RandomMarginals>,
    domain: &Domain,
    number: u64,
) -> Result<Vec<Clique>, PlanError> {
    let RandomMarginals { marginals, size, seed, skewed, .. } = random.as_ref();
    let (count, wanted) = (*marginals.as_ref() as usize, *size.as_ref() as usize);
    let sets = sets_of(domain, wanted);
    if sets < count as f64 {
        let message = format!(
            "there are {} different sets of {wanted} attributes, fewer than {count}",
            sets.max(0.0)
        );
        return Err(source.error(random.span(), message, None).into());
    }
    // The first draw is what a file without `draws` has.
    let path = match number {
        0 => SeedPath::new("workload", seed),
        _ => SeedPath::new("workload", seed).with("draw", number),
    };
    let mut rng = ChaCha20Rng::from_seed(path.seed());
    match skewed {
        true => {
            let weight = |_: &AttributeId| (1.0 - rng.random::<f64>()).ln().powi(2);
            let weights: Vec<f64> = domain.declared().iter().map(weight).collect();
            Ok(skewed_sets(&mut rng, domain, every(source, size, domain)?, &weights, count))
        }
        false => Ok(uniform_sets(&mut rng, domain, wanted, count)),
    }
}

/// `count` is at most the number of sets.
fn uniform_sets(rng: &mut ChaCha20Rng, domain: &Domain, size: usize, count: usize) -> Vec<Clique> {
    let declared = domain.declared();
    let (mut cliques, mut known) = (Vec::with_capacity(count), BTreeSet::new());
    while cliques.len() < count {
        let chosen = sample(rng, declared.len(), size);
        let clique = Clique::new(chosen.iter().map(|place| declared[place]));
        if known.insert(clique.clone()) {
            cliques.push(clique);
        }
    }
    cliques
}

/// The first `count` of the sets, drawn without replacement in proportion to the products of the
/// weights of their attributes in declared order.
///
/// Independent exponential variables with the products as rates end in such an order (Efraimidis,
/// Spirakis, Information Processing Letters 97(5), 2006).
fn skewed_sets(
    rng: &mut ChaCha20Rng,
    domain: &Domain,
    sets: Vec<Clique>,
    weights: &[f64],
    count: usize,
) -> Vec<Clique> {
    let attributes = || domain.declared().iter().zip(weights);
    let mut ends: Vec<(f64, Clique)> = sets
        .into_iter()
        .map(|set| {
            let own = attributes().filter(|(id, _)| set.contains(**id));
            let rate: f64 = own.map(|(_, weight)| weight).product();
            (-(1.0 - rng.random::<f64>()).ln() / rate, set)
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    ends.into_iter().take(count).map(|(_, set)| set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten() -> Domain {
        Domain::new((0..10).map(|i| (format!("x{i}"), 2))).unwrap()
    }

    fn drawn(count: u64, seed: u64, skewed: bool) -> Result<Vec<Clique>, PlanError> {
        let source = Source { path: "mine.toml".into(), text: "random".into() };
        let number = |value| Spanned::new(0..1, value);
        let (marginals, size) = (number(count), number(3));
        let (draws, queries_within) = (None, None);
        let random = RandomMarginals { marginals, size, seed, skewed, draws, queries_within };
        draw(&source, &Spanned::new(0..1, random), &ten(), 0)
    }

    /// The number of sets with the attribute that is in most of them.
    fn most_mentions(sets: &[Clique]) -> usize {
        let mentions = |id| sets.iter().filter(|set| set.contains(id)).count();
        ten().ids().map(mentions).max().unwrap()
    }

    #[test]
    fn random_sets_are_distinct_and_skewed_ones_prefer_some_attributes() {
        for (seed, skewed) in [(1, false), (1, true), (2, true)] {
            let sets = drawn(30, seed, skewed).unwrap();
            assert_eq!(sets, drawn(30, seed, skewed).unwrap());
            assert!(sets.iter().all(|set| set.len() == 3));
            let mut sorted = sets.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), 30);
            // Nine mentions are expected of a uniform draw, and 30 are possible.
            assert_eq!(most_mentions(&sets) > 15, skewed, "{seed}: {}", most_mentions(&sets));
        }
    }

    #[test]
    fn all_sets_can_be_asked_for_and_no_more() {
        for skewed in [false, true] {
            let mut all = drawn(120, 0, skewed).unwrap();
            all.sort();
            assert_eq!(all, ten().everything().subsets(3));
            let refused = drawn(121, 0, skewed).unwrap_err().to_string();
            assert!(refused.contains("there are 120 different sets"), "{refused}");
        }
    }

    #[test]
    fn products_of_weights_decide_which_set_comes_first() {
        let domain = Domain::new([("a", 2), ("b", 2), ("c", 2)]).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let pairs = domain.everything().subsets(2);
        let mut first = vec![0; pairs.len()];
        for _ in 0..6000 {
            let drawn = skewed_sets(&mut rng, &domain, pairs.clone(), &[1.0, 2.0, 0.5], 1);
            first[pairs.iter().position(|pair| *pair == drawn[0]).unwrap()] += 1;
        }
        // Rates 2, 0.5 and 1 of ab, ac and bc. Five standard deviations of a count are below 200.
        for (found, rate) in first.iter().zip([2.0, 0.5, 1.0]) {
            let expected = 6000.0 * rate / 3.5;
            assert!((f64::from(*found) - expected).abs() < 200.0, "{found} {expected}");
        }
    }
}
