use super::*;

fn settings(json: &str) -> Result<Settings, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn algorithm(json: &str) -> Algorithm {
    settings(json).unwrap().algorithm
}

#[test]
fn every_choice_is_read_by_its_name() {
    fn each<T: Choice + std::str::FromStr + std::fmt::Display + PartialEq + std::fmt::Debug>() {
        let names: Vec<&str> = T::ALL.iter().map(|choice| choice.name()).collect();
        assert_eq!(names, T::NAMES);
        for choice in T::ALL {
            assert_eq!(choice.name().parse().ok(), Some(*choice));
            assert_eq!(choice.to_string(), choice.name());
            assert!(!choice.summary().is_empty());
        }
        assert!("nonsense".parse::<T>().is_err());
    }
    each::<Algorithm>();
    each::<Norm>();
    each::<OracleKind>();
}

#[test]
fn settings_that_are_written_are_read_again() {
    let mut all = vec![Settings::default()];
    let steps = [
        StepSize::Auto,
        StepSize::LineSearch,
        StepSize::Constant(None),
        StepSize::Constant(Some(0.5)),
        StepSize::Decreasing(None),
        StepSize::Decreasing(Some(2.0)),
        StepSize::InverseRoot(None),
        StepSize::InverseRoot(Some(2.0)),
    ];
    let constants = [Constant::Smoothness, Constant::Fixed(3.0)];
    let algorithms = Algorithm::ALL.iter().copied();
    let algorithms = algorithms
        .chain(steps.map(Algorithm::Mirror))
        .chain(constants.map(Algorithm::DualAveraging))
        .chain(constants.map(Algorithm::Accelerated));
    for algorithm in algorithms {
        all.push(Settings { algorithm, ..Settings::default() });
    }
    all.push(Settings { loss: Norm::L1, iterations: Some(7), ..Settings::default() });
    all.push(Settings { oracle: OracleKind::Convex, gap: Some(0.0), ..Settings::default() });
    for settings in all {
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings, "{text}");
    }
    for step in steps {
        assert_eq!(step.to_string().parse(), Ok(step));
    }
    for constant in [Constant::Adaptive, Constant::Spectral].into_iter().chain(constants) {
        assert_eq!(constant.to_string().parse(), Ok(constant));
    }
}

#[test]
fn an_algorithm_brings_its_own_defaults() {
    assert_eq!(settings("{}").unwrap(), Settings::default());
    let mirror = Algorithm::Mirror(StepSize::Auto);
    assert_eq!(algorithm(r#"{"algorithm": "mirror"}"#), mirror);
    let printed = Algorithm::DualAveraging(Constant::Spectral);
    assert_eq!(algorithm(r#"{"algorithm": "dual-averaging"}"#), printed);
    let ours = Algorithm::Accelerated(Constant::Adaptive);
    assert_eq!(algorithm(r#"{"algorithm": "accelerated"}"#), ours);
    let below = Settings {
        algorithm: Algorithm::DualAveraging(Constant::Fixed(2.0)),
        ..Settings::default()
    };
    let same = SettingsLayer { algorithm: Some(printed), ..SettingsLayer::default() };
    assert_eq!(same.over(&below).unwrap(), below, "the same algorithm keeps what is below");
    let other = SettingsLayer { algorithm: Some(ours), ..SettingsLayer::default() };
    assert_eq!(other.over(&below).unwrap().algorithm, ours);
}

#[test]
fn spellings_of_earlier_releases_are_refused_with_those_of_today() {
    let spectral = settings(r#"{"algorithm": "accelerated", "constant": "spectral"}"#).unwrap_err();
    assert!(spectral.contains("write dual-averaging for the algorithm"), "{spectral}");
    let auto = settings(r#"{"loss": "auto"}"#).unwrap_err();
    assert!(auto.contains("\"auto\" is no longer a loss; write l2"), "{auto}");
    let search = settings(r#"{"algorithm": "mirror", "step": "search"}"#).unwrap_err();
    assert!(search.contains("write line-search"), "{search}");
    assert_eq!(
        "search".parse::<StepSize>().unwrap_err().to_string(),
        "\"search\" is no longer a step; write line-search"
    );
    assert_eq!(
        "auto".parse::<Norm>().unwrap_err().to_string(),
        "\"auto\" is no longer a loss; write l2"
    );
}

#[test]
fn settings_that_contradict_each_other_or_are_out_of_range_are_refused() {
    let cases = [
        (r#"{"step": 0.5}"#, "`step` is a setting of the algorithm mirror"),
        (r#"{"constant": 2}"#, "of the algorithms dual-averaging and accelerated"),
        (
            r#"{"algorithm": "dual-averaging", "constant": "adaptive"}"#,
            "write accelerated for the algorithm",
        ),
        (r#"{"algorithm": "mirror", "step": -1}"#, "step = -1 is out of range"),
        (r#"{"algorithm": "mirror", "step": {"decreasing": 0}}"#, "step = 0 is out of range"),
        (r#"{"algorithm": "mirror", "step": {"growing": 1}}"#, "unknown field `growing`"),
        (r#"{"algorithm": "mirror", "step": {}}"#, "a first step is one number"),
        (r#"{"algorithm": "accelerated", "constant": 0}"#, "constant = 0 is out of range"),
        (r#"{"gap": -1}"#, "gap = -1 is out of range; gap is a number that is not negative"),
        (r#"{"iterations": 0}"#, "iterations = 0 is out of range"),
        (r#"{"algorithm": "newton"}"#, "unknown variant `newton`, expected one of `auto`"),
        (r#"{"method": "auto"}"#, "unknown field `method`"),
    ];
    for (text, expected) in cases {
        let found = settings(text).unwrap_err();
        assert!(found.contains(expected), "{text}: {found}");
    }
    let huber = Settings { loss: Norm::Huber(1.0), ..Settings::default() };
    assert_eq!(huber.check().unwrap_err().setting(), "loss");
}
