use private_pgm::fit::{Algorithm, Constant, OracleKind, Settings, StepSize};
use private_pgm::loss::Norm;
use toml::{Spanned, Value};

use super::{SHORT, parse, source};
use crate::config::{Arm, ByteSize, Chain, Estimation, Experiment, FigureKind, Kind, Metric};

const EVERYTHING: &str = include_str!("everything.toml");
const SCALING: &str = include_str!("scaling.toml");
const DATASETS: &str = include_str!("datasets.toml");

#[test]
fn defaults_are_filled_in() {
    let experiment = parse(SHORT).unwrap();
    assert_eq!((experiment.title.as_str(), experiment.trials, experiment.seed), ("mine", 5, 0));
    assert_eq!(experiment.epsilon, [Spanned::new(0..0, 1.0)]);
    assert_eq!(experiment.estimation, Estimation::default());
    assert_eq!(experiment.mechanisms[0].label.as_ref(), "hdmm");
    assert!(experiment.mechanisms[0].arms.is_empty());
    assert_eq!(experiment.figure.kind, FigureKind::Bars);
    let several = parse(&SHORT.replace("= 1", "= [1, 2]")).unwrap();
    assert_eq!(several.figure.kind, FigureKind::Epsilon);
    let cases = [
        ("public = [1]", FigureKind::Bars),
        ("public = [0, 1]", FigureKind::Cases),
        ("workload = { queries = ['identity'] }", FigureKind::Bars),
        ("workload = { queries = ['identity', 'all-ranges'] }", FigureKind::Cases),
        ("workload = { queries = [{ ranges = { count = 9 } }] }", FigureKind::Cases),
    ];
    for (setting, kind) in cases {
        let experiment = parse(&SHORT.replace("= 1", &format!("= 1\n{setting}"))).unwrap();
        assert_eq!(experiment.figure.kind, kind, "{setting}");
    }
}

#[test]
fn every_setting_is_read() {
    let experiment = parse(EVERYTHING).unwrap();
    assert_eq!(experiment.limits.memory, Some(ByteSize(4 << 30)));
    assert_eq!(experiment.limits.seconds, Some(600.0));
    assert_eq!(experiment.delta, Some(Spanned::new(0..0, 0.001)));
    let mine = &experiment.datasets[1];
    assert_eq!(mine.name.as_ref(), "mine");
    let schema = mine.schema.as_ref().unwrap().as_ref();
    assert_eq!(source("").resolve(schema), std::path::Path::new("configs/my/schema.toml"));
    let chain = experiment.datasets[2].chain.as_ref().unwrap().as_ref();
    let expected = Chain { attributes: 4, records: 100, ones: 0.3, flips: 0.2, seed: 1 };
    assert_eq!(*chain, expected);
    let restarts = &experiment.mechanisms[0].parameters["restarts"];
    assert_eq!(*restarts.as_ref(), Value::Integer(25));
    assert_eq!(&EVERYTHING[restarts.span()], "25");
    let names = experiment.workload.marginals.unwrap().into_inner();
    assert_eq!(&EVERYTHING[names[0].as_ref()[2].span()], "\"income\"");
}

#[test]
fn a_layer_changes_what_it_names_and_another_algorithm_brings_its_own_defaults() {
    let experiment = parse(EVERYTHING).unwrap();
    let below = Settings {
        algorithm: Algorithm::DualAveraging(Constant::Spectral),
        iterations: Some(10_000),
        gap: Some(0.001),
        loss: Norm::L2,
        oracle: OracleKind::Exact,
    };
    let traced = |settings: Settings| Estimation { settings, trace: Some(50) };
    let [hdmm, loopy, dualquery] = &experiment.mechanisms[..] else { panic!("three mechanisms") };
    let of = |arm: &Arm| arm.estimation.clone();
    assert_eq!(hdmm.arms[1].estimation, traced(below.clone()));
    let algorithm = Algorithm::Mirror(StepSize::Auto);
    let expected = traced(Settings { algorithm, loss: Norm::L1, ..below.clone() });
    assert_eq!(of(&hdmm.arms[2]), expected);
    let algorithm = Algorithm::DualAveraging(Constant::Fixed(2.0));
    assert_eq!(of(&hdmm.arms[3]), traced(Settings { algorithm, ..below.clone() }));
    let expected = traced(Settings { oracle: OracleKind::Loopy, ..below.clone() });
    assert_eq!(loopy.estimation, expected);
    let algorithm = Algorithm::Mirror(StepSize::Decreasing(Some(0.5)));
    assert_eq!(of(&dualquery.arms[1]), traced(Settings { algorithm, ..below }));
}

#[test]
fn what_is_serialised_means_the_same_when_read_again() {
    for text in [SHORT, EVERYTHING, SCALING] {
        let experiment = parse(text).unwrap();
        let again = parse(&toml::to_string(&experiment).unwrap()).unwrap();
        assert_eq!(again, experiment);
        let estimation = serde_json::to_string(&experiment.estimation).unwrap();
        let again: Estimation = serde_json::from_str(&estimation).unwrap();
        assert_eq!(again, experiment.estimation, "{estimation}");
        // JSON contains no spans.
        let stored = serde_json::to_string(&experiment).unwrap();
        assert!(!stored.contains("span"));
        assert_eq!(serde_json::from_str::<Experiment>(&stored).unwrap(), experiment);
    }
}

#[test]
fn what_is_stored_is_checked_like_a_file() {
    let datasets = parse(DATASETS).unwrap();
    let stored = serde_json::to_string(&datasets).unwrap();
    assert!(stored.contains("\"trials\":5"), "with what its kind does not use: {stored}");
    assert_eq!(serde_json::from_str::<Experiment>(&stored).unwrap(), datasets);
    let stored = serde_json::to_string(&parse(SHORT).unwrap()).unwrap();
    let wrong = stored.replace("\"trials\":5", "\"trials\":0");
    let error = serde_json::from_str::<Experiment>(&wrong).unwrap_err().to_string();
    assert!(error.contains("trials = 0 is out of range"), "{error}");
}

#[test]
fn other_kinds_have_their_own_settings() {
    let scaling = parse(SCALING).unwrap();
    let chains = scaling.scaling.clone().unwrap();
    assert_eq!((chains.values, chains.attributes), (10, vec![3, 10, 1000]));
    assert_eq!(chains.arms[2].estimation.iterations(), 20);
    assert_eq!(scaling.figure.kind, FigureKind::Scaling);
    let datasets = parse(DATASETS).unwrap();
    assert_eq!((datasets.kind, datasets.figure.kind), (Kind::Datasets, FigureKind::Table));
    assert_eq!(*datasets.workload.random.unwrap().as_ref().size.as_ref(), 3);
}

#[test]
fn quick_runs_change_what_they_name() {
    let experiment = parse(EVERYTHING).unwrap();
    let quick = experiment.clone().changed(&experiment.quick);
    assert_eq!((quick.trials, quick.datasets.len()), (1, 1));
    assert_eq!(quick.estimation.iterations(), 100);
    for mechanism in &quick.mechanisms {
        let of_arms = mechanism.arms.iter().map(|arm| &arm.estimation);
        for estimation in of_arms.chain([&mechanism.estimation]) {
            assert_eq!((estimation.iterations(), estimation.settings.gap), (100, Some(0.5)));
            assert_eq!(estimation.settings.algorithm, Algorithm::Auto);
        }
    }
    assert_eq!(quick.mechanisms[0].arms[2].estimation.settings.loss, Norm::L1);
    assert_eq!(quick.epsilon, experiment.epsilon);
    let scaling = parse(SCALING).unwrap();
    let quick = scaling.clone().changed(&scaling.quick).scaling.unwrap();
    assert_eq!(quick.attributes, [3]);
    assert!(quick.arms.iter().all(|arm| arm.estimation.settings.algorithm == Algorithm::Lbfgs));
}

#[test]
fn a_quick_run_keeps_the_settings_of_an_algorithm_that_stays() {
    let text = EVERYTHING
        .replace("[quick]\ntrials = 1\nalgorithm = \"auto\"", "[quick]\nalgorithm = \"mirror\"");
    let experiment = parse(&text).unwrap();
    let quick = experiment.clone().changed(&experiment.quick);
    let decreasing = Algorithm::Mirror(StepSize::Decreasing(Some(0.5)));
    assert_eq!(quick.mechanisms[2].arms[1].estimation.settings.algorithm, decreasing);
    assert_eq!(quick.estimation.settings.algorithm, Algorithm::Mirror(StepSize::Auto));
}

#[test]
fn claims_are_a_part_of_the_experiment_and_their_mistakes_are_shown() {
    let claims = parse(EVERYTHING).unwrap().claims;
    let [claim] = &claims[..] else { panic!("one claim") };
    let claim = claim.as_ref();
    assert_eq!((claim.says(), claim.epsilons()), ("PGM is better", &[0.1, 1.0][..]));
    assert!(parse(SHORT).unwrap().claims.is_empty());
    let error = parse(&EVERYTHING.replace("tolerance", "tolerace")).unwrap_err().to_string();
    assert!(error.contains("there is no setting `tolerace` here"), "{error}");
    assert!(error.contains("did you mean `tolerance`?"), "{error}");
    let error = parse(&EVERYTHING.replace("against = \"pgm\"\n", "")).unwrap_err().to_string();
    assert!(error.contains("a claim of the kind 'ratio' needs 'against'"), "{error}");
}

#[test]
fn figures_show_errors_and_no_other_numbers() {
    let with = |metric: &str| format!("{SHORT}[figure]\nkind = 'bars'\nmetric = '{metric}'\n");
    assert_eq!(parse(&with("max_error")).unwrap().metric(), Metric::MaxError);
    let error = parse(&with("l1_loss")).unwrap_err().to_string();
    assert!(error.contains("figures do not show `l1_loss`"), "{error}");
    assert!(error.contains("configs/mine.toml:8:10"), "{error}");
}
