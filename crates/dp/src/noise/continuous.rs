//! Floating-point samplers, as used in the experiments of papers.
//!
//! *Not for releases.* The set of floats that an answer plus such noise can reach depends on the
//! answer, so the low bits reveal it (Mironov 2012).

use rand::Rng;

/// A uniform float strictly between 0 and 1: an odd multiple of 2^-54.
fn open_unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A draw from the Laplace distribution with density exp(-|x|/scale) / (2 scale), as a random sign
/// times an exponential variable by inversion.
pub(super) fn laplace(rng: &mut impl Rng, scale: f64) -> f64 {
    let magnitude = -open_unit(rng).ln() * scale;
    if rng.next_u32() & 1 == 1 { -magnitude } else { magnitude }
}

/// A draw from the Gaussian distribution with this standard deviation (Box and Muller 1958).
pub(super) fn gaussian(rng: &mut impl Rng, sigma: f64) -> f64 {
    let radius = (-2.0 * open_unit(rng).ln()).sqrt();
    sigma * radius * (2.0 * std::f64::consts::PI * open_unit(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::super::frequencies::assert_frequencies;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn laplace_draws_are_uniform_over_their_quantiles() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut counts = vec![0; 101];
        for _ in 0..100_000 {
            let x = laplace(&mut rng, 3.0) / 3.0;
            let below = if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 };
            counts[(below * 101.0) as usize] += 1;
        }
        assert_frequencies(&counts, &[1.0 / 101.0; 101]);
    }

    #[test]
    fn gaussian_draws_have_the_right_quintiles_and_squares() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut quintiles = vec![0; 5];
        let mut within = vec![0; 3];
        for _ in 0..100_000 {
            let (x, y) = (gaussian(&mut rng, 2.0) / 2.0, gaussian(&mut rng, 2.0) / 2.0);
            // Quintiles of the standard normal distribution.
            let bounds = [-0.841_621_233_6, -0.253_347_103_1, 0.253_347_103_1, 0.841_621_233_6];
            quintiles[bounds.iter().filter(|&&b| x > b).count()] += 1;
            // x^2 + y^2 is exponential: P(> 2 ln 3) = 1/3.
            let radius = x * x + y * y;
            within[usize::from(radius > 2.0 * 1.5f64.ln())
                + usize::from(radius > 2.0 * 3f64.ln())] += 1;
        }
        assert_frequencies(&quintiles, &[0.2; 5]);
        assert_frequencies(&within, &[1.0 / 3.0; 3]);
    }
}
