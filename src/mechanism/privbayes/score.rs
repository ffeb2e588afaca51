use serde::Deserialize;

use dp::{LInfinity, Neighbours, Sensitivity, SensitivityError};

/// The dependence of an attribute X on its parents P, from their table of counts.
///
/// Let n_xp be the counts, n_x and n_p their sums over p and over x, and N their total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Score {
    /// R(X; P) = 1/2 sum |Pr(x, p) - Pr(x) Pr(p)|, the total variation distance from independence.
    ///
    /// *Sensitivity* under replacement: 3/N + 2/N^2.
    ///
    /// *Proof.* N R = 1/2 sum |D_xp| with D_xp = n_xp - n_x n_p / N. A replaced record changes two
    /// cells of n_xp by 1 each. It changes n_x by a_x and n_p by b_p, with sum |a_x| <= 2 and sum
    /// |b_p| <= 2. So D_xp changes by the change of the cell minus (a_x n_p + n_x b_p + a_x b_p) /
    /// N. The absolute values of the four terms sum to at most 2 + 2 + 2 + 4/N over all cells. Half
    /// of that, divided by N, is the claim. QED.
    #[default]
    R,
    /// I(X; P) = sum Pr(x, p) ln(Pr(x, p) / (Pr(x) Pr(p))), mutual information in nats.
    ///
    /// *Sensitivity* under replacement, with g(t) = (t + 1) ln(t + 1) - t ln t: g(N - 1) / N if X
    /// or P has two values, otherwise 2 g((N - 1)/2) / N (the bounds of the paper).
    ///
    /// *Proof.* Let f(t) = t ln t. Then N I = sum f(n_xp) - sum f(n_x) - sum f(n_p) + f(N). Let c
    /// be the counts of the N - 1 records that are not replaced. g is the increment of f; it is
    /// concave and increasing, and g(0) = 0. Removing the record at (x, p) increases the sum by
    /// G(x, p) = g(c_x) + g(c_p) - g(c_xp), which is not negative because c_xp <= c_x. So moving a
    /// record from (x, p) to (y, q) changes N I by G(x, p) - G(y, q) <= G(x, p).
    ///
    /// *General bound.* c_x + c_p <= N - 1 + c_xp. With m = c_xp, concavity gives G(x, p) <= 2 g((N
    /// - 1 + m)/2) - g(m). This decreases in m because (N - 1 + m)/2 >= m, so it is at most 2 g((N
    /// - 1)/2).
    ///
    /// *X with two values.* If y = x, then G(x, p) - G(x, q) <= g(c_p) - g(c_xp) <= g(N - 1). If y
    /// is the other value, then c_p <= c_xp + c_y, so g(c_p) - g(c_xp) <= g(c_y). G(y, q) is at
    /// least g(c_y), so the difference is at most g(c_x) <= g(N - 1). The table is symmetric in X
    /// and P, and the inverse move bounds the change from below. QED.
    MutualInformation,
}

/// The public shape of a candidate's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The values of X.
    pub(super) child: usize,
    /// The combinations of values of P.
    pub(super) parents: usize,
}

impl Score {
    /// The score of a table of integer counts, with a row of `parents` counts per value of X.
    pub(super) fn of(self, counts: &[f64], parents: usize) -> f64 {
        let by_child: Vec<f64> = counts.chunks_exact(parents).map(|row| row.iter().sum()).collect();
        let mut by_parents = vec![0.0; parents];
        for row in counts.chunks_exact(parents) {
            by_parents.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        let total: f64 = by_child.iter().sum();
        match self {
            Score::R => {
                // In integers, so that only the last line rounds.
                let (n, by_parents) = (total as i128, by_parents.iter().map(|&p| p as i128));
                let rows = counts.chunks_exact(parents).zip(&by_child);
                let twice: i128 = rows
                    .map(|(row, &x)| {
                        let cells = row.iter().zip(by_parents.clone());
                        cells.map(|(&c, p)| (n * c as i128 - x as i128 * p).abs()).sum::<i128>()
                    })
                    .sum();
                twice as f64 / (2 * n * n).max(1) as f64
            }
            Score::MutualInformation => {
                let sum = |counts: &[f64]| counts.iter().map(|&n| entropy_term(n)).sum::<f64>();
                let dependence = sum(counts) - sum(&by_child) - sum(&by_parents);
                (dependence + entropy_term(total)) / total.max(1.0)
            }
        }
    }

    /// The sensitivity of the score of any of these candidates if one of `records` records is
    /// replaced, with an allowance for the rounding of two computed scores.
    pub(super) fn sensitivity(
        self,
        records: usize,
        candidates: &[Shape],
    ) -> Result<Sensitivity<LInfinity>, SensitivityError> {
        let n = records as f64;
        let g = |t: f64| entropy_term(t + 1.0) - entropy_term(t);
        let value = match self {
            // R is at most 1 and is rounded twice.
            Score::R => {
                let exact = 3.0 / n + 2.0 / (n * n);
                dp::sabotage!(exact, "privbayes-r-as-added", 1.0 / n) + 2.0 * f64::EPSILON
            }
            Score::MutualInformation => {
                let binary = candidates.iter().all(|c| c.child.min(c.parents) <= 2);
                let exact = if binary { g(n - 1.0) } else { 2.0 * g((n - 1.0) / 2.0) } / n;
                let exact = dp::sabotage!(exact, "privbayes-information-halved", exact / 2.0);
                // Three sums of at most N ln N in total. Each term has an error of three units in
                // the last place, and each addition of one.
                let cells = candidates.iter().map(|c| c.child * c.parents).max().unwrap_or(0);
                exact + 16.0 * (cells as f64 + 2.0) * f64::EPSILON * n.ln().max(1.0)
            }
        };
        Sensitivity::new(value, Neighbours::Replace)
    }
}

/// n ln n.
fn entropy_term(n: f64) -> f64 {
    if n > 0.0 { n * n.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp::sensitivity::brute_force::{Records, worst_case};

    /// The largest change of the score between neighbouring tables, over those of one shape.
    fn worst(score: Score, child: usize, parents: usize, records: u64) -> f64 {
        let answers = |table: &[u64]| {
            let counts: Vec<f64> = table.iter().map(|&n| n as f64).collect();
            vec![score.of(&counts, parents)]
        };
        worst_case::<LInfinity>(child * parents, Records::Exactly(records), answers).distance
    }

    fn claimed(score: Score, child: usize, parents: usize, records: u64) -> f64 {
        let shape = [Shape { child, parents }];
        score.sensitivity(records as usize, &shape).unwrap().get()
    }

    const SHAPES: [(usize, usize, u64); 6] =
        [(2, 2, 12), (2, 3, 8), (3, 2, 8), (2, 5, 5), (3, 3, 5), (3, 4, 4)];

    #[test]
    fn the_sensitivity_of_scores_is_at_most_as_claimed_on_all_small_tables() {
        for score in [Score::R, Score::MutualInformation] {
            for (child, parents, most) in SHAPES {
                for records in 1..=most {
                    let (found, claimed) = (
                        worst(score, child, parents, records),
                        claimed(score, child, parents, records),
                    );
                    assert!(found <= claimed, "{score:?} {child}x{parents} {records}: {found}");
                }
            }
        }
    }

    #[test]
    fn the_claimed_sensitivities_are_tight() {
        // Mutual information attains its bound if a table allows the extreme move: for two values,
        // from one cell to a new row and column; for more, out of a cross.
        let information = Score::MutualInformation;
        for records in 2..=8 {
            let (found, bound) =
                (worst(information, 2, 2, records), claimed(information, 2, 2, records));
            assert!((found - bound).abs() < 1e-12, "{records}: {found} {bound}");
        }
        let (found, bound) = (worst(information, 3, 3, 5), claimed(information, 3, 3, 5));
        assert!((found - bound).abs() < 1e-12, "{found} {bound}");
        // R: a record that was alone in its row and column moves to where two rare values never
        // meet, though they would have met once by chance.
        let n = 1e6;
        let rest = n - 2001.0;
        let before = Score::R.of(&[rest, 1e3, 0.0, 1e3, 0.0, 0.0, 0.0, 0.0, 1.0], 3);
        let after = Score::R.of(&[rest, 1e3, 0.0, 1e3, 1.0, 0.0, 0.0, 0.0, 0.0], 3);
        let (found, bound) = (before - after, claimed(Score::R, 3, 3, 1_000_000));
        assert!(found <= bound && found > 0.99 * bound, "{found} {bound}");
    }

    #[test]
    fn independence_scores_zero_and_a_copy_scores_most() {
        for score in [Score::R, Score::MutualInformation] {
            assert!(score.of(&[4.0, 8.0, 2.0, 4.0], 2).abs() < 1e-15);
        }
        assert_eq!(Score::R.of(&[3.0, 0.0, 0.0, 3.0], 2), 0.5);
        let copy = Score::MutualInformation.of(&[3.0, 0.0, 0.0, 3.0], 2);
        assert!((copy - 2f64.ln()).abs() < 1e-15);
        // Without parents, or with a single value of X, there is no dependence.
        assert_eq!(Score::R.of(&[3.0, 5.0], 1), 0.0);
        assert_eq!(Score::R.of(&[3.0, 5.0], 2), 0.0);
    }

    #[test]
    fn r_is_the_distance_from_the_product_of_the_marginals() {
        let counts = [5.0, 1.0, 2.0, 0.0, 7.0, 3.0];
        let n: f64 = counts.iter().sum();
        let mut obvious = 0.0;
        for x in 0..2 {
            for p in 0..3 {
                let (row, column): (f64, f64) =
                    (counts[3 * x..3 * x + 3].iter().sum(), counts[p] + counts[3 + p]);
                obvious += (counts[3 * x + p] / n - row * column / (n * n)).abs() / 2.0;
            }
        }
        assert!((Score::R.of(&counts, 3) - obvious).abs() < 1e-15);
    }
}
