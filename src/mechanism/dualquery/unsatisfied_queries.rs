//! Queries that no record of the game satisfies. These are most queries.
//!
//! Before round t = m + 1, such a query with the answer a has the weight e^x and its negation e^-x,
//! with x = eta m a. Nearly all of these answers are small. For them, power series replace the
//! update of weights from round to round. With M the last m and u = eta M a,
//!
//! sum of (e^x + e^-x) = 2 sum over k of (m/M)^2k P_k / (2k)!, P_k the sum of u^2k,
//!
//! so one pass over the queries serves all rounds.

use multiversion::multiversion;

use super::weights::{LANES, Lanes};

/// The largest u for which the series is used. Our choice.
const LARGEST: f64 = 1.0;
/// Terms of the series. The next term is below 1 / 20! = 4e-19 of the sum.
const TERMS: usize = 10;
/// Lanes of the sums of powers. All sums are held in registers at once.
const NARROW: usize = 4;

/// The answers of the unsatisfied queries at one point.
pub(super) struct UnsatisfiedQueries {
    /// u, or 0 where it is too large. Padded to full blocks.
    arguments: Vec<f64>,
    /// P_k.
    powers: [f64; TERMS],
}

impl UnsatisfiedQueries {
    pub(super) fn new(queries: usize) -> Self {
        Self { arguments: vec![0.0; queries.next_multiple_of(LANES)], powers: [0.0; TERMS] }
    }

    /// Reads the answers of these queries, with `scale` = eta M. Queries with a larger u than
    /// [`LARGEST`] are listed in `large`.
    pub(super) fn take(
        &mut self,
        queries: &[u32],
        answers: &[f64],
        scale: f64,
        large: &mut Vec<u32>,
    ) {
        large.clear();
        for (u, &query) in self.arguments.iter_mut().zip(queries) {
            *u = scale * answers[query as usize];
            if u.abs() > LARGEST {
                *u = 0.0;
                large.push(query);
            }
        }
        self.powers = powers(self.arguments.as_chunks().0);
        self.powers[0] = (queries.len() - large.len()) as f64;
    }

    /// The sum of e^x + e^-x before the round with m = `share` M.
    pub(super) fn sum(&self, share: f64) -> f64 {
        let terms = self.powers.iter().enumerate();
        terms.rev().fold(0.0, |rest, (k, power)| {
            let next = ((2 * k + 1) * (2 * k + 2)) as f64;
            2.0 * power + rest * share * share / next
        })
    }

    /// Adds to the slope of each query the sum over the rounds (share, coefficient) of coefficient
    /// times (e^x - e^-x).
    pub(super) fn add_slopes(
        &self,
        queries: &[u32],
        rounds: impl Iterator<Item = (f64, f64)>,
        slopes: &mut [f64],
    ) {
        let mut series = [0.0; TERMS];
        for (share, coefficient) in rounds {
            let mut term = 2.0 * coefficient * share;
            for (k, sum) in series.iter_mut().enumerate() {
                *sum += term;
                term *= share * share / ((2 * k + 2) * (2 * k + 3)) as f64;
            }
        }
        add_odd_series(&series, self.arguments.as_chunks().0, queries, slopes);
    }
}

/// The sums of u^2k, without the first one.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn powers(arguments: &[[f64; NARROW]]) -> [f64; TERMS] {
    let mut sums = [[0.0; NARROW]; TERMS];
    for u in arguments {
        let mut square = [0.0; NARROW];
        for lane in 0..NARROW {
            square[lane] = u[lane] * u[lane];
        }
        let mut power = square;
        for sums in &mut sums[1..] {
            for lane in 0..NARROW {
                sums[lane] += power[lane];
                power[lane] *= square[lane];
            }
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Adds u times the sum of c_k u^2k to the slope of each query.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn add_odd_series(
    coefficients: &[f64; TERMS],
    arguments: &[Lanes],
    queries: &[u32],
    slopes: &mut [f64],
) {
    for (u, queries) in arguments.iter().zip(queries.chunks(LANES)) {
        let (mut square, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            square[lane] = u[lane] * u[lane];
        }
        for c in coefficients.iter().rev() {
            for lane in 0..LANES {
                sum[lane] = sum[lane] * square[lane] + c;
            }
        }
        for lane in 0..LANES {
            sum[lane] *= u[lane];
        }
        for (&query, added) in queries.iter().zip(sum) {
            slopes[query as usize] += added;
        }
    }
}
