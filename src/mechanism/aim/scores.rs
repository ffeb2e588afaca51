use crate::mechanism::MechanismError;
use crate::mechanism::support::candidate_marginals::{LARGEST_DISTANCE, change};
use crate::mechanism::support::gaussian_marginal;
use crate::mechanism::support::score_grid::on_grid;
use dp::{Guarantee, LInfinity, Neighbours, Sensitivity, SensitivityError, Share};
use private_pgm::domain::{Clique, Domain};

/// The standard deviation of the Gaussian noise that a share pays for.
pub(super) fn sigma(share: &Share) -> Result<f64, MechanismError> {
    let Guarantee::Concentrated { rho } = share.guarantee() else {
        return Err(MechanismError::Unsuitable("expected a share in rho".into()));
    };
    Ok(gaussian_marginal::sensitivity(share.neighbours())?.get() / (2.0 * rho.get()).sqrt())
}

/// sqrt(2/pi) sigma n_r: the expected L1 norm of Gaussian noise on a marginal.
pub(super) fn expected_noise(clique: &Clique, domain: &Domain, sigma: f64) -> f64 {
    noise_per_cell(sigma) * domain.cells_f64(clique)
}

/// sqrt(2/pi) sigma
pub(super) fn noise_per_cell(sigma: f64) -> f64 {
    std::f64::consts::FRAC_2_PI.sqrt() * sigma
}

/// w_r (|M_r(D) - M_r(p)|_1 - noise), from the distance in the middle.
pub(super) fn score(weight: f64, distance: f64, noise: f64) -> f64 {
    let weight = dp::sabotage!(weight, "aim-half-the-temperature", 2.0 * weight);
    weight * (distance - on_grid(noise).min(LARGEST_DISTANCE))
}

/// The sensitivity of all scores with these weights: max w_r times that of a distance
/// (`CandidateMarginals::distances`).
///
/// *Proof.* Weights and noise are public. A score is w times a difference of multiples of 2^-20
/// below 2^33, which is exact, and one rounding of relative size 2^-53. So two scores differ by at
/// most w times the change of the distance, and 2 w 2^33 2^-53 = 2^-19 w. The sum is rounded up.
/// QED.
pub(super) fn sensitivity(
    weights: impl Iterator<Item = f64>,
    neighbours: Neighbours,
) -> Result<Sensitivity<LInfinity>, SensitivityError> {
    let largest = dp::sabotage!(
        weights.fold(0.0, f64::max),
        "aim-smallest-weight",
        weights.fold(f64::INFINITY, f64::min)
    );
    Sensitivity::new(largest * (change(neighbours) + ROUNDING), neighbours)
}

/// Twice the bound above, which covers the rounding of the sensitivity itself.
const ROUNDING: f64 = 1.0 / (1u64 << 18) as f64;
