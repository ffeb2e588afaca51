use proptest::prelude::*;

use super::super::ascent::ascend;
use super::super::elimination::Elimination;
use super::super::payoff::Payoff;
use super::*;

/// A random domain with a workload on it, and samples.
fn rounds_of_samples() -> impl Strategy<Value = (Workload, Vec<usize>)> {
    let sizes = prop::collection::vec(1usize..5, 5);
    let cliques = prop::collection::vec(prop::collection::vec(0usize..5, 1..4), 1..6);
    let samples = prop::collection::vec(0usize..1 << 30, 1..40);
    (sizes, cliques, any::<[bool; 5]>(), samples).prop_map(|(sizes, cliques, prefix, samples)| {
        let named = sizes.iter().enumerate().map(|(i, &n)| (format!("x{i}"), n));
        let domain = Domain::new(named).unwrap();
        let ids = domain.declared();
        let cliques: Vec<Clique> =
            cliques.iter().map(|c| Clique::new(c.iter().map(|&i| ids[i]))).collect();
        let prefix = Clique::new((0..5).filter(|&i| prefix[i]).map(|i| ids[i]));
        (Workload::marginals(&domain, &cliques, &prefix).unwrap(), samples)
    })
}

/// Every record, with how many of the samples it says yes to.
fn all_payoffs(queries: &Queries, samples: &[Sample]) -> Vec<(Vec<u32>, i64)> {
    let domain = queries.domain();
    let mut records = vec![Vec::new()];
    for id in domain.ids() {
        let extend = |r: &Vec<u32>| {
            let r = r.clone();
            (0..domain.size(id) as u32).map(move |v| [&r[..], &[v]].concat())
        };
        records = records.iter().flat_map(extend).collect();
    }
    let payoff = |record: &Vec<u32>| {
        let answers = queries.answers(record);
        samples.iter().filter(|sample| (answers[sample.query] == 1.0) != sample.negated).count()
    };
    records.into_iter().map(|record| (record.clone(), payoff(&record) as i64)).collect()
}

proptest! {
    #[test]
    fn the_record_of_a_round_is_the_best_of_all_records(
        (workload, drawn) in rounds_of_samples(),
        seed: u64,
    ) {
        let queries = Queries::new(&workload).unwrap();
        let samples: Vec<Sample> =
            drawn.iter().map(|i| queries.sample(i % (2 * queries.len()))).collect();
        let all = all_payoffs(&queries, &samples);
        let most = all.iter().map(|(_, payoff)| *payoff).max().unwrap();
        let payoff_of =
            |record: &[u32]| all.iter().find(|(other, _)| other == record).unwrap().1;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let best = best_record(&queries, &samples, Ties::Random, 1 << 24, &mut rng);
        prop_assert!(!best.searched);
        prop_assert_eq!(payoff_of(&best.record), most);
        // The first of the best is the same whatever the seed, and 0 where nothing was asked.
        let first = best_record(&queries, &samples, Ties::First, 1 << 24, &mut rng).record;
        prop_assert_eq!(payoff_of(&first), most);
        let again = best_record(&queries, &samples, Ties::First, 1 << 24, &mut rng).record;
        prop_assert_eq!(&first, &again);
        for (id, &value) in queries.domain().ids().zip(&first) {
            let asked = samples.iter().any(|sample| {
                queries.conjuncts(sample.query).iter().any(|c| c.attribute == id)
            });
            prop_assert!(asked || value == 0);
        }
        let searched = best_record(&queries, &samples, Ties::Random, 0, &mut rng);
        // Samples that cancel out leave nothing to compute.
        prop_assert_eq!(searched.searched, !Payoff::new(&queries, &samples).tables.is_empty());
        prop_assert!(payoff_of(&searched.record) <= most);
        // The payoff over classes is that of the records, up to the number of negations.
        let payoff = Payoff::new(&queries, &samples);
        let negations = samples.iter().filter(|sample| sample.negated).count() as f64;
        let chosen = Elimination::new(&payoff, 1 << 24).unwrap().run(Ties::Random, &mut rng);
        prop_assert_eq!(payoff.value(&chosen) + negations, most as f64);
        prop_assert!(payoff.value(&ascend(&payoff, &mut rng)) <= payoff.value(&chosen));
    }
}

#[test]
fn ties_are_broken_uniformly_over_records() {
    let workload = workload();
    let queries = Queries::new(&workload).unwrap();
    let samples: Vec<Sample> = [0, 5, 11, 17, 29, 40, 71, 85, 87]
        .map(|i| queries.sample(i % (2 * queries.len())))
        .to_vec();
    let all = all_payoffs(&queries, &samples);
    let most = all.iter().map(|(_, payoff)| *payoff).max().unwrap();
    let best: Vec<&Vec<u32>> =
        all.iter().filter(|(_, payoff)| *payoff == most).map(|(record, _)| record).collect();
    assert!(best.len() > 5 && best.len() < all.len(), "{} of {}", best.len(), all.len());
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut drawn = vec![0usize; best.len()];
    let draws = 400 * best.len();
    for _ in 0..draws {
        let record = best_record(&queries, &samples, Ties::Random, 1 << 24, &mut rng).record;
        drawn[best.iter().position(|&other| *other == record).unwrap()] += 1;
    }
    let chi_squared: f64 = drawn.iter().map(|&n| (n as f64 - 400.0).powi(2) / 400.0).sum();
    let freedom = (best.len() - 1) as f64;
    assert!(chi_squared < freedom + 5.0 * (2.0 * freedom).sqrt(), "{chi_squared} for {freedom}");
}
