//! Planted bugs of the samplers. The ledger states the distribution without them.

use std::f64::consts::SQRT_2;

use rand::Rng;

use super::scale::Scale;
use super::{Family, discrete};

/// The noise, or another one if a bug is planted. `last` is that of the previous answer.
pub(super) fn noise(
    family: Family,
    exact: i128,
    rng: &mut impl Rng,
    steps: Scale,
    last: &mut Option<i128>,
) -> i128 {
    let narrower = |factor: f64| Scale::at_least(steps.get() / factor).unwrap_or(steps);
    let noise = match family {
        Family::Laplace => {
            let noise = exact;
            let narrow = |rng: &mut _, factor| discrete::laplace(rng, narrower(factor));
            let noise = sabotage!(noise, "laplace-by-root-2", narrow(rng, SQRT_2));
            let noise = sabotage!(noise, "laplace-by-5-percent", narrow(rng, 1.05));
            let noise = sabotage!(noise, "laplace-one-sided", noise.abs());
            sabotage!(noise, "laplace-truncated", limited(noise, 4.0 * steps.get()))
        }
        Family::Gaussian => {
            let noise = exact;
            let narrow = |rng: &mut _, factor| discrete::gaussian(rng, narrower(factor));
            let noise = sabotage!(noise, "gaussian-by-root-2", narrow(rng, SQRT_2));
            let noise = sabotage!(noise, "gaussian-by-5-percent", narrow(rng, 1.05));
            sabotage!(noise, "gaussian-truncated", limited(noise, 3.0 * steps.get()))
        }
    };
    // Of the same standard deviation.
    let other = |rng: &mut _| match family {
        Family::Laplace => discrete::gaussian(rng, narrower(1.0 / SQRT_2)),
        Family::Gaussian => discrete::laplace(rng, narrower(SQRT_2)),
    };
    let noise = sabotage!(noise, "noise-of-another-family", other(rng));
    let noise = sabotage!(noise, "noise-shared-by-answers", *last.get_or_insert(noise));
    let is_second = last.is_some();
    let noise = sabotage!(noise, "noise-twice", last.unwrap_or(noise));
    *last = sabotage!(Some(noise), "noise-twice", (!is_second).then_some(noise));
    noise
}

fn limited(noise: i128, most: f64) -> i128 {
    noise.clamp(-most as i128, most as i128)
}
