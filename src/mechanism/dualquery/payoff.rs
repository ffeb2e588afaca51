use std::collections::BTreeMap;

use rand::Rng;

use super::queries::{Conjunct, Queries, Sample};
use super::record::Ties;
use private_pgm::domain::{AttributeId, Clique, Domain};

/// The number of sampled queries that a record satisfies, up to a constant: a table per clique with
/// samples, over *classes* of values.
///
/// Two values of an attribute are in one class if no sampled query distinguishes them. A round asks
/// about a few values of each attribute, so a table over classes has hundreds of cells where one
/// over values has ten thousand.
pub(super) struct Payoff {
    /// The attributes of the samples, with a value per class, declared in the order of the
    /// attributes of the data.
    pub(super) domain: Domain,
    /// By their cliques in `domain`.
    pub(super) tables: Vec<(Clique, Vec<f64>)>,
    /// For each attribute of `domain`, that of the data and the values in each class.
    classes: Vec<Classes>,
}

struct Classes {
    attribute: AttributeId,
    members: Vec<Vec<u32>>,
}

impl Payoff {
    pub(super) fn new(queries: &Queries, samples: &[Sample]) -> Self {
        // A query may be drawn several times, or together with its negation.
        let mut net: BTreeMap<usize, f64> = BTreeMap::new();
        for sample in samples {
            *net.entry(sample.query).or_default() += sample.sign();
        }
        net.retain(|_, times| *times != 0.0);
        let asked: Vec<(f64, Vec<Conjunct>)> =
            net.iter().map(|(&query, &times)| (times, queries.conjuncts(query))).collect();

        let mut tests: BTreeMap<AttributeId, Vec<&[bool]>> = BTreeMap::new();
        for conjunct in asked.iter().flat_map(|(_, conjuncts)| conjuncts) {
            tests.entry(conjunct.attribute).or_default().push(&conjunct.satisfies);
        }
        let listed: Vec<Classes> = tests
            .iter()
            .map(|(&attribute, tests)| Classes { attribute, members: indistinguishable(tests) })
            .collect();
        let sizes = listed.iter().enumerate().map(|(i, c)| (i.to_string(), c.members.len()));
        let domain = Domain::new(sizes).expect("every attribute has a class and a distinct name");
        let new_id: BTreeMap<AttributeId, AttributeId> =
            listed.iter().zip(domain.declared()).map(|(c, &id)| (c.attribute, id)).collect();
        let mut classes = listed;
        classes.sort_by_key(|class| new_id[&class.attribute]);

        let mut tables: BTreeMap<Clique, Vec<f64>> = BTreeMap::new();
        for (times, mut conjuncts) in asked {
            conjuncts.sort_by_key(|conjunct| new_id[&conjunct.attribute]);
            let mut cells = vec![times];
            for Conjunct { attribute, satisfies } in &conjuncts {
                let members = &classes[new_id[attribute].index()].members;
                let satisfies = |class: &Vec<u32>| satisfies[class[0] as usize];
                let column: Vec<f64> = members.iter().map(|c| f64::from(satisfies(c))).collect();
                let product = |&cell: &f64| column.iter().map(move |x| cell * x);
                cells = cells.iter().flat_map(product).collect();
            }
            let clique = Clique::new(conjuncts.iter().map(|c| new_id[&c.attribute]));
            let table = tables.entry(clique).or_insert_with(|| vec![0.0; cells.len()]);
            table.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
        }
        Self { domain, tables: tables.into_iter().collect(), classes }
    }

    /// The number of values per class of an attribute.
    pub(super) fn class_sizes(&self, id: AttributeId) -> impl Iterator<Item = f64> + '_ {
        self.classes[id.index()].members.iter().map(|members| members.len() as f64)
    }

    /// The payoff of one class per attribute.
    pub(super) fn value(&self, chosen: &[usize]) -> f64 {
        self.tables.iter().map(|(clique, table)| table[self.cell(clique, chosen)]).sum()
    }

    /// Whether the first record with the classes `chosen` comes before the first one with `others`,
    /// attribute by attribute as in [`Ties::First`]. Classes are in the order of their first
    /// values.
    pub(super) fn is_before(&self, chosen: &[usize], others: &[usize]) -> bool {
        let mut pairs =
            self.domain.declared().iter().map(|id| (chosen[id.index()], others[id.index()]));
        pairs.find(|(here, there)| here != there).is_some_and(|(here, there)| here < there)
    }

    /// The cell of these classes in the table over `clique`.
    pub(super) fn cell(&self, clique: &Clique, chosen: &[usize]) -> usize {
        clique.iter().fold(0, |cell, id| cell * self.domain.size(id) + chosen[id.index()])
    }

    /// A record with these classes. Each attribute has a value of its class. Attributes without
    /// samples have any value.
    pub(super) fn record(
        &self,
        domain: &Domain,
        chosen: &[usize],
        ties: Ties,
        rng: &mut impl Rng,
    ) -> Vec<u32> {
        let mut record: Vec<u32> =
            domain.ids().map(|id| ties.among(domain.size(id), rng) as u32).collect();
        for (classes, &class) in self.classes.iter().zip(chosen) {
            let members = &classes.members[class];
            record[classes.attribute.index()] = members[ties.among(members.len(), rng)];
        }
        record
    }
}

/// Classes of values that satisfy the same tests, in the order of their first values.
fn indistinguishable(tests: &[&[bool]]) -> Vec<Vec<u32>> {
    let mut classes: BTreeMap<Vec<bool>, Vec<u32>> = BTreeMap::new();
    for value in 0..tests[0].len() {
        let answers = tests.iter().map(|test| test[value]).collect();
        classes.entry(answers).or_default().push(value as u32);
    }
    let mut classes: Vec<Vec<u32>> = classes.into_values().collect();
    classes.sort_unstable();
    classes
}
