mod iterations;
mod many_parts;
mod programs;
mod recipes;
mod refusals;
mod trees;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Laplace noise of scale b, for tests.
fn noise(rng: &mut ChaCha20Rng, b: f64) -> f64 {
    let u: f64 = rng.random_range(-0.5..0.5);
    -b * u.signum() * (1.0 - 2.0 * u.abs()).ln()
}

fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}
