//! The audit passes every mechanism and refutes mechanisms that are broken on purpose.

use dp::{
    Budget, BudgetError, Delta, Epsilon, Guarantee, LInfinity, Neighbours, NoiseSource, NumberLine,
    Rho, Scores, SeedPath, Sensitivity, Share,
};
use pgmbench::audit::{AuditError, Case, Finding, Request, attack, attack_unknown, audit, cases};
use pgmbench::mechanism::{
    GuaranteeKind, MECHANISMS, Mechanism, MechanismError, Noise, Private, Published, Release,
    ReleaseDiagnostics, Task, Times, find,
};
use pgmbench::workload::SubWorkload;
use private_pgm::baselines::AsMeasured;
use private_pgm::domain::Clique;
use private_pgm::fit::Pgm;
use private_pgm::loss::Measurement;
use private_pgm::model::Projectable;
use private_pgm::query::QueryMatrix;
use rand::{Rng, RngExt};

/// A sound mechanism fails with one seed in a million, not with one in twenty.
const CONFIDENCE: f64 = 1.0 - 1e-6;

fn request(epsilon: f64, trials: usize) -> Request {
    Request {
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(1e-6).unwrap(),
        neighbours: Neighbours::Replace,
        trials,
        confidence: CONFIDENCE,
        seed: 1,
    }
}

fn case(name: &str, place: usize, epsilon: f64) -> Case {
    cases(find(name).unwrap(), epsilon, Neighbours::Replace).unwrap().swap_remove(place)
}

#[test]
fn every_mechanism_passes() {
    for spec in MECHANISMS {
        for finding in audit(spec, &request(1.0, 1000)).unwrap() {
            assert!(!finding.refutes(), "{}: {finding:?}", spec.name);
            assert!(finding.spent.is_some(), "{}: {finding:?}", spec.name);
        }
    }
}

#[test]
fn every_mechanism_passes_between_added_and_removed_records_or_refuses() {
    for spec in MECHANISMS {
        let request = Request { neighbours: Neighbours::AddRemove, ..request(1.0, 500) };
        match audit(spec, &request) {
            Ok(findings) => {
                assert!(findings.iter().all(|finding| !finding.refutes()), "{findings:?}")
            }
            Err(AuditError::Mechanism(MechanismError::Unsuitable(reason))) => {
                assert!(reason.contains("number of records"), "{}: {reason}", spec.name)
            }
            Err(error) => panic!("{}: {error}", spec.name),
        }
    }
}

#[test]
fn the_bound_for_plain_noise_is_near_the_claim() {
    let found = &audit(find("laplace").unwrap(), &request(1.0, 20_000)).unwrap()[0];
    assert!(found.epsilon_lower_bound > 0.8, "{found:?}");
    let found = &audit(find("hdmm").unwrap(), &request(1.0, 20_000)).unwrap()[0];
    assert!(found.epsilon_lower_bound > 0.6, "{found:?}");
}

/// Selections cost as much as noise, and only special pairs show it.
#[test]
fn the_bound_for_selections_is_near_the_claim() {
    let request = Request { confidence: 0.95, ..request(1.0, 20_000) };
    for (name, place, least) in [("dualquery", 0, 0.7), ("php", 1, 0.6)] {
        let (spec, case) = (find(name).unwrap(), case(name, place, 1.0));
        let mechanism = (spec.build)(&case.parameters).unwrap();
        let found = attack(&*mechanism, spec.guarantee, &case, &request).unwrap();
        let most = found.ceiling().unwrap();
        assert!(found.epsilon_lower_bound > least && most > 0.85, "{name}: {most} {found:?}");
        assert!(most <= 1.0 && !found.refutes(), "{name}: {most} {found:?}");
    }
}

#[test]
fn audits_are_reproducible() {
    let audit = |seed| {
        let request = Request { seed, ..request(1.0, 500) };
        format!("{:?}", audit(find("mwem").unwrap(), &request).unwrap())
    };
    assert_eq!(audit(1), audit(1));
    assert_ne!(audit(1), audit(2));
}

/// A share of a budget that is not the release's, with which records can be read without paying. In
/// src/mechanism a test forbids it.
fn unpaid() -> Share {
    Budget::new(Epsilon::new(1.0).unwrap(), Neighbours::Replace).rest().unwrap()
}

/// Runs a mechanism with another budget than the given one.
struct Cheating {
    mechanism: Box<dyn Mechanism>,
    budget: fn(Guarantee) -> Budget,
}

impl Mechanism for Cheating {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        self.mechanism.release(task, &mut (self.budget)(budget.total()), source)
    }
}

/// The same kind of guarantee with twice the epsilon: half of the noise.
fn twice(total: Guarantee) -> Budget {
    let double = |epsilon: Epsilon| Epsilon::new(2.0 * epsilon.get()).unwrap();
    let total: Guarantee = match total {
        Guarantee::Pure { epsilon } => double(epsilon).into(),
        Guarantee::Approximate { epsilon, delta } => (double(epsilon), delta).into(),
        // Half of the noise is four times the rho.
        Guarantee::Concentrated { rho } => Rho::new(4.0 * rho.get()).unwrap().into(),
    };
    Budget::new(total, Neighbours::Replace)
}

/// Sensitivities of added records for replaced records: a missing factor of 2.
fn for_added_records(total: Guarantee) -> Budget {
    Budget::new(total, Neighbours::AddRemove)
}

/// Asserts that the audit refutes a mechanism that runs with another budget than it claims.
fn assert_refuted(name: &str, place: usize, request: &Request, budget: fn(Guarantee) -> Budget) {
    let (spec, case) = (find(name).unwrap(), case(name, place, request.epsilon.get()));
    let cheating = Cheating { mechanism: (spec.build)(&case.parameters).unwrap(), budget };
    let finding = attack(&cheating, spec.guarantee, &case, request).unwrap();
    assert!(finding.refutes(), "{name}, {}: {finding:?}", case.title);
    assert_eq!(finding.spent, None, "the mechanism used another budget");
}

#[test]
fn half_of_the_noise_is_refuted() {
    assert_refuted("laplace", 0, &request(1.0, 4000), twice);
    assert_refuted("hdmm", 1, &request(1.0, 6000), twice);
    assert_refuted("mwem", 0, &request(2.0, 6000), twice);
    // At a delta of a millionth no event shows it in so few runs, but the divergence does.
    assert_refuted("gaussian", 0, &request(1.0, 20_000), twice);
    assert_refuted("residual-planner", 0, &request(1.0, 20_000), twice);
}

/// The audit needs thousands of runs. The ledger records the draws, and in the first run they do
/// not add up to the claim.
#[test]
fn half_of_the_noise_is_refused_by_the_ledger() {
    for name in ["gaussian", "residual-planner", "laplace", "hdmm", "mwem"] {
        let (spec, Case { parameters, one, workload, .. }) =
            (find(name).unwrap(), case(name, 0, 1.0));
        let claimed: Guarantee = match spec.guarantee {
            GuaranteeKind::Pure => Epsilon::new(1.0).unwrap().into(),
            _ => Rho::new(0.05).unwrap().into(),
        };
        for (mut budget, keeps) in
            [(Budget::new(claimed, Neighbours::Replace), true), (twice(claimed), false)]
        {
            let task = Task {
                data: Private::new(&one),
                workload: &workload,
                public: None,
                noise: Noise::Exact,
                estimator: &Pgm::default(),
                memory_limit: 1 << 30,
                deadline: None,
            };
            let mut source = NoiseSource::seeded(&SeedPath::new("ledger", name));
            (spec.build)(&parameters).unwrap().release(&task, &mut budget, &mut source).unwrap();
            let verdict = budget.ledger().verify(claimed);
            assert_eq!(verdict.is_ok(), keeps, "{name}: {verdict:?}");
        }
    }
}

#[test]
fn a_game_with_far_too_many_rounds_is_refuted_by_its_likelihood() {
    let thirty = |_| {
        let budget = (Epsilon::new(30.0).unwrap(), Delta::new(1e-6).unwrap());
        Budget::new(budget, Neighbours::Replace)
    };
    // With few records each has a large effect.
    let (spec, case) = (find("dualquery").unwrap(), case("dualquery", 0, 4.0));
    let mechanism = (spec.build)(&case.parameters).unwrap();
    let cheating = Cheating { mechanism, budget: thirty };
    let finding = attack(&cheating, spec.guarantee, &case, &request(0.1, 2000)).unwrap();
    assert!(finding.refutes(), "{finding:?}");
}

#[test]
fn a_missing_factor_of_two_is_refuted() {
    assert_refuted("laplace", 0, &request(1.0, 4000), for_added_records);
    assert_refuted("hdmm", 1, &request(1.0, 6000), for_added_records);
}

/// Selects by private scores, well or badly, and publishes the selection.
struct Selecting(fn(&[f64], &mut Budget, &mut NoiseSource) -> Result<usize, MechanismError>);

impl Mechanism for Selecting {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        // A record changes the first score in one direction and all others in the other.
        let unpaid = unpaid();
        let data = task.data.read(&unpaid);
        let counts = data.project(&Clique::new([data.domain().declared()[0]]))?;
        let surplus = counts.values()[1] - counts.values()[0];
        let scores: Vec<f64> =
            (0..8).map(|i| if i == 0 { surplus / 2.0 } else { -surplus / 2.0 }).collect();
        let chosen = (self.0)(&scores, budget, source)?;
        let clique = Clique::empty();
        let query = QueryMatrix::identity(task.data.domain(), &clique)?;
        // The number of measurements is the selection, as with a stopping rule.
        let answer = Measurement { clique, query, y: vec![0.0], stddev: 1.0 };
        Ok(Release {
            total: data.len() as f64,
            published: Published::Answers(vec![answer; chosen + 1]),
            own_estimator: Box::new(AsMeasured),
            extra_estimators: Vec::new(),
            times: Times::default(),
            diagnostics: ReleaseDiagnostics::default(),
            bounds: None,
            warm_start: None,
        })
    }
}

type Choose = fn(&[f64], &mut Budget, &mut NoiseSource) -> Result<usize, MechanismError>;

fn choice(choose: Choose) -> Result<Finding, AuditError> {
    let case = case("mwem", 0, 4.0);
    attack(&Selecting(choose), GuaranteeKind::Pure, &case, &request(1.0, 40_000))
}

/// The same by an attacker who does not know the probabilities.
fn unknown_choice(choose: Choose) -> Result<Finding, AuditError> {
    let case = case("mwem", 0, 4.0);
    attack_unknown(&Selecting(choose), GuaranteeKind::Pure, &case, &request(1.0, 40_000))
}

/// Scores change by 1, because the surplus changes by 2.
fn score_sensitivity(by: f64) -> Sensitivity<LInfinity> {
    Sensitivity::new(by, Neighbours::Replace).unwrap()
}

#[test]
fn the_exponential_mechanism_passes_with_a_bound_near_the_claim() {
    let sound = |scores: &[f64], budget: &mut Budget, source: &mut NoiseSource| {
        Ok(budget.rest()?.select(
            "choice",
            scores,
            score_sensitivity(1.0),
            Scores::General,
            source,
        )?)
    };
    for found in [choice(sound).unwrap(), unknown_choice(sound).unwrap()] {
        assert!(!found.refutes() && found.epsilon_lower_bound > 0.6, "{found:?}");
    }
}

#[test]
fn a_doubled_exponent_is_refuted() {
    let broken = |scores: &[f64], budget: &mut Budget, source: &mut NoiseSource| {
        Ok(budget.rest()?.select(
            "choice",
            scores,
            score_sensitivity(0.5),
            Scores::General,
            source,
        )?)
    };
    let found = choice(broken).unwrap();
    assert!(
        found.refutes(),
        "the ledger trusts the claimed sensitivity, the audit does not: {found:?}"
    );
}

#[test]
fn sampling_without_normalisation_is_refuted() {
    // Accepts each candidate in turn with its weight relative to the best one.
    let broken = |scores: &[f64], _: &mut Budget, source: &mut NoiseSource| {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut rng = source.public_choices();
        loop {
            for (i, score) in scores.iter().enumerate().rev() {
                if rng.random::<f64>() < ((score - best) / 2.0).exp() {
                    return Ok(i);
                }
            }
        }
    };
    let found = unknown_choice(broken).unwrap();
    assert!(found.refutes(), "{found:?}");
    // It is no draw from the budget, so that the exact attack refutes it whatever it does.
    let found = choice(broken).unwrap();
    assert!(found.refutes() && found.impossible > 0 && found.ceiling().is_none(), "{found:?}");
}

#[test]
fn a_stopping_rule_that_depends_on_the_data_is_refuted() {
    // Depends on the exact surplus, with little noise.
    let broken = |scores: &[f64], _: &mut Budget, source: &mut NoiseSource| {
        let coin = source.public_choices().next_u32() & 1;
        Ok(usize::from(scores[0] > 0.0) * 2 + coin as usize)
    };
    let found = choice(broken).unwrap();
    assert!(found.refutes() && found.epsilon_lower_bound > 3.0, "{found:?}");
}

/// Multiplicative weights whose stopping rule uses the exact answer.
struct Peeking(Box<dyn Mechanism>);

impl Mechanism for Peeking {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let mut release = self.0.release(task, budget, source)?;
        if let Published::Answers(answers) = &mut release.published {
            let first = &answers[0];
            let part = SubWorkload { clique: first.clique.clone(), query: first.query.clone() };
            let unpaid = unpaid();
            let data = task.data.read(&unpaid);
            let truth = part.answers(data.project(&first.clique)?.values())[0];
            let rounds = if 2.0 * truth > data.len() as f64 { 1 } else { 2 };
            *answers = vec![first.clone(); rounds];
        }
        Ok(release)
    }
}

/// Multiplicative weights that divide the budget for one round only.
struct Hopeful;

impl Mechanism for Hopeful {
    fn release(
        &self,
        task: &Task<'_>,
        budget: &mut Budget,
        source: &mut NoiseSource,
    ) -> Result<Release, MechanismError> {
        let Guarantee::Pure { epsilon } = budget.total() else { panic!("a pure budget") };
        let half = Epsilon::new(epsilon.get() / 2.0)?;
        let unpaid = unpaid();
        let data = task.data.read(&unpaid);
        let n = data.len() as f64;
        let ones = data.project(&data.domain().everything())?.values()[1];
        loop {
            let choice = budget.spend(half)?;
            choice.select(
                "the worst",
                &[n / 2.0 - ones, ones - n / 2.0],
                score_sensitivity(1.0),
                Scores::General,
                source,
            )?;
            let check = budget.spend(half)?;
            let sensitivity = Sensitivity::new(1.0, Neighbours::Replace)?;
            let noisy =
                check.laplace("its answer", &[ones], sensitivity, NumberLine::Integers, source)?;
            if n / 2.0 - noisy.values[0] <= 0.0 {
                let clique = task.data.domain().everything();
                let query = QueryMatrix::identity(task.data.domain(), &clique)?;
                let answer = Measurement { clique, query, y: vec![0.0; 2], stddev: 1.0 };
                return Ok(Release {
                    total: n,
                    published: Published::Answers(vec![answer]),
                    own_estimator: Box::new(AsMeasured),
                    extra_estimators: Vec::new(),
                    times: Times::default(),
                    diagnostics: ReleaseDiagnostics::default(),
                    bounds: None,
                    warm_start: None,
                });
            }
        }
    }
}

#[test]
fn multiplicative_weights_that_stop_by_the_exact_answer_are_refuted() {
    let (spec, case) = (find("pmw").unwrap(), case("pmw", 0, 1.0));
    let honest = || (spec.build)(&case.parameters).unwrap();
    let request = request(1.0, 4000);
    let found = attack(&*honest(), spec.guarantee, &case, &request).unwrap();
    assert!(!found.refutes(), "{found:?}");
    let found = attack(&Peeking(honest()), spec.guarantee, &case, &request).unwrap();
    assert!(found.refutes() && found.epsilon_lower_bound > 3.0, "{found:?}");
    assert!(found.spent.is_some(), "the ledger verifies");
}

#[test]
fn multiplicative_weights_with_a_budget_for_one_round_cannot_play_a_second() {
    let ended = attack(&Hopeful, GuaranteeKind::Pure, &case("pmw", 0, 1.0), &request(1.0, 200));
    match ended {
        Err(AuditError::Mechanism(MechanismError::Budget(BudgetError::Overspent { .. }))) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn multiplicative_weights_with_a_fraction_of_the_noise_are_refuted() {
    // Most runs end after one of two rounds, which costs half of the claim.
    let four_times = |total| twice(twice(total).total());
    assert_refuted("pmw", 0, &request(1.0, 4000), four_times);
}

#[test]
fn an_exact_number_of_records_is_refuted() {
    let honest = find("laplace").unwrap();
    struct Telling(Box<dyn Mechanism>);
    impl Mechanism for Telling {
        fn release(
            &self,
            task: &Task<'_>,
            budget: &mut Budget,
            source: &mut NoiseSource,
        ) -> Result<Release, MechanismError> {
            let release = self.0.release(task, budget, source)?;
            Ok(Release { total: task.data.read(&unpaid()).len() as f64, ..release })
        }
    }
    let request = Request { neighbours: Neighbours::AddRemove, ..request(1.0, 1000) };
    let case = cases(honest, 1.0, Neighbours::AddRemove).unwrap().remove(0);
    let telling = Telling((honest.build)(&toml::Table::new()).unwrap());
    let found = attack(&telling, honest.guarantee, &case, &request).unwrap();
    assert!(found.refutes(), "{found:?}");
}

#[test]
fn invalid_requests_are_refused() {
    let laplace = find("laplace").unwrap();
    let refused = |request| audit(laplace, &request).unwrap_err();
    assert!(matches!(refused(request(1.0, 1)), AuditError::Trials(1)));
    for confidence in [0.0, 1.0, f64::NAN] {
        let request = Request { confidence, ..request(1.0, 10) };
        assert!(matches!(refused(request), AuditError::Confidence(_)));
    }
}
