//! The number of rounds, and the accuracy that they guarantee.
//!
//! # The mistake bound
//!
//! The potential is D(p | p^) = sum of p(x) ln(p(x) / p^(x)). It is at most ln|X| for a uniform p^,
//! and never negative. An update p^'(x) proportional to p^(x) exp(-eta q(x)) changes it by
//!
//! eta q(p) + ln E_p^ exp(-eta q) <= -eta (q(p^) - q(p)) + eta^2 / 8
//!
//! by Hoeffding's lemma, because q is 0 or 1. With eta = alpha and a mistake q, q(p^) - q(p) >
//! alpha, the potential decreases by more than 7/8 alpha^2. The lecture uses weaker bounds and has
//! alpha^2 / 4. So there are fewer than 4 ln|X| / alpha^2 updates on mistakes, that is at most L =
//! floor(4 ln|X| / alpha^2). L is the value of the lecture, and so is the budget; by Hoeffding's
//! lemma two sevenths of it would suffice.
//!
//! # Accuracy
//!
//! Let the budget allow epsilon_s per selection and epsilon_c per check. With probability 1 - beta,
//! in all L rounds
//!
//! - the noise of the check is at most alpha n: discrete Laplace noise exceeds it with probability
//!   at most 2 exp(-epsilon_c alpha n), and 2 L exp(-epsilon_c alpha n) <= beta / 2 is sufficient;
//! - the selected query is within alpha of the worst: of k queries, one that is further away is
//!   selected with probability at most k exp(-epsilon_s alpha n / 2) (McSherry and Talwar 2007),
//!   and k L exp(-epsilon_s alpha n / 2) <= beta / 2 is sufficient.
//!
//! Then every update is made on a mistake: q(p^) - y > 2 alpha and |y - q(p)| <= alpha. There are
//! fewer than L of them, so the run ends by a check. There the error of the worst query is at most
//! q(p^) - q(p) + alpha <= q(p^) - y + 2 alpha <= 4 alpha. (The slide ends this chain with 3 alpha,
//! which does not follow from a threshold of 2 alpha.) Queries come with their negations, so this
//! bounds errors of both signs.
//!
//! With larger noise, updates may not be on mistakes, and L rounds may end without a passed check.
//! Then no accuracy is guaranteed. Privacy does not depend on this analysis.

use dp::{Guarantee, ParameterError};

/// The most rounds of a run. Our choice: beyond it, the budget of a round is too small for fewer
/// than a billion records.
pub(super) const MOST_ROUNDS: usize = 100_000;

/// From this value on p^ is never updated: q(p^) - q(p) <= 1 <= 2 alpha.
const LARGEST_ALPHA: f64 = 0.5;

/// L = floor(4 ln|X| / alpha^2), saturating for tiny alpha.
pub(super) fn rounds(ln_domain: f64, alpha: f64) -> usize {
    (4.0 * ln_domain / (alpha * alpha)).floor() as usize
}

/// What the accuracy depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// ln|X|.
    pub(super) ln_domain: f64,
    /// k, with negations.
    pub(super) queries: usize,
    /// n.
    pub(super) records: f64,
    /// The budget of all rounds.
    pub(super) budget: Guarantee,
    /// beta.
    pub(super) beta: f64,
}

impl Setting {
    /// Whether the theorem above holds for this alpha.
    pub(super) fn theorem_holds(&self, alpha: f64) -> Result<bool, ParameterError> {
        let rounds = rounds(self.ln_domain, alpha);
        if rounds == 0 {
            return Ok(true);
        }
        let [select, check] = draws(self.budget, rounds)?;
        let (count, noise) = (rounds as f64, alpha * self.records);
        let check_holds = check * noise >= (4.0 * count / self.beta).ln();
        let select_holds =
            select * noise / 2.0 >= (2.0 * count * self.queries as f64 / self.beta).ln();
        Ok(check_holds && select_holds)
    }

    /// The smallest alpha for which the theorem holds, to 30 binary digits, or [`LARGEST_ALPHA`] if
    /// it holds for no smaller one.
    ///
    /// Both conditions become weaker as alpha grows: L decreases and with it the logarithms, while
    /// the share of a round and alpha n increase.
    pub(super) fn smallest_alpha(&self) -> Result<f64, ParameterError> {
        let mut low = (4.0 * self.ln_domain / MOST_ROUNDS as f64).sqrt();
        let mut high = LARGEST_ALPHA;
        if low >= high || !self.theorem_holds(high)? {
            return Ok(high);
        }
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if self.theorem_holds(middle)? { high = middle } else { low = middle }
        }
        Ok(high)
    }
}

/// epsilon_s and epsilon_c if the budget is divided evenly among the selections and checks of L
/// rounds. For a pure budget, both are epsilon / (2 L), as in the lecture. In rho a selection is
/// cheaper than noise of the same epsilon (see [`Share::select`](dp::Share::select)): sqrt(8 rho /
/// (2 L)) and sqrt(2 rho / (2 L)).
fn draws(budget: Guarantee, rounds: usize) -> Result<[f64; 2], ParameterError> {
    let parts = 2.0 * rounds as f64;
    Ok(match budget {
        Guarantee::Concentrated { rho } => {
            let part = rho.get() / parts;
            [(8.0 * part).sqrt(), (2.0 * part).sqrt()]
        }
        _ => [budget.pure_epsilon()?.get() / parts; 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp::composition::advanced;
    use dp::{Delta, Epsilon, Rho};

    fn setting(records: f64, budget: impl Into<Guarantee>) -> Setting {
        let ln_domain = 10.0 * 2f64.ln();
        Setting { ln_domain, queries: 1920, records, budget: budget.into(), beta: 0.05 }
    }

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn rounds_are_those_of_the_lecture_rounded_down() {
        assert_eq!(rounds(10.0 * 2f64.ln(), 0.1), 2772);
        assert_eq!(rounds(2f64.ln(), 0.99), 2);
        assert_eq!(rounds(0.0, 0.1), 0);
        assert_eq!(rounds(50.0, 1e-300), usize::MAX);
    }

    #[test]
    fn alpha_decreases_as_the_cube_root_of_the_records_and_with_a_delta_as_the_square_root() {
        let rho = Rho::implying(epsilon(1.0), Delta::new(1e-6).unwrap()).unwrap();
        let ratio = |budget: Guarantee, records: f64| {
            let alpha = |records| setting(records, budget).smallest_alpha().unwrap();
            alpha(records) / alpha(100.0 * records)
        };
        // 100^(1/3) and 100^(1/2), up to the logarithm of L.
        let cube = ratio(epsilon(1.0).into(), 1e6);
        assert!(cube > 4.2 && cube < 4.64, "{cube}");
        let square = ratio(rho.into(), 1e4);
        assert!(square > 8.5 && square < 10.0, "{square}");
    }

    #[test]
    fn the_theorem_holds_for_the_smallest_alpha_and_not_for_a_smaller_one() {
        let setting = setting(1e5, epsilon(1.0));
        let alpha = setting.smallest_alpha().unwrap();
        assert!(alpha > 0.2 && alpha < 0.3, "{alpha}");
        assert!(
            setting.theorem_holds(alpha).unwrap() && !setting.theorem_holds(0.999 * alpha).unwrap()
        );
    }

    #[test]
    fn few_records_guarantee_nothing_and_many_are_limited_by_the_rounds() {
        let few = setting(100.0, epsilon(1.0));
        assert_eq!(few.smallest_alpha().unwrap(), LARGEST_ALPHA);
        assert!(!few.theorem_holds(LARGEST_ALPHA).unwrap());
        let alpha = setting(1e30, epsilon(1.0)).smallest_alpha().unwrap();
        assert!(rounds(10.0 * 2f64.ln(), alpha) <= MOST_ROUNDS);
    }

    /// Why (epsilon, delta) is counted as rho and not by advanced composition as in the lecture.
    #[test]
    fn rho_allows_larger_draws_than_advanced_composition() {
        for (total, delta) in [(0.1, 1e-9), (1.0, 1e-6), (1.0, 1e-3), (5.0, 1e-6)] {
            let (total, delta) = (epsilon(total), Delta::new(delta).unwrap());
            let rho = Rho::implying(total, delta).unwrap();
            for rounds in [5, 30, 400, 2772, 90_000] {
                let [select, check] = draws(rho.into(), rounds).unwrap();
                // If both are as large as the smaller one, they cost more than the budget.
                let composed = advanced(epsilon(check), 2 * rounds, delta).unwrap();
                assert!(select > check && composed > total, "{total} {delta} {rounds}: {composed}");
            }
        }
    }
}
