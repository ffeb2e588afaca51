use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use private_pgm::factor::{CliqueLayout, CliqueVector, Factor, Marginals};
use private_pgm::fit::{Algorithm, Fit, Likelihood, Progress, Settings};
use private_pgm::loss::Loss;
use private_pgm::optimiser::StepSize;

/// A game with random samples and records.
fn any_game(eta: f64, rounds: usize, rng: &mut ChaCha8Rng) -> (Queries, SampledQueries, Naive) {
    let queries = Queries::new(&workload()).unwrap();
    let game = Game { eta, samples: 4, records: 100 };
    let all = 2 * queries.len();
    let samples: Vec<Vec<Sample>> = (0..rounds)
        .map(|_| (0..4).map(|_| queries.sample(rng.random_range(0..all))).collect())
        .collect();
    let domain = domain();
    let records: Vec<Vec<u32>> = (0..rounds)
        .map(|_| domain.ids().map(|id| rng.random_range(0..domain.size(id) as u32)).collect())
        .collect();
    let likelihood = SampledQueries::new(&game, &queries, &samples, &records);
    let answers = records.iter().map(|record| queries.answers(record)).collect();
    (queries, likelihood, Naive { eta, samples, answers })
}

/// Supplement C.3, Algorithm 5, with the signs of this module.
struct Naive {
    eta: f64,
    samples: Vec<Vec<Sample>>,
    answers: Vec<Vec<f64>>,
}

impl Naive {
    fn loss(&self, a: &[f64]) -> f64 {
        let mut s = vec![0.0; a.len()];
        let mut loss = 0.0;
        for (samples, answers) in self.samples.iter().zip(&self.answers) {
            let most = s.iter().map(|s: &f64| s.abs()).fold(0.0, f64::max);
            let z: f64 = s.iter().map(|s| (s - most).exp() + (-s - most).exp()).sum();
            for sample in samples {
                loss += most + z.ln() - sample.sign() * s[sample.query];
            }
            for ((s, a), x) in s.iter_mut().zip(a).zip(answers) {
                *s += self.eta * (a - x);
            }
        }
        loss
    }
}

/// The tables of the workload; one table for all; and a mixture, in which one table has no queries.
fn layouts() -> [Arc<CliqueLayout>; 3] {
    let domain = domain();
    let cliques = |names: &[&str]| names.iter().map(|names| clique(&domain, names)).collect();
    [workload().cliques(), cliques(&["abcd"]), cliques(&["be", "abc", "ade", "bcd"])]
        .map(|cliques| CliqueLayout::new(domain.clone(), cliques))
}

/// The marginals of a random table of 100 records, and its answers.
fn random_marginals(
    layout: &Arc<CliqueLayout>,
    queries: &Queries,
    rng: &mut ChaCha8Rng,
) -> (Marginals, Vec<f64>) {
    let domain = layout.domain();
    let everything = domain.everything();
    let cells: Vec<f64> =
        (0..domain.cells(&everything).unwrap()).map(|_| rng.random::<f64>().powi(8)).collect();
    let scale = 100.0 / cells.iter().sum::<f64>();
    let cells = cells.iter().map(|cell| cell * scale).collect();
    let table = Factor::new(domain, everything, cells);
    let mut marginals = Marginals::zeros(layout);
    for (index, clique) in layout.cliques().iter().enumerate() {
        marginals.table_mut(index).copy_from_slice(table.sum_onto(clique).values());
    }
    let answers = queries.parts().iter().flat_map(|part| {
        part.answers(table.sum_onto(&part.clique).values()).into_iter().map(|count| count / 100.0)
    });
    (marginals, answers.collect())
}

fn evaluate(loss: &mut dyn Loss, marginals: &Marginals) -> (f64, CliqueVector) {
    let mut gradient = CliqueVector::zeros(marginals.layout());
    gradient.values_mut().fill(f64::NAN);
    let value = loss.value_and_gradient(marginals, &mut gradient);
    (value, gradient)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// From one long segment (small eta) to a segment per round (eta of at least 80).
    #[test]
    fn the_likelihood_agrees_with_a_replay_of_the_game(
        eta in prop_oneof![0.01..4.0f64, 10.0..100.0f64],
        rounds in 1usize..40,
        seed: u64,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (queries, likelihood, naive) = any_game(eta, rounds, &mut rng);
        for layout in layouts() {
            let (marginals, answers) = random_marginals(&layout, &queries, &mut rng);
            let mut loss = likelihood.loss(&layout);
            let expected = naive.loss(&answers);
            let (value, _) = evaluate(&mut *loss, &marginals);
            prop_assert!((value - expected).abs() <= 1e-11 * expected.abs(), "{value} {expected}");
            prop_assert_eq!(loss.value(&marginals).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn gradients_are_those_of_the_likelihood(
        eta in 0.1..5.0f64,
        rounds in 2usize..30,
        seed: u64,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (queries, likelihood, _) = any_game(eta, rounds, &mut rng);
        for layout in layouts() {
            let mut loss = likelihood.loss(&layout);
            let (marginals, _) = random_marginals(&layout, &queries, &mut rng);
            let (_, gradient) = evaluate(&mut *loss, &marginals);
            let size = gradient.values().iter().map(|g| g.abs()).fold(0.0, f64::max);
            for cell in 0..layout.len() {
                // A cell changes an answer by 1/100, so h changes it by 1e-5.
                let h = 1e-3;
                let [up, down] = [h, -h].map(|h| {
                    let mut moved = marginals.clone();
                    moved.values_mut()[cell] += h;
                    loss.value(&moved)
                });
                let slope = (up - down) / (2.0 * h);
                prop_assert!((slope - gradient.values()[cell]).abs() <= 1e-5 * size);
            }
        }
    }

    #[test]
    fn the_likelihood_is_convex_and_as_smooth_as_claimed(
        eta in 0.1..20.0f64,
        rounds in 2usize..40,
        seed: u64,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (queries, likelihood, _) = any_game(eta, rounds, &mut rng);
        let [layout, ..] = layouts();
        let mut loss = likelihood.loss(&layout);
        let (one, answers) = random_marginals(&layout, &queries, &mut rng);
        let (two, others) = random_marginals(&layout, &queries, &mut rng);
        let (first, gradient) = evaluate(&mut *loss, &one);
        let second = loss.value(&two);
        let mut middle = one.clone();
        middle.values_mut().iter_mut().zip(two.values()).for_each(|(m, t)| *m = 0.5 * (*m + t));
        let rounding = 1e-11 * (first.abs() + second.abs());
        prop_assert!(loss.value(&middle) <= 0.5 * (first + second) + rounding);
        let slope: f64 = gradient.values().iter().zip(two.values().iter().zip(one.values()))
            .map(|(g, (t, o))| g * (t - o)).sum();
        let excess = second - first - slope;
        // Answers, as fractions, change by at most half of the distance of the tables.
        let moved = answers.iter().zip(&others).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let bound = 0.5 * loss.smoothness().unwrap() * (2.0 * 100.0 * moved).powi(2);
        prop_assert!(excess >= -rounding && excess <= bound + rounding, "{excess} {bound}");
    }
}

#[test]
fn mirror_descent_with_line_search_is_monotone_and_ends_with_a_certificate() {
    let mut budget = Budget::new(total(1.0), Neighbours::Replace);
    let release = released(&DualQuery::default(), &mut budget, &data(3000)).unwrap();
    let Published::Likelihood(likelihood) = &release.published else { panic!("answers") };
    let domain = domain();
    let algorithms = [Algorithm::Mirror(StepSize::LineSearch), Algorithm::Auto];
    let losses = algorithms.map(|algorithm| {
        let settings = Settings {
            algorithm,
            gap: Some(1e-4),
            iterations: Some(20_000),
            ..Settings::default()
        };
        let mut values: Vec<f64> = Vec::new();
        let observer = |progress: &Progress<'_>| {
            values.push(likelihood.loss(progress.marginals.layout()).value(progress.marginals));
        };
        let evidence = release.evidence(&domain);
        let fit = Fit::to_evidence(evidence).settings(settings).observer(observer).run().unwrap();
        assert!(fit.gap.is_some_and(|gap| gap <= 1e-4), "{:?} {}", fit.gap, fit.reason);
        if algorithm == algorithms[0] {
            let rises = values.windows(2).filter(|w| w[1] > w[0] * (1.0 + 1e-12)).count();
            assert_eq!(rises, 0);
            assert!(values[values.len() - 1] < values[0] - 1.0);
        }
        fit.loss
    });
    assert!((losses[0] - losses[1]).abs() <= 1e-4, "{losses:?}");
}
