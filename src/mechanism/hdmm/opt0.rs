//! OPT_0: the best p-identity strategy for the queries on one attribute.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::numeric::projected_lbfgs::{DescentOptions, minimise_nonnegative};
use private_pgm::numeric::cholesky::Cholesky;
use private_pgm::numeric::matrix::Matrix;
use private_pgm::numeric::pointwise::{add_scaled, dot};
use private_pgm::query::{PIdentity, QueryFactor};

/// Values of the attribute per additional row of the strategy, as chosen by the authors of HDMM.
const VALUES_PER_ROW: usize = 16;
/// Our choice: local minima from different starts differ by more than the remaining decrease.
const STOPPING: DescentOptions = DescentOptions { decrease: 1e-7, steps: 1000 };

/// The Gram matrix V = W^T W of queries W on n values: products with vectors, and the diagonal.
pub(super) struct Gram {
    product: Product,
    diagonal: Vec<f64>,
}

enum Product {
    /// V x = W^T (W x), for queries whose products take one pass.
    Queries(QueryFactor),
    /// V as a dense matrix.
    Matrix(Matrix),
}

impl Gram {
    pub(super) fn new(factor: &QueryFactor, n: usize) -> Self {
        if *factor == QueryFactor::Prefix {
            let diagonal = (0..n).map(|a| (n - a) as f64).collect();
            return Self { product: Product::Queries(factor.clone()), diagonal };
        }
        let v = factor.gram(n);
        let diagonal = (0..n).map(|a| v[(a, a)]).collect();
        Self { product: Product::Matrix(v), diagonal }
    }

    fn apply(&self, x: &[f64], image: &mut [f64], scratch: &mut [f64]) {
        match &self.product {
            Product::Queries(factor) => {
                factor.apply(x.len(), 1, x, scratch);
                factor.apply_transpose(x.len(), 1, scratch, image);
            }
            Product::Matrix(v) => {
                image.iter_mut().enumerate().for_each(|(row, image)| *image = dot(v.row(row), x));
            }
        }
    }
}

/// The expected squared error of W in units of the variance of the noise, as a function of B.
///
/// A = [I; B] diag(1/s) with s_j = 1 + sum over i of B_ij has columns of L1 norm 1. Least squares
/// from its noisy answers gives W with a total variance of F = tr(V X) times that of one answer, X
/// = (A^T A)^-1. With R = (I + B B^T)^-1 and V' = diag(s) V diag(s), Woodbury's identity gives
///
/// ```text
/// T    = R B V'
/// c_j  = V'_jj - sum over i of T_ij B_ij
/// F    = sum over j of c_j
/// dF/dB_ij = 2 (c_j / s_j - (T - T B^T R B)_ij)
/// ```
///
/// An evaluation takes p products with V and O(n p^2) other operations.
pub(super) struct Objective<'a> {
    gram: &'a Gram,
    rows: usize,
    s: Vec<f64>,
    scaled: Vec<f64>,
    t: Vec<f64>,
    rb: Vec<f64>,
}

impl<'a> Objective<'a> {
    pub(super) fn new(gram: &'a Gram, rows: usize) -> Self {
        let n = gram.diagonal.len();
        let (t, rb) = (vec![0.0; rows * n], vec![0.0; rows * n]);
        Self { gram, rows, s: vec![0.0; n], scaled: vec![0.0; n], t, rb }
    }

    /// F and its gradient. Infinite if B is too large for floating point.
    pub(super) fn evaluate(&mut self, b: &[f64], gradient: &mut [f64]) -> f64 {
        let Self { gram, rows, s, scaled, t, rb } = self;
        let (p, n) = (*rows, s.len());
        let row = |i: usize| i * n..(i + 1) * n;
        s.fill(1.0);
        (0..p).for_each(|i| add_scaled(1.0, &b[row(i)], s));
        let mut small = Matrix::zeros(p, p);
        for (i, j) in (0..p).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            small[(i, j)] = f64::from(u8::from(i == j)) + dot(&b[row(i)], &b[row(j)]);
        }
        let Some(small) = Cholesky::new(small) else {
            return f64::INFINITY;
        };
        for i in 0..p {
            // The gradient is used as scratch space until it is written.
            multiply(scaled, &b[row(i)], s);
            gram.apply(scaled, &mut t[row(i)], &mut gradient[row(i)]);
            t[row(i)].iter_mut().zip(&*s).for_each(|(t, s)| *t *= s);
        }
        small.solve(t);
        rb.copy_from_slice(b);
        small.solve(rb);

        let c = scaled;
        c.iter_mut().zip(&gram.diagonal).zip(&*s).for_each(|((c, v), s)| *c = v * s * s);
        for i in 0..p {
            c.iter_mut().zip(&t[row(i)]).zip(&b[row(i)]).for_each(|((c, t), b)| *c -= t * b);
        }
        let value = c.iter().sum();
        for i in 0..p {
            let gradient = &mut gradient[row(i)];
            gradient.iter_mut().zip(&*c).zip(&*s).for_each(|((g, c), s)| *g = c / s);
            add_scaled(-1.0, &t[row(i)], gradient);
            for j in 0..p {
                add_scaled(dot(&t[row(i)], &b[row(j)]), &rb[row(j)], gradient);
            }
            gradient.iter_mut().for_each(|g| *g *= 2.0);
        }
        value
    }
}

fn multiply(product: &mut [f64], a: &[f64], b: &[f64]) {
    product.iter_mut().zip(a).zip(b).for_each(|((p, a), b)| *p = a * b);
}

/// The best strategy of `restarts` local searches, and its F. The searches start at entries of B
/// that are uniform in \[0, 1\]. The result depends on the queries and the seed only.
pub(super) fn optimise(gram: &Gram, restarts: usize, seed: [u8; 32]) -> (PIdentity, f64) {
    let n = gram.diagonal.len();
    let rows = (n / VALUES_PER_ROW).max(1);
    let mut rng = ChaCha20Rng::from_seed(seed);
    let mut objective = Objective::new(gram, rows);
    // Without additional rows: the identity.
    let mut best = (PIdentity::normalised(Matrix::zeros(0, n)), gram.diagonal.iter().sum());
    for _ in 0..restarts {
        let start = (0..rows * n).map(|_| rng.random_range(0.0..1.0)).collect();
        let found =
            minimise_nonnegative(start, STOPPING, |b, gradient| objective.evaluate(b, gradient));
        if found.value < best.1 {
            best = (PIdentity::normalised(Matrix::new(rows, n, found.x)), found.value);
        }
    }
    best
}
