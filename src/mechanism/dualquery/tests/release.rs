use super::*;
use crate::mechanism::find;
use dp::LInfinity;
use dp::sensitivity::brute_force::{Records, worst_case};
use private_pgm::factor::{CliqueLayout, Marginals};
use private_pgm::fit::{EstimatorContext, Progress};

fn own_answers(release: &Release) -> (Vec<Vec<f64>>, String) {
    let (domain, workload) = (domain(), workload());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut context = EstimatorContext {
        memory_limit: 1 << 24,
        deadline: None,
        warm_start: None,
        rng: &mut rng,
        observer: &mut |_: &Progress| {},
    };
    let estimated =
        release.own_estimator.estimate(&release.evidence(&domain), &mut context).unwrap();
    let marginals = estimated.answers.marginals(&workload.cliques()).unwrap();
    let values = marginals.into_iter().map(|factor| factor.into_values()).collect();
    (values, estimated.diagnostics.message)
}

#[test]
fn the_ledger_lists_every_draw_at_the_temperature_of_the_game_and_verifies() {
    let data = data(3000);
    for counting in [Counting::Largest, Counting::Each] {
        let mechanism = DualQuery { counting, ..DualQuery::default() };
        let mut budget = Budget::new(total(1.0), Neighbours::Replace);
        released(&mechanism, &mut budget, &data).unwrap();
        let game = Game { eta: 2.0, samples: 50, records: 3000 };
        let Guarantee::Approximate { epsilon, delta } = budget.total() else { unreachable!() };
        let rounds = game.rounds(counting, epsilon, delta);
        let ledger = budget.ledger();
        assert_eq!(ledger.lines().len(), rounds - 1);
        for (updates, line) in (1..).zip(ledger.lines()) {
            let draw = &line.entry.draw;
            assert_eq!((draw.values, draw.sensitivity), (50, updates as f64));
            assert!((draw.scale / 1500.0 - 1.0).abs() < 1e-12, "N / eta, not {}", draw.scale);
        }
        let spent = ledger.verify(budget.total()).unwrap().unwrap();
        let Guarantee::Approximate { epsilon: spent, .. } = spent else { panic!("{spent}") };
        assert!((spent.get() / game.epsilon(Counting::Each, rounds, delta) - 1.0).abs() < 1e-12);
        assert!(
            game.epsilon(Counting::Each, rounds + 1, delta) > 1.0 || counting == Counting::Largest
        );
        assert!(budget.remaining().is_none());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_answers_sum_to_the_total() {
    let data = data(3000);
    let runs = [0, 1].map(|_| {
        let mut budget = Budget::new(total(1.0), Neighbours::Replace);
        let release = released(&DualQuery::default(), &mut budget, &data).unwrap();
        let Published::Likelihood(likelihood) = &release.published else { panic!("answers") };
        let layout = CliqueLayout::new(domain(), likelihood.cliques());
        let loss = likelihood.loss(&layout).value(&Marginals::zeros(&layout));
        assert_eq!(release.total, 3000.0);
        (own_answers(&release), loss.to_bits())
    });
    assert_eq!(runs[0], runs[1]);
    let (answers, message) = &runs[0].0;
    for marginal in answers {
        assert!((marginal.iter().sum::<f64>() - 3000.0).abs() < 1e-9);
    }
    assert!(message.ends_with("synthetic records"), "{message}");
}

#[test]
fn unsuitable_budgets_and_data_are_refused() {
    let refusal = |total: Guarantee, neighbours, records| {
        let mut budget = Budget::new(total, neighbours);
        let refused = released(&DualQuery::default(), &mut budget, &data(records));
        assert!(budget.ledger().lines().is_empty());
        assert_eq!(budget.remaining(), Some(total), "a refusal costs nothing");
        refused.err().unwrap().to_string()
    };
    let pure = Epsilon::new(1.0).unwrap().into();
    assert!(refusal(total(1.0), Neighbours::AddRemove, 100).contains("public number of records"));
    assert!(refusal(pure, Neighbours::Replace, 100).contains("epsilon and delta, not"));
    assert!(refusal(total(1.0), Neighbours::Replace, 10).contains("too small an epsilon"));
    assert!(refusal(total(1.0), Neighbours::Replace, 0).contains("at least one record"));
}

#[test]
fn invalid_parameters_are_refused_with_the_expected_values() {
    let build = |text: &str| {
        let table: toml::Table = toml::from_str(text).unwrap();
        (find("dualquery").unwrap().build)(&table).map(drop).map_err(|error| error.message)
    };
    for good in ["", "eta = 1.5\nsamples = 10", "counting = \"each\""] {
        assert_eq!(build(good), Ok(()));
    }
    for (bad, word) in [
        ("eta = 0.0", "above 0"),
        ("eta = nan", "above 0"),
        ("eta = 1e9", "at most 100"),
        ("samples = 0", "at least 1"),
        ("samples = -1", "invalid value"),
        ("steps = 3", "unknown field"),
        ("counting = \"none\"", "unknown variant"),
    ] {
        let message = build(bad).unwrap_err();
        assert!(message.contains(word), "{bad}: {message}");
    }
}

#[test]
fn the_sensitivity_of_a_score_is_the_number_of_updates() {
    let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
    let cliques = ["ab", "b"].map(|names| clique(&domain, names));
    let workload = Workload::marginals(&domain, &cliques, &clique(&domain, "b")).unwrap();
    let queries = Queries::new(&workload).unwrap();
    let game = Game { eta: 2.0, samples: 50, records: 3 };
    let satisfied = queries.answers(&[1, 2]);
    for updates in 1..4 {
        let worst = worst_case::<LInfinity>(6, Records::Exactly(3), |table| {
            // A record per count of a cell of the table over a and b.
            let mut codes = vec![Vec::new(); 2];
            for (cell, &times) in table.iter().enumerate() {
                for _ in 0..times {
                    codes[0].push(cell as u32 / 3);
                    codes[1].push(cell as u32 % 3);
                }
            }
            let data = Dataset::from_codes("t", &domain, &codes, Provenance::default()).unwrap();
            let counts = queries.counts(&data).unwrap();
            let mut scores = vec![0.0; 2 * queries.len()];
            game.scores(updates, &counts, &satisfied, &mut scores);
            scores
        });
        assert_eq!(worst.distance, updates as f64);
    }
}

/// T as computed by a published script, with the second term under the root.
fn misplaced_rounds(game: &Game, epsilon: f64, delta: f64) -> usize {
    let fits = |rounds: &usize| {
        let updates = (rounds - 1) as f64;
        let (e1, k) =
            (2.0 * game.eta * updates / game.records as f64, game.samples as f64 * updates);
        e1 * (2.0 * k * (1.0 / delta).ln() + k * e1.exp_m1()).sqrt() <= epsilon
    };
    (2..).take_while(fits).last().unwrap_or(1)
}

#[test]
fn the_misplaced_parenthesis_is_refused_by_the_budget() {
    // With expensive rounds the difference shows even if each draw has its own cost.
    let game = Game { eta: 2.0, samples: 50, records: 3000 };
    let (epsilon, delta) = (100.0, 1e-3);
    let total: Guarantee = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).into();
    let advanced = |rounds: usize| {
        let mut budget = Budget::new(total, Neighbours::Replace);
        budget.rest().unwrap().advanced(&game.draws(rounds).unwrap())
    };
    let Guarantee::Approximate { epsilon: e, delta: d } = total else { unreachable!() };
    let right = game.rounds(Counting::Each, e, d);
    let wrong = misplaced_rounds(&game, epsilon, delta);
    assert!(wrong > right, "{wrong} rounds, but the budget allows {right}");
    assert!(advanced(right).is_ok());
    let refused = advanced(wrong).unwrap_err().to_string();
    assert!(refused.contains("epsilon"), "{refused}");
}
