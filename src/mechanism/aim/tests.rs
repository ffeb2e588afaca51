//! Sensitivities by brute force, the spending, and the course of rounds.

use super::parameters::Weighting;
use super::*;
use crate::data::{Dataset, Provenance};
use crate::mechanism::support::candidate_marginals::{CandidateMarginals, change};
use crate::mechanism::support::small_table::SmallTable;
use crate::mechanism::{ErrorBounds, Noise, Private, find};
use crate::workload::Workload;
use dp::sensitivity::brute_force::{Records, worst_case};
use dp::{Delta, Epsilon, LInfinity, Ledger, Neighbours, SeedPath};
use private_pgm::baselines::Tables;
use private_pgm::factor::Factor;
use private_pgm::fit::{
    Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Pgm, Progress, Settings,
};
use private_pgm::junction_tree::JunctionTree;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::residual::Residuals;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

/// Five attributes: b copies a, and d copies c, with a few exceptions.
fn copies(records: u32) -> Dataset {
    let domain = Domain::new([("a", 3), ("b", 3), ("c", 4), ("d", 4), ("e", 2)]).unwrap();
    let column = |code: &dyn Fn(u32) -> u32| (0..records).map(code).collect::<Vec<u32>>();
    let codes = [
        column(&|i| i % 3),
        column(&|i| if i % 10 == 0 { 0 } else { i % 3 }),
        column(&|i| (i / 3) % 4),
        column(&|i| if i % 10 == 5 { 1 } else { (i / 3) % 4 }),
        column(&|i| (i / 12) % 2),
    ];
    Dataset::from_codes("copies", &domain, &codes, Provenance::default()).unwrap()
}

fn every(data: &Dataset, size: usize) -> Workload {
    let domain = data.domain();
    Workload::marginals(domain, &domain.everything().subsets(size), &Clique::empty()).unwrap()
}

fn rho(epsilon: f64) -> Rho {
    Rho::implying(Epsilon::new(epsilon).unwrap(), Delta::new(1e-9).unwrap()).unwrap()
}

fn task<'a>(data: &'a Dataset, workload: &'a Workload, estimator: &'a dyn Estimator) -> Task<'a> {
    Task {
        data: Private::new(data),
        workload,
        noise: Noise::Exact,
        estimator,
        public: None,
        memory_limit: 1 << 30,
        deadline: None,
    }
}

fn released_with(
    parameters: &str,
    (data, workload): (&Dataset, &Workload),
    budget: &mut Budget,
    estimator: &dyn Estimator,
) -> Result<Release, MechanismError> {
    let task = task(data, workload, estimator);
    let mut source = NoiseSource::seeded(&SeedPath::new("test", "aim"));
    let aim = (find("aim").unwrap().build)(&parameters.parse().unwrap()).unwrap();
    aim.release(&task, budget, &mut source)
}

fn released(
    parameters: &str,
    data: (&Dataset, &Workload),
    budget: &mut Budget,
) -> Result<Release, MechanismError> {
    let settings = Settings { iterations: Some(100), ..Settings::default() };
    released_with(parameters, data, budget, &Pgm::new(settings))
}

fn answers(release: &Release) -> &[Measurement] {
    match &release.published {
        Published::Answers(answers) => answers,
        Published::Likelihood(_) => panic!("AIM publishes marginals"),
    }
}

fn estimated(release: &Release, data: &Dataset) -> Box<dyn Projectable> {
    let mut run = EstimatorContext {
        memory_limit: 1 << 30,
        deadline: None,
        warm_start: None,
        rng: &mut ChaCha20Rng::seed_from_u64(5),
        observer: &mut |_: &Progress<'_>| {},
    };
    release.own_estimator.estimate(&release.evidence(data.domain()), &mut run).unwrap().answers
}

/// The costs of the rounds in rho, each a selection and a measurement.
fn round_costs(ledger: &Ledger, attributes: usize) -> Vec<f64> {
    let cost = |guarantee: Guarantee| match guarantee {
        Guarantee::Concentrated { rho } => rho.get(),
        other => panic!("{other}"),
    };
    let rounds = ledger.lines()[attributes..].chunks_exact(2);
    assert!(rounds.remainder().is_empty());
    rounds
        .map(|round| {
            let kinds = [0, 1].map(|line: usize| round[line].entry.draw.mechanism);
            assert_eq!(kinds, [Drawn::Exponential, Drawn::DiscreteGaussian]);
            round.iter().map(|line| cost(line.entry.cost)).sum()
        })
        .collect()
}

#[test]
fn the_sensitivity_of_scores_is_the_largest_weight_times_that_of_a_distance() {
    let weights = [3.0, 1.0, 0.1];
    for (neighbours, tables) in
        [(Neighbours::Replace, Records::Exactly(3)), (Neighbours::AddRemove, Records::UpTo(3))]
    {
        let scores = |counts: &[u64]| {
            let table = SmallTable::new(counts);
            let (domain, cliques) = (table.data.domain(), table.workload.cliques());
            let cells = vec![0.3, 1.7, 0.0, 2.2, 0.7, 1.0 / 3.0];
            let whole = Factor::new(domain, domain.everything(), cells);
            let estimate = Tables::new(domain, vec![whole]);
            let candidates = CandidateMarginals::new(table.task().data, cliques, 0);
            let share = Budget::new(Rho::new(1.0).unwrap(), neighbours).rest().unwrap();
            let distances = candidates.distances(&[0, 1, 2], &estimate, &share).unwrap();
            let noise = |place| expected_noise(&candidates.cliques()[place], domain, 1.3);
            (0..3).map(|place| score(weights[place], distances[place], noise(place))).collect()
        };
        let worst = worst_case::<LInfinity>(SmallTable::CELLS, tables, scores).distance;
        let claimed = sensitivity(weights.into_iter(), neighbours).unwrap().get();
        assert!(worst <= claimed && worst > claimed * (1.0 - 1e-5), "{worst} {claimed}");
    }
}

#[test]
fn rounds_cost_what_the_paper_says_and_the_last_one_spends_the_rest() {
    let data = copies(2000);
    let workload = every(&data, 3);
    for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
        let total = rho(1.0);
        let mut budget = Budget::new(total, neighbours);
        let release = released("", (&data, &workload), &mut budget).unwrap();
        let ledger = budget.ledger();
        let spent = ledger.verify(budget.total()).unwrap().unwrap();
        let Guarantee::Concentrated { rho: spent } = spent else { panic!("{spent}") };
        assert!(spent <= total && spent.get() > total.get() * (1.0 - 1e-9), "{spent}");
        // sigma_0 = sqrt(T / (2 * 0.9 rho)) with T = 16 * 5, times sqrt(2) under replacement.
        let sigma_0 = (80.0 / (1.8 * total.get())).sqrt();
        let sigma_0 =
            if neighbours == Neighbours::Replace { sigma_0 * 2f64.sqrt() } else { sigma_0 };
        for answer in &answers(&release)[..5] {
            assert_eq!(answer.clique.len(), 1);
            assert!((answer.stddev / sigma_0 - 1.0).abs() < 1e-6, "{} {sigma_0}", answer.stddev);
        }
        let costs = round_costs(&ledger, 5);
        assert_eq!(release.diagnostics.rounds, Some(Rounds { used: costs.len(), limit: 80 }));
        let (last, earlier) = costs.split_last().unwrap();
        let first = total.get() / 80.0;
        let mut cost = first;
        for &found in earlier {
            if found > 2.0 * cost {
                cost *= 4.0;
            }
            assert!((found / cost - 1.0).abs() < 1e-9, "{found} {cost}");
        }
        assert!(cost > first, "no round was annealed");
        assert!(*last < 8.0 * cost && *last > 0.99 * cost, "{last} {cost}");
        // epsilon = sqrt(8 * 0.1 * cost), at the temperature 2 D / epsilon.
        let draw = &ledger.lines()[5].entry.draw;
        let epsilon = (0.8 * costs[0]).sqrt();
        // Each of the five attributes is in six triples, and the largest weight is that of three.
        let sensitivity = 18.0 * change(neighbours);
        assert!((draw.scale / (2.0 * sensitivity / epsilon) - 1.0).abs() < 1e-4, "{draw:?}");
    }
}

/// Fails after a number of estimates.
struct FailsLater {
    after: std::sync::atomic::AtomicUsize,
}

impl Estimator for FailsLater {
    fn estimate(
        &self,
        evidence: &Evidence<'_>,
        run: &mut EstimatorContext<'_>,
    ) -> Result<Estimated, EstimatorError> {
        if self.after.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            return Err(EstimatorError::Timeout { iterations: 0 });
        }
        Pgm::new(Settings { iterations: Some(5), ..Settings::default() }).estimate(evidence, run)
    }
}

#[test]
fn a_run_that_ends_early_has_drawn_what_its_ledger_says() {
    let data = copies(500);
    let workload = every(&data, 2);
    let mut budget = Budget::new(rho(1.0), Neighbours::AddRemove);
    let failing = FailsLater { after: 3.into() };
    let ended = released_with("", (&data, &workload), &mut budget, &failing);
    assert!(matches!(ended, Err(MechanismError::Estimator(EstimatorError::Timeout { .. }))));
    // Five attributes and three rounds of two draws.
    assert_eq!(budget.ledger().lines().len(), 11);
    assert!(budget.ledger().verify(budget.total()).is_ok());
    assert!(budget.remaining().is_some());
}

#[test]
fn dependent_attributes_are_measured_together_and_reproduced() {
    let data = copies(6000);
    let workload = every(&data, 2);
    let mut budget = Budget::new(rho(10.0), Neighbours::AddRemove);
    let release = released("", (&data, &workload), &mut budget).unwrap();
    let estimate = estimated(&release, &data);
    for names in [["a", "b"], ["c", "d"]] {
        let pair = Clique::new(names.map(|name| data.domain().id(name).unwrap()));
        assert!(answers(&release).iter().any(|answer| answer.clique == pair), "{names:?}");
        let found = estimate.marginals(std::slice::from_ref(&pair)).unwrap().remove(0);
        let truth = data.project(&pair).unwrap();
        for (found, truth) in found.values().iter().zip(truth.values()) {
            assert!((found - truth).abs() < 30.0, "{found} {truth}");
        }
    }
    assert!((release.total - 6000.0).abs() < 30.0 && release.total != 6000.0);
}

#[test]
fn the_model_stays_within_the_part_of_the_limit_that_is_spent() {
    let data = copies(6000);
    let workload = every(&data, 3);
    for max_cells in [17, 40, 400] {
        let mut budget = Budget::new(rho(100.0), Neighbours::Replace);
        let parameters = format!("max_cells = {max_cells}");
        let release = released(&parameters, (&data, &workload), &mut budget).unwrap();
        let mut measured: Vec<Clique> = Vec::new();
        let ledger = budget.ledger();
        let mut lines = ledger.lines().iter();
        for (index, answer) in answers(&release).iter().enumerate() {
            let tree = JunctionTree::new(data.domain(), &measured);
            let inside = tree.cliques().iter().any(|larger| answer.clique.is_subset(larger));
            measured.push(answer.clique.clone());
            let draws = if index < 5 { 1 } else { 2 };
            let line = lines.by_ref().nth(draws - 1).unwrap();
            let Guarantee::Concentrated { rho: spent } = line.running_total else { panic!() };
            let limit = f64::from(max_cells) * spent.get() / rho(100.0).get();
            let cells = JunctionTree::new(data.domain(), &measured).size().cells;
            assert!(index < 5 || inside || cells <= limit * (1.0 + 1e-9), "{cells} {limit}");
        }
        let largest = measured.iter().map(Clique::len).max();
        assert_eq!(
            largest,
            Some(if max_cells == 17 { 1 } else { 3 - usize::from(max_cells == 40) })
        );
    }
}

#[test]
fn with_grem_the_junction_tree_is_not_limited_and_costs_are_the_same() {
    let data = copies(6000);
    let workload = every(&data, 2);
    // Single attributes have 16 cells, and pairs up to 16.
    let parameters = |estimator: &str| format!("max_cells = 17\nestimator = \"{estimator}\"");
    let cells_and_costs = |estimator: &str| {
        let mut budget = Budget::new(rho(100.0), Neighbours::AddRemove);
        let release = released(&parameters(estimator), (&data, &workload), &mut budget).unwrap();
        let cliques: Vec<Clique> =
            answers(&release).iter().map(|answer| answer.clique.clone()).collect();
        let cells = JunctionTree::new(data.domain(), &cliques).size().cells;
        let spent = budget.ledger().verify(budget.total()).unwrap().unwrap();
        (cells, round_costs(&budget.ledger(), 5)[0], spent)
    };
    let (pgm, grem) = (cells_and_costs("pgm"), cells_and_costs("grem"));
    assert!(pgm.0 <= 17.0 && grem.0 > 17.0, "{} {}", pgm.0, grem.0);
    assert_eq!(pgm.1, grem.1);
    for (.., spent) in [pgm, grem] {
        let Guarantee::Concentrated { rho: spent } = spent else { panic!("{spent}") };
        assert!(spent <= rho(100.0) && spent.get() > rho(100.0).get() * (1.0 - 1e-9));
    }
    // No pair has as few cells.
    let mut budget = Budget::new(rho(1.0), Neighbours::AddRemove);
    let refused = released("max_cells = 3\nestimator = \"grem\"", (&data, &workload), &mut budget);
    assert!(matches!(refused, Err(MechanismError::Infeasible { .. })));
}

#[test]
fn with_grem_the_own_estimate_is_that_of_grem() {
    let data = copies(2000);
    let workload = every(&data, 2);
    let pair = Clique::new(["a", "b"].map(|name| data.domain().id(name).unwrap()));
    for (neighbours, known) in [(Neighbours::Replace, true), (Neighbours::AddRemove, false)] {
        let mut budget = Budget::new(rho(10.0), neighbours);
        let release = released("estimator = \"grem\"", (&data, &workload), &mut budget).unwrap();
        let total = known.then_some(2000.0);
        let residuals = Residuals::estimate(data.domain(), answers(&release), total).unwrap();
        let own = estimated(&release, &data).project(&pair).unwrap();
        assert_eq!(own, residuals.marginal(&pair));
        let truth = data.project(&pair).unwrap();
        let stddev = residuals.cell_variance(&pair).unwrap().sqrt();
        for (found, truth) in own.values().iter().zip(truth.values()) {
            assert!((found - truth).abs() < 5.0 * stddev, "{found} {truth} {stddev}");
        }
    }
}

#[test]
fn the_papers_weights_change_the_estimate_but_not_what_is_published_about_the_noise() {
    let data = copies(2000);
    let workload = every(&data, 2);
    let run = |weighting: &str| {
        let mut budget = Budget::new(rho(1.0), Neighbours::AddRemove);
        let parameters = format!("weighting = \"{weighting}\"");
        let release = released(&parameters, (&data, &workload), &mut budget).unwrap();
        let whole = estimated(&release, &data).marginals(&[data.domain().everything()]).unwrap();
        (answers(&release)[..5].to_vec(), whole)
    };
    let ((ours, our_estimate), (papers, paper_estimate)) = (run("variance"), run("paper"));
    assert_eq!(ours, papers);
    assert_ne!(our_estimate, paper_estimate);
}

#[test]
fn weights_of_the_paper_are_inverse_standard_deviations() {
    struct Spy;
    impl Estimator for Spy {
        fn estimate(
            &self,
            evidence: &Evidence<'_>,
            _: &mut EstimatorContext<'_>,
        ) -> Result<Estimated, EstimatorError> {
            let private_pgm::fit::Observed::Answers(answers) = evidence.observed else { panic!() };
            let weights: Vec<String> =
                answers.iter().map(|a| format!("{:.6}", 1.0 / a.stddev.powi(2))).collect();
            Err(EstimatorError::Unsupported(weights.join(" ")))
        }
    }
    let domain = Domain::new([("a", 2)]).unwrap();
    let answer = |stddev| {
        let clique = domain.everything();
        let query = private_pgm::query::QueryMatrix::identity(&domain, &clique).unwrap();
        Measurement { clique, query, y: vec![1.0, 2.0], stddev }
    };
    let measured = [answer(4.0), answer(2.0), answer(1.0)];
    let observed = private_pgm::fit::Observed::Answers(&measured);
    let evidence = Evidence { domain: &domain, total: 3.0, observed, zeros: &[] };
    for (weighting, expected) in [
        (Weighting::Variance, "0.062500 0.250000 1.000000"),
        (Weighting::Paper, "0.062500 0.125000 0.250000"),
    ] {
        let mut run = EstimatorContext {
            memory_limit: 1 << 30,
            deadline: None,
            warm_start: None,
            rng: &mut ChaCha20Rng::seed_from_u64(5),
            observer: &mut |_: &Progress<'_>| {},
        };
        let told = Weighted { estimator: &Spy, weighting }.estimate(&evidence, &mut run);
        assert_eq!(told.err().unwrap().to_string(), expected);
    }
}

#[test]
fn unsuitable_data_budgets_and_sizes_are_refused_before_any_draw() {
    let data = copies(100);
    let (pairs, none) = (every(&data, 2), every(&data, 0));
    let (rho, pure) = (Guarantee::from(rho(1.0)), Guarantee::from(Epsilon::new(1.0).unwrap()));
    let empty = copies(0);
    for (parameters, data, workload, total, part) in [
        ("", &data, &pairs, pure, "Gaussian noise"),
        ("", &empty, &pairs, rho, "at least one record"),
        ("", &data, &none, rho, "no marginals"),
        ("max_cells = 15", &data, &pairs, rho, "one-way marginals alone have 16 cells"),
        ("max_cells = 3", &data, &pairs, rho, "\"d\" has 4 values"),
    ] {
        let mut budget = Budget::new(total, Neighbours::Replace);
        let refused = released(parameters, (data, workload), &mut budget).err().unwrap();
        assert!(refused.to_string().contains(part), "{refused}");
        assert!(budget.ledger().lines().is_empty());
    }
    // The other attributes stay in the model: with the smallest pair, a and e, it has 17 cells.
    let mut budget = Budget::new(rho, Neighbours::Replace);
    let refused = released("max_cells = 16", (&data, &pairs), &mut budget).err().unwrap();
    assert!(refused.to_string().contains("has 17 cells, more than max_cells = 16"), "{refused}");
    assert!(budget.ledger().lines().is_empty());
    // A marginal of two attributes can be larger than all attributes together.
    let domain = Domain::new([("a", 50), ("b", 40)]).unwrap();
    let codes = [vec![1, 2], vec![3, 4]];
    let wide = Dataset::from_codes("wide", &domain, &codes, Provenance::default()).unwrap();
    let mut budget = Budget::new(rho, Neighbours::Replace);
    let pair = every(&wide, 2);
    match released("max_cells = 1000", (&wide, &pair), &mut budget) {
        Err(MechanismError::Infeasible { bytes, message }) => {
            assert_eq!(bytes, 16000.0);
            assert!(message.contains("\"a\" has 50 values"), "{message}");
        }
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn a_final_estimate_from_the_last_round_is_nearer_to_the_optimum_than_one_from_nothing() {
    let data = copies(30_000);
    let workload = every(&data, 2);
    let mut budget = Budget::new(rho(1e4), Neighbours::AddRemove);
    let release = released("", (&data, &workload), &mut budget).unwrap();
    let pgm = Pgm::new(Settings { iterations: Some(30), ..Settings::default() });
    let loss = |warm_start| {
        let mut run = EstimatorContext {
            memory_limit: 1 << 30,
            deadline: None,
            warm_start,
            rng: &mut ChaCha20Rng::seed_from_u64(5),
            observer: &mut |_: &Progress<'_>| {},
        };
        let estimated = pgm.estimate(&release.evidence(data.domain()), &mut run).unwrap();
        estimated.diagnostics.loss.unwrap()
    };
    let (warm, cold) = (loss(release.warm_start.as_ref()), loss(None));
    assert!(release.warm_start.is_some() && warm < 0.5 * cold, "{warm} {cold}");
    let mut budget = Budget::new(rho(1e4), Neighbours::AddRemove);
    let grem = released("estimator = 'grem'", (&data, &workload), &mut budget).unwrap();
    assert!(grem.warm_start.is_none());
}

#[test]
fn bounds_hold_for_the_estimate_and_for_any_other_table() {
    let data = copies(3000);
    let workload = every(&data, 2);
    let domain = data.domain();
    let candidates: Vec<Clique> =
        (1..=2).flat_map(|size| domain.everything().subsets(size)).collect();
    let pgm = Pgm::new(Settings { iterations: Some(30), ..Settings::default() });
    let (mut violated, mut bounded, mut ratios) = (0, 0, Vec::new());
    let mut sources = std::collections::BTreeMap::new();
    // Few rounds, so that not all pairs are measured.
    let parameters = "rounds_per_attribute = 2".parse().unwrap();
    let aim = (find("aim").unwrap().build)(&parameters).unwrap();
    for trial in 0..60 {
        let mut budget = Budget::new(rho(1.0), Neighbours::AddRemove);
        let task = task(&data, &workload, &pgm);
        let mut source = NoiseSource::seeded(&SeedPath::new("bounds", trial));
        let release = aim.release(&task, &mut budget, &mut source).unwrap();
        let bounds = release.error_bounds(domain).unwrap();
        let estimate = estimated(&release, &data);
        for clique in &candidates {
            let truth = data.project(clique).unwrap();
            let found = estimate.project(clique).unwrap();
            let uniform = vec![release.total / found.values().len() as f64; found.values().len()];
            let other = Factor::new(domain, clique.clone(), uniform);
            for table in [&found, &other] {
                let Some(bound) = bounds.bound(table, 0.05).unwrap() else { continue };
                let pairs = table.values().iter().zip(truth.values());
                let error: f64 = pairs.map(|(a, b)| (a - b).abs()).sum();
                bounded += 1;
                violated += usize::from(error > bound.l1);
                *sources.entry(bound.source.name()).or_insert(0) += 1;
                if std::ptr::eq(table, &found) {
                    ratios.push(bound.l1 / error.max(1.0));
                }
            }
        }
    }
    assert_eq!(bounded, 60 * 2 * candidates.len(), "every candidate has a bound");
    assert!(sources.len() == 2, "{sources:?}");
    // Each bound fails with a probability of 5 % at most.
    assert!(violated * 20 <= bounded, "{violated} of {bounded}");
    // And says something: the paper finds a factor of about four.
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    assert!(median < 12.0, "{median}");
}

#[test]
fn bounds_of_measured_marginals_contain_the_noise_and_little_more() {
    // One measurement of a marginal of four cells, and the estimate is the answer itself.
    let domain = Domain::new([("a", 4)]).unwrap();
    let clique = domain.everything();
    let query = private_pgm::query::QueryMatrix::identity(&domain, &clique).unwrap();
    let y = vec![10.0, 20.0, 30.0, 40.0];
    let answers = [Measurement { clique: clique.clone(), query, y: y.clone(), stddev: 5.0 }];
    let basis = BoundsBasis { first_stddev: 5.0, last: None };
    let bounds = ErrorBounds { domain: &domain, answers: &answers, basis: &basis };
    let found = bounds.bound(&Factor::new(&domain, clique, y), 0.05).unwrap().unwrap();
    // |N|_1 / P by hand: P = 1/25, n P = 4/25, v = 0.1 * 4/25.
    let (spread, v) = (4.0 / 25.0, 0.4 / 25.0);
    let logarithm = 3.0 * 2f64.ln() + 40f64.ln() + 0.5 * 11f64.ln();
    let expected = (2.0 * (spread + v) * logarithm).sqrt() * 25.0;
    assert!((found.l1 - expected).abs() < 1e-9, "{found:?} {expected}");
    // Quantiles of the L1 norm of noise are below it: 4 * 5 * sqrt(2/pi) is the mean.
    assert!(found.l1 > 16.0 && found.l1 < 48.0, "{found:?}");
}
