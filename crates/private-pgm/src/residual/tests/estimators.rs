use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::baselines::FullLeastSquares;
use crate::fit::{
    Estimated, Estimator, EstimatorContext, EstimatorError, Evidence, Observed, Progress,
};
use crate::loss::estimate_total;
use crate::residual::{Grem, GremLnn, TotalSource};

fn run(
    estimator: &dyn Estimator,
    domain: &Domain,
    measurements: &[Measurement],
    memory_limit: u64,
    deadline: Option<Instant>,
) -> Result<Estimated, EstimatorError> {
    let total = estimate_total(measurements).unwrap_or(10.0);
    let evidence =
        Evidence { domain, total, observed: Observed::Answers(measurements), zeros: &[] };
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut context = EstimatorContext {
        memory_limit,
        deadline,
        warm_start: None,
        rng: &mut rng,
        observer: &mut |_: &Progress<'_>| {},
    };
    estimator.estimate(&evidence, &mut context)
}

proptest! {
    #[test]
    fn both_totals_are_the_one_of_full_least_squares((domain, measurements) in measured()) {
        prop_assume!(estimate_total(&measurements).is_some());
        let full = run(&FullLeastSquares::default(), &domain, &measurements, 1 << 30, None);
        let (full, cliques) = (full.unwrap(), all_cliques(&domain));
        let expected = full.answers.marginals(&cliques).unwrap();
        for total in [TotalSource::Evidence, TotalSource::Measurements] {
            let grem = run(&Grem { total }, &domain, &measurements, 1 << 30, None).unwrap();
            let found = grem.answers.marginals(&cliques).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(found.values(), expected.values(), 1e-6);
            }
            let (l2, least) = (grem.diagnostics.loss.unwrap(), full.diagnostics.l1_l2.unwrap().1);
            prop_assert!((l2 - least).abs() <= 1e-6 * (1.0 + least));
        }
    }
}

fn contradicting() -> (Domain, Vec<Measurement>) {
    let domain = Domain::new([("a", 2), ("b", 3)]).unwrap();
    let one = |mask, y: &[f64]| {
        let clique = clique(&domain, mask);
        let query = QueryMatrix::identity(&domain, &clique).unwrap();
        Measurement { clique, query, y: y.to_vec(), stddev: 1.0 }
    };
    let measurements =
        vec![one(0b11, &[6.0, -3.0, 1.0, 2.0, 5.0, -4.0]), one(0b10, &[3.0, 2.0, 4.0])];
    (domain, measurements)
}

#[test]
fn limits_end_an_estimate() {
    let (domain, measurements) = contradicting();
    let estimators: [&dyn Estimator; 2] = [&Grem::default(), &GremLnn::default()];
    for estimator in estimators {
        let error = run(estimator, &domain, &measurements, 100, None).err().unwrap();
        assert!(matches!(error, EstimatorError::Infeasible { .. }), "{error}");
    }
    let error =
        run(&GremLnn::default(), &domain, &measurements, 1 << 20, Some(Instant::now())).err();
    assert!(matches!(error, Some(EstimatorError::Timeout { iterations: 0 })));
}

#[test]
fn a_constrained_estimate_has_a_larger_loss_and_a_small_gap() {
    let (domain, measurements) = contradicting();
    let free = run(&Grem::default(), &domain, &measurements, 1 << 20, None).unwrap().diagnostics;
    let lnn = run(&GremLnn::default(), &domain, &measurements, 1 << 20, None).unwrap();
    let marginals = lnn.answers.marginals(&[domain.everything()]).unwrap();
    assert!(marginals[0].values().iter().all(|&cell| cell > -1e-12));
    let (loss, gap) = (lnn.diagnostics.loss.unwrap(), lnn.diagnostics.gap.unwrap());
    assert!(loss > free.loss.unwrap() && gap < 1e-4 * (1.0 + loss), "{loss} {gap}");
    assert_eq!(lnn.diagnostics.message, "converged");
}

#[test]
fn other_queries_are_not_applicable() {
    let (domain, mut measurements) = contradicting();
    let factors = vec![QueryFactor::Prefix];
    measurements[1].query = measurements[1].query.with_factors(factors).unwrap();
    let error = run(&Grem::default(), &domain, &measurements, 1 << 20, None).err().unwrap();
    assert!(error.to_string().contains("prefix queries"), "{error}");
}
