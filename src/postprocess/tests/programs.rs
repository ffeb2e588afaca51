//! The problems of post-processing as linear and quadratic programs, solved to optimality.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT,
};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};

use private_pgm::numeric::matrix::Matrix;

/// Minimise alpha |A x - r|_1 + (1 - alpha) |A x - r|_2^2 over x >= 0 with E x = e.
pub(super) struct Program<'a> {
    pub(super) alpha: f64,
    pub(super) a: &'a Matrix,
    pub(super) r: &'a [f64],
    pub(super) e: &'a [(Vec<(usize, f64)>, f64)],
}

impl Program<'_> {
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let distance = |row: usize| {
            let answer: f64 = self.a.row(row).iter().zip(x).map(|(a, x)| a * x).sum();
            let y = (answer - self.r[row]).abs();
            self.alpha * y + (1.0 - self.alpha) * y * y
        };
        (0..self.a.rows()).map(distance).sum()
    }

    /// By an interior point method, with a variable t >= |A x - r| for each row.
    pub(super) fn optimum(&self) -> Vec<f64> {
        let (m, n) = (self.a.rows(), self.a.cols());
        let weight = 2.0 * (1.0 - self.alpha);
        let mut p = vec![vec![0.0; n + m]; n + m];
        let mut q = vec![0.0; n + m];
        for row in 0..m {
            let a = self.a.row(row);
            for i in 0..n {
                q[i] -= weight * a[i] * self.r[row];
                for j in i..n {
                    p[i][j] += weight * a[i] * a[j];
                }
            }
            q[n + row] = self.alpha;
        }
        let mut g = Vec::new();
        let mut h = Vec::new();
        for (entries, right) in self.e {
            let mut row = vec![0.0; n + m];
            entries.iter().for_each(|&(col, value)| row[col] = value);
            g.push(row);
            h.push(*right);
        }
        for row in 0..m {
            for sign in [1.0, -1.0] {
                let mut line = vec![0.0; n + m];
                line[..n].iter_mut().zip(self.a.row(row)).for_each(|(l, a)| *l = sign * a);
                line[n + row] = -1.0;
                g.push(line);
                h.push(sign * self.r[row]);
            }
        }
        for i in 0..n {
            let mut line = vec![0.0; n + m];
            line[i] = -1.0;
            g.push(line);
            h.push(0.0);
        }
        let cones =
            [SupportedConeT::ZeroConeT(self.e.len()), SupportedConeT::NonnegativeConeT(2 * m + n)];
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-10)
            .tol_gap_rel(1e-10)
            .tol_feas(1e-10)
            .build()
            .unwrap();
        let (p, g) = (CscMatrix::from(&p), CscMatrix::from(&g));
        let mut solver = DefaultSolver::new(&p, &q, &g, &h, &cones, settings).unwrap();
        solver.solve();
        assert!(matches!(
            solver.solution.status,
            SolverStatus::Solved | SolverStatus::AlmostSolved
        ));
        solver.solution.x[..n].to_vec()
    }

    /// The smallest value for alpha = 1, by the simplex method.
    pub(super) fn simplex(&self) -> f64 {
        assert_eq!(self.alpha, 1.0);
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let infinite = (0.0, f64::INFINITY);
        let x: Vec<Variable> = (0..self.a.cols()).map(|_| problem.add_var(0.0, infinite)).collect();
        for row in 0..self.a.rows() {
            let t = problem.add_var(1.0, infinite);
            for (sign, order) in [(-1.0, ComparisonOp::Le), (1.0, ComparisonOp::Ge)] {
                let entries = self.a.row(row).iter().zip(&x).filter(|(a, _)| **a != 0.0);
                let line = entries.map(|(&a, &x)| (x, a)).chain([(t, sign)]);
                problem.add_constraint(line.collect::<Vec<_>>(), order, self.r[row]);
            }
        }
        for (entries, right) in self.e {
            let line: Vec<_> = entries.iter().map(|&(col, value)| (x[col], value)).collect();
            problem.add_constraint(line, ComparisonOp::Eq, *right);
        }
        match problem.solve().unwrap() {
            SolveOutcome::Solution(solution) => solution.objective(),
            _ => panic!("the simplex method was stopped"),
        }
    }
}
