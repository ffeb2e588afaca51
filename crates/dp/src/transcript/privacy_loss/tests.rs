use std::sync::Arc;

use super::*;
use crate::*;

const REPLACE: Neighbours = Neighbours::Replace;

/// Records a run and replays it on other values.
fn both(
    run: impl Fn(&[f64], Share, &mut NoiseSource),
    one: &[f64],
    other: &[f64],
) -> [Vec<Event>; 2] {
    of_seed(&run, one, other, 1)
}

fn of_seed(
    run: &impl Fn(&[f64], Share, &mut NoiseSource),
    one: &[f64],
    other: &[f64],
    seed: u64,
) -> [Vec<Event>; 2] {
    let path = SeedPath::new("loss", seed);
    let share = || Budget::new(Rho::new(0.08).unwrap(), REPLACE).rest().unwrap();
    let mut recording = NoiseSource::recording(&path);
    run(one, share(), &mut recording);
    let recorded: Arc<[Event]> = recording.into_events().into();
    let mut replaying = NoiseSource::replaying(&path, Arc::clone(&recorded));
    run(other, share(), &mut replaying);
    [recorded.to_vec(), replaying.into_events()]
}

fn laplace(line: NumberLine) -> impl Fn(&[f64], Share, &mut NoiseSource) {
    move |values, share, source| {
        let sensitivity = Sensitivity::new(2.0, REPLACE).unwrap();
        share.laplace("noise", values, sensitivity, line, source).unwrap();
    }
}

fn gaussian(line: NumberLine) -> impl Fn(&[f64], Share, &mut NoiseSource) {
    move |values, share, source| {
        let sensitivity = Sensitivity::new(2.0, REPLACE).unwrap();
        share.gaussian("noise", values, sensitivity, line, source).unwrap();
    }
}

fn select(scores: &[f64], share: Share, source: &mut NoiseSource) {
    let sensitivity = Sensitivity::new(1.0, REPLACE).unwrap();
    share.select("choice", scores, sensitivity, Scores::General, source).unwrap();
}

fn outcome(event: &Event) -> &[f64] {
    match event {
        Event::Noise { noisy, .. } => noisy,
        other => panic!("{other:?}"),
    }
}

/// rho = 0.08 is epsilon = 0.4 for Laplace noise, sigma = 5 for a sensitivity of 2, and epsilon =
/// 0.8 for a selection.
#[test]
fn losses_are_those_of_the_formulas() {
    let (one, other) = ([3.0, 8.0], [4.0, 7.0]);
    for line in [NumberLine::Integers, NumberLine::Continuous] {
        let [a, b] = both(laplace(line), &one, &other);
        let y = outcome(&a[0]);
        let expected: f64 =
            (0..2).map(|i| ((y[i] - other[i]).abs() - (y[i] - one[i]).abs()) / 5.0).sum();
        assert!((privacy_loss(&a, &b).unwrap() - expected).abs() < 1e-9, "{line:?}");
        let [a, b] = both(gaussian(line), &one, &other);
        let y = outcome(&a[0]);
        let square = |x: f64| x * x / 50.0;
        let expected: f64 = (0..2).map(|i| square(y[i] - other[i]) - square(y[i] - one[i])).sum();
        assert!((privacy_loss(&a, &b).unwrap() - expected).abs() < 1e-9, "{line:?}");
        assert!((divergence(&a, &b).unwrap() - 2.0 / 50.0).abs() < 1e-9);
    }
    let (one, other) = ([1.0, 0.0, 0.5], [0.0, 1.0, 0.5]);
    let [a, b] = both(select, &one, &other);
    let Event::Selection { chosen, .. } = &a[0] else { panic!("{a:?}") };
    // Both sums of exponentials are the same, and the temperature is 2.5.
    let expected = (one[chosen[0]] - other[chosen[0]]) / 2.5;
    assert!((privacy_loss(&a, &b).unwrap() - expected).abs() < 1e-9);
    let z: f64 = one.iter().map(|s| (s / 2.5f64).exp()).sum();
    let expected = ((1.0 / 2.5f64).exp() - 1.0) / (2.5 * z);
    assert!((divergence(&a, &b).unwrap() - expected).abs() < 1e-9);
}

/// The mean of e^-loss over all outputs of x is the probability of all outputs under x': 1. Every
/// output is summed with the probability that the loss itself gives it.
#[test]
fn the_probabilities_of_all_outputs_add_up_to_one() {
    let event = |mine: &Event, y: f64| match mine {
        Event::Noise { handed, .. } => Event::Noise { handed: handed.clone(), noisy: vec![y] },
        other => other.clone(),
    };
    let [a, b] = both(laplace(NumberLine::Integers), &[3.0], &[5.0]);
    let q = (-1.0f64 / 5.0).exp();
    let (mut whole, mut mean) = (0.0, 0.0);
    for y in (-300..=300).map(f64::from) {
        let p = (1.0 - q) / (1.0 + q) * q.powf((y - 3.0).abs());
        let loss = privacy_loss(&[event(&a[0], y)], &[event(&b[0], y)]).unwrap();
        whole += p * (-loss).exp();
        mean += p * loss;
    }
    assert!((whole - 1.0).abs() < 1e-9, "{whole}");
    assert!((divergence(&a, &b).unwrap() - mean).abs() < 1e-9, "{mean}");
    let [a, b] = both(select, &[3.0, -1.0, 0.0, 2.0], &[2.0, 0.0, 1.0, 2.0]);
    for events in [&a, &b] {
        let p = log_probabilities(events[0].handed().unwrap());
        assert!((p.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let with = |events: &[Event], i: usize| match &events[0] {
        Event::Selection { handed, .. } => {
            vec![Event::Selection { handed: handed.clone(), chosen: vec![i] }]
        }
        other => panic!("{other:?}"),
    };
    let p = log_probabilities(a[0].handed().unwrap());
    let whole: f64 =
        (0..4).map(|i| (p[i] - privacy_loss(&with(&a, i), &with(&b, i)).unwrap()).exp()).sum();
    assert!((whole - 1.0).abs() < 1e-9, "{whole}");
}

/// Draws the sign of the first value, and then as many answers as it says.
fn adaptive(values: &[f64], share: Share, source: &mut NoiseSource) {
    let [first, second] = <[Share; 2]>::try_from(share.split(2).unwrap()).unwrap();
    select(&[values[0], -values[0]], first, source);
    laplace(NumberLine::Integers)(&values[1..], second, source);
}

#[test]
fn a_run_and_its_replay_agree_in_all_outputs_and_losses_add_up() {
    for seed in 0..50 {
        let [a, b] = of_seed(&adaptive, &[1.0, 3.0], &[-1.0, 4.0], seed);
        let parts = |i: usize| privacy_loss(&a[i..=i], &b[i..=i]).unwrap();
        assert_eq!(privacy_loss(&a, &b), Some(parts(0) + parts(1)));
        assert_eq!(privacy_loss(&b, &a).map(|loss| -loss), privacy_loss(&a, &b));
        assert_eq!(privacy_loss(&a, &a), Some(0.0));
    }
}

#[test]
fn an_output_that_the_replay_cannot_have_is_impossible() {
    // Another number of values, and another number of draws.
    let [a, b] = both(adaptive, &[1.0, 3.0], &[1.0, 3.0, 3.0]);
    assert_eq!((privacy_loss(&a, &b), divergence(&a, &b)), (None, None));
    let twice = |values: &[f64], share: Share, source: &mut NoiseSource| {
        let [first, second] = <[Share; 2]>::try_from(share.split(2).unwrap()).unwrap();
        select(&[1.0, 2.0], first, source);
        if values[0] > 0.0 {
            select(&[1.0, 2.0], second, source);
        }
    };
    let [a, b] = both(twice, &[1.0], &[0.0]);
    assert_eq!(privacy_loss(&a, &b), None);
    // Another scale.
    let scaled = |values: &[f64], share: Share, source: &mut NoiseSource| {
        let sensitivity = Sensitivity::new(values[0], REPLACE).unwrap();
        share.laplace("noise", &[1.0], sensitivity, NumberLine::Integers, source).unwrap();
    };
    let [a, b] = both(scaled, &[1.0], &[2.0]);
    assert_eq!(privacy_loss(&a, &b), None);
}

/// A recording source draws what a source without a transcript draws.
#[test]
fn recording_changes_no_draw() {
    let path = SeedPath::new("loss", 7);
    let draws = |mut source: NoiseSource| {
        let share = || Budget::new(Rho::new(0.08).unwrap(), REPLACE).rest().unwrap();
        let sensitivity = Sensitivity::new(2.0, REPLACE).unwrap();
        let line = NumberLine::Integers;
        let noisy = share().laplace("noise", &[3.0; 9], sensitivity, line, &mut source).unwrap();
        let scores = Sensitivity::new(1.0, REPLACE).unwrap();
        let general = Scores::General;
        let many = share().select_many("choice", &[0.0; 9], scores, general, 9, &mut source);
        (noisy, many.unwrap(), source.public_choices(), source.foreign_seed())
    };
    assert!(draws(NoiseSource::recording(&path)) == draws(NoiseSource::seeded(&path)));
    assert!(NoiseSource::seeded(&path).into_events().is_empty());
}
