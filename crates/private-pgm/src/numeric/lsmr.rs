//! Iterative least squares, for matrices given by their products with vectors.

use super::memory::zeros;
use super::pointwise::dot;

/// When [`lsmr`] stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LsmrOptions {
    /// The tolerated relative error of the matrix and of the right-hand side: the solution is exact
    /// for a problem that differs from the given one by at most this.
    pub tolerance: f64,
    /// The largest number of iterations.
    pub iterations: usize,
}

/// The result of [`lsmr`].
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The last iterate.
    pub x: Vec<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// Why the iterations ended.
    pub termination: Termination,
}

/// Why iterations ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// The residual is within the tolerance.
    Converged,
    /// The iteration limit was reached.
    Iterations,
    /// `proceed` returned false.
    Stopped,
}

/// The vector x of least norm among those that minimise |A x - b|, by LSMR (Fong and Saunders,
/// SIAM J. Sci. Comput. 33, 2011): MINRES on the normal equations by Golub-Kahan
/// bidiagonalisation, so that |A^T r| decreases in every iteration.
///
/// `add_product(x, out)` adds A x to `out`, `add_transposed(y, out)` adds A^T y. An iteration costs
/// one of each and five passes over vectors of the length of x. Memory: four such vectors, and b.
/// `proceed` is called before each iteration with the number of completed ones.
///
/// It has converged when |r| <= tolerance (|b| + |A| |x|) (a consistent system) or when
/// |A^T r| <= tolerance |A| |r|, with the Frobenius norm of the bidiagonal matrix so far for |A|.
pub fn lsmr(
    b: Vec<f64>,
    columns: usize,
    options: LsmrOptions,
    mut add_product: impl FnMut(&[f64], &mut [f64]),
    mut add_transposed: impl FnMut(&[f64], &mut [f64]),
    mut proceed: impl FnMut(usize) -> bool,
) -> Solution {
    let mut x = zeros(columns);
    let mut u = b;
    let mut beta = normalise(&mut u);
    let norm_b = beta;
    let mut v = zeros(columns);
    add_transposed(&u, &mut v);
    let mut alpha = normalise(&mut v);
    if alpha * beta == 0.0 {
        return Solution { x, iterations: 0, termination: Termination::Converged };
    }
    let mut h = v.clone();
    let mut h_bar = zeros(columns);

    let (mut alpha_bar, mut zeta_bar, mut zeta) = (alpha, alpha * beta, 0.0);
    let (mut rho, mut rho_bar, mut c_bar, mut s_bar) = (1.0, 1.0, 1.0, 0.0);
    let mut residual = ResidualNorm::new(beta);
    let mut norm_a_squared = alpha * alpha;

    for iteration in 0..options.iterations {
        if !proceed(iteration) {
            return Solution { x, iterations: iteration, termination: Termination::Stopped };
        }
        u.iter_mut().for_each(|u| *u *= -alpha);
        add_product(&v, &mut u);
        beta = normalise(&mut u);
        v.iter_mut().for_each(|v| *v *= -beta);
        add_transposed(&u, &mut v);
        alpha = normalise(&mut v);

        let (rho_old, rho_bar_old, zeta_old) = (rho, rho_bar, zeta);
        let (c, s);
        (c, s, rho) = rotation(alpha_bar, beta);
        let theta = s * alpha;
        alpha_bar = c * alpha;
        let theta_bar = s_bar * rho;
        (c_bar, s_bar, rho_bar) = rotation(c_bar * rho, theta);
        zeta = c_bar * zeta_bar;
        zeta_bar *= -s_bar;

        let back = theta_bar * rho / (rho_old * rho_bar_old);
        let (along, fall) = (zeta / (rho * rho_bar), theta / rho);
        for (((x, h_bar), h), &v) in x.iter_mut().zip(&mut h_bar).zip(&mut h).zip(&v) {
            *h_bar = *h - back * *h_bar;
            *x += along * *h_bar;
            *h = v - fall * *h;
        }

        let norm_r = residual.next([c, s], [theta_bar, rho_bar], [zeta_old, zeta]);
        norm_a_squared += beta * beta;
        let norm_a = norm_a_squared.sqrt();
        norm_a_squared += alpha * alpha;
        let norm_x = dot(&x, &x).sqrt();
        if norm_r <= options.tolerance * (norm_b + norm_a * norm_x)
            || zeta_bar.abs() <= options.tolerance * norm_a * norm_r
        {
            return Solution { x, iterations: iteration + 1, termination: Termination::Converged };
        }
    }
    Solution { x, iterations: options.iterations, termination: Termination::Iterations }
}

/// |r| by the paper's recurrence, without forming r.
struct ResidualNorm {
    beta_dd: f64,
    beta_d: f64,
    rho_d: f64,
    tau_tilde: f64,
    theta_tilde: f64,
}

impl ResidualNorm {
    fn new(beta: f64) -> Self {
        Self { beta_dd: beta, beta_d: 0.0, rho_d: 1.0, tau_tilde: 0.0, theta_tilde: 0.0 }
    }

    /// The norm after the next iteration, given its first rotation, theta_bar and rho_bar, and the
    /// last two values of zeta.
    fn next(
        &mut self,
        [c, s]: [f64; 2],
        [theta_bar, rho_bar]: [f64; 2],
        [zeta_old, zeta]: [f64; 2],
    ) -> f64 {
        let beta_hat = c * self.beta_dd;
        self.beta_dd *= -s;
        let theta_tilde_old = self.theta_tilde;
        let (c_tilde, s_tilde, rho_tilde) = rotation(self.rho_d, theta_bar);
        self.theta_tilde = s_tilde * rho_bar;
        self.rho_d = c_tilde * rho_bar;
        self.beta_d = c_tilde * beta_hat - s_tilde * self.beta_d;
        self.tau_tilde = (zeta_old - theta_tilde_old * self.tau_tilde) / rho_tilde;
        let tau_d = (zeta - self.theta_tilde * self.tau_tilde) / self.rho_d;
        (self.beta_d - tau_d).hypot(self.beta_dd)
    }
}

/// Divides by the norm and returns it; a zero vector stays unchanged.
fn normalise(x: &mut [f64]) -> f64 {
    let norm = dot(x, x).sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|x| *x /= norm);
    }
    norm
}

/// Cosine, sine and r with (c, s; -s, c) (a, b) = (r, 0).
fn rotation(a: f64, b: f64) -> (f64, f64, f64) {
    let r = a.hypot(b);
    if r == 0.0 { (1.0, 0.0, 0.0) } else { (a / r, b / r, r) }
}

#[cfg(test)]
mod tests {
    use super::super::cholesky::Cholesky;
    use super::super::matrix::Matrix;
    use super::super::pointwise::add_scaled;
    use super::*;
    use proptest::prelude::*;

    fn solve(a: &Matrix, b: &[f64], options: LsmrOptions) -> Solution {
        solve_while(a, b, options, |_| true)
    }

    fn solve_while(
        a: &Matrix,
        b: &[f64],
        options: LsmrOptions,
        proceed: impl FnMut(usize) -> bool,
    ) -> Solution {
        let product = |x: &[f64], out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(row, out)| *out += dot(a.row(row), x));
        };
        let transposed = |y: &[f64], out: &mut [f64]| {
            y.iter().enumerate().for_each(|(row, &y)| add_scaled(y, a.row(row), out));
        };
        lsmr(b.to_vec(), a.cols(), options, product, transposed, proceed)
    }

    const TIGHT: LsmrOptions = LsmrOptions { tolerance: 1e-14, iterations: 200 };

    /// A matrix and a right-hand side.
    fn system(
        rows: std::ops::Range<usize>,
        cols: std::ops::Range<usize>,
    ) -> impl Strategy<Value = (Matrix, Vec<f64>)> {
        (rows, cols).prop_flat_map(|(rows, cols)| {
            let entries = prop::collection::vec(-1.0..1.0f64, rows * cols);
            let matrix = entries.prop_map(move |values| Matrix::new(rows, cols, values));
            (matrix, prop::collection::vec(-1.0..1.0f64, rows))
        })
    }

    proptest! {
        #[test]
        fn solutions_of_tall_systems_satisfy_the_normal_equations((a, b) in system(1..8, 1..6)) {
            // Identity rows below make every system well conditioned and of full rank.
            let (m, n) = (a.rows(), a.cols());
            let mut tall = Matrix::zeros(m + n, n);
            (0..m).for_each(|i| (0..n).for_each(|j| tall[(i, j)] = a[(i, j)]));
            (0..n).for_each(|j| tall[(m + j, j)] = 1.0);
            let b: Vec<f64> = b.into_iter().chain((0..n).map(|j| j as f64)).collect();
            let (mut gram, mut expected) = (Matrix::zeros(n, n), vec![0.0; n]);
            for (row, &b) in b.iter().enumerate() {
                add_scaled(b, tall.row(row), &mut expected);
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    gram[(i, j)] += tall[(row, i)] * tall[(row, j)];
                }
            }
            Cholesky::new(gram).unwrap().solve(&mut expected);
            let solution = solve(&tall, &b, TIGHT);
            prop_assert_eq!(solution.termination, Termination::Converged);
            for (x, e) in solution.x.iter().zip(&expected) {
                prop_assert!((x - e).abs() < 1e-8, "{} {}", x, e);
            }
        }

        #[test]
        fn the_minimum_norm_solution_is_found((a, x) in system(5..6, 1..4)) {
            // a^T has more columns than rows, and a u is the shortest solution of a^T x = a^T a u.
            let u = &x[..a.cols()];
            let mut wide = Matrix::zeros(a.cols(), a.rows());
            for (i, j) in (0..a.rows()).flat_map(|i| (0..a.cols()).map(move |j| (i, j))) {
                wide[(j, i)] = a[(i, j)];
            }
            let mut shortest = vec![0.0; a.rows()];
            u.iter().enumerate().for_each(|(row, &u)| add_scaled(u, wide.row(row), &mut shortest));
            let b: Vec<f64> = (0..wide.rows()).map(|row| dot(wide.row(row), &shortest)).collect();
            let solution = solve(&wide, &b, TIGHT);
            let size = dot(&b, &b).sqrt();
            for (row, b) in b.iter().enumerate() {
                prop_assert!((dot(wide.row(row), &solution.x) - b).abs() <= 1e-10 * size.max(1.0));
            }
            let (found, least) = (dot(&solution.x, &solution.x), dot(&shortest, &shortest));
            prop_assert!(found <= least * (1.0 + 1e-9), "{} {}", found, least);
        }
    }

    #[test]
    fn a_right_hand_side_orthogonal_to_the_columns_takes_no_iterations() {
        let a = Matrix::new(2, 1, vec![1.0, 0.0]);
        for b in [[0.0, 0.0], [0.0, 3.0]] {
            let nothing =
                Solution { x: vec![0.0], iterations: 0, termination: Termination::Converged };
            assert_eq!(solve(&a, &b, TIGHT), nothing);
        }
    }

    #[test]
    fn iterations_end_at_the_limit_or_when_stopped() {
        let a = Matrix::new(2, 2, vec![1.0, 0.5, 0.25, 3.0]);
        let exact = |iterations| LsmrOptions { tolerance: 0.0, iterations };
        let limited = solve(&a, &[1.0, 2.0], exact(1));
        assert_eq!((limited.iterations, limited.termination), (1, Termination::Iterations));
        let stopped = solve_while(&a, &[1.0, 2.0], exact(9), |done| done < 1);
        assert_eq!((stopped.iterations, stopped.termination), (1, Termination::Stopped));
        assert_eq!(stopped.x, limited.x);
    }
}
