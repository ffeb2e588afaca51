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

/// Every record with the number of samples that it satisfies.
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
        // Records are listed in the order of their values.
        let first = best_record(&queries, &samples, Ties::First, 1 << 24, &mut rng).record;
        prop_assert_eq!(Some(&first), all.iter().find(|(_, p)| *p == most).map(|(r, _)| r));
        let searched = best_record(&queries, &samples, Ties::Random, 0, &mut rng);
        // If all samples cancel out, there are no tables and elimination is trivial.
        prop_assert_eq!(searched.searched, !Payoff::new(&queries, &samples).tables.is_empty());
        prop_assert!(payoff_of(&searched.record) <= most);
        // The payoff over classes is that of the records, up to the number of negations.
        let payoff = Payoff::new(&queries, &samples);
        let negations = samples.iter().filter(|sample| sample.negated).count() as f64;
        let chosen = Elimination::new(&payoff, 1 << 24).unwrap().run(Ties::Random, &mut rng);
        prop_assert_eq!(payoff.value(&chosen) + negations, most as f64);
        for ties in [Ties::Random, Ties::First] {
            prop_assert!(payoff.value(&ascend(&payoff, ties, &mut rng)) <= payoff.value(&chosen));
        }
    }
}

/// Forty attributes of four values in a ring, so their ranks have more than 53 bits. Neighbours in
/// the ring pay off in different halves.
#[test]
fn the_first_record_is_found_when_its_rank_exceeds_53_bits() {
    let domain = Domain::new((0..40).map(|i| (format!("x{i}"), 4))).unwrap();
    let ids = domain.declared();
    let pairs: Vec<Clique> = (0..40).map(|i| Clique::new([ids[i], ids[(i + 1) % 40]])).collect();
    let workload = Workload::marginals(&domain, &pairs, &Clique::empty()).unwrap();
    let queries = Queries::new(&workload).unwrap();
    // The queries of a pair with one value in each half.
    let halves_differ = |query: &usize| (query % 16 / 4 < 2) != (query % 4 < 2);
    let wanted = (0..queries.len()).filter(halves_differ);
    let samples: Vec<Sample> = wanted.map(|query| queries.sample(query)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let first = best_record(&queries, &samples, Ties::First, 1 << 24, &mut rng);
    assert_eq!((first.record, first.searched), ([0, 2].repeat(20), false));
}

#[test]
fn a_local_search_takes_the_first_of_the_best_it_finds() {
    let workload = workload();
    let queries = Queries::new(&workload).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    // A conjunction, which every start reaches, and its negation, which nearly all records satisfy.
    for negated in [false, true] {
        let samples = [Sample { query: 0, negated }];
        let best = best_record(&queries, &samples, Ties::First, 1 << 24, &mut rng).record;
        let searched = best_record(&queries, &samples, Ties::First, 0, &mut rng);
        assert_eq!((searched.record, searched.searched), (best, true));
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
