//! Runs a plan: on numbers in linear space, or in log space where underflow would lose mass.

use std::borrow::Cow;

use super::InferenceError;
use super::log_product::log_product;
use super::plan::{Plan, PlanStep, Planner};
use super::region::{Input, Region};
use crate::domain::Clique;
use crate::numeric::exp::{exp_shifted, log_sum_exp, maximum};
use crate::numeric::memory;

/// The result of a contraction: values times exp(log_scale).
#[derive(Clone, Debug)]
pub(super) struct Contracted {
    pub(super) values: Vec<f64>,
    pub(super) log_scale: f64,
}

/// The largest difference between ln of the sum of the result, computed in linear space, and its
/// true value.
///
/// Underflow only makes products of non-negative numbers smaller. The loss of the sum therefore
/// bounds the loss of every cell. Our choice: a thousand times the rounding error of a long chain.
const MASS_TOLERANCE: f64 = 1e-9;

/// A table is rescaled when its largest magnitude is outside 2^-100 to 2^100. Our choice.
const RESCALE_LIMIT: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;

impl Region<'_> {
    /// The product of all tables summed onto `wanted`. `log_sum` is ln of the sum of all cells of
    /// the same product of the tables' magnitudes; it detects underflow.
    pub(super) fn contract(
        &self,
        planner: &mut Planner,
        wanted: &Clique,
        log_sum: f64,
    ) -> Result<Contracted, InferenceError> {
        let (plan, inputs) = self.plan(planner, wanted)?;
        let signed = inputs.iter().any(|input| input.linear.iter().any(|&cell| cell < 0.0));
        let mut result = if signed {
            let magnitudes: Vec<Input> = inputs.iter().map(|input| input.magnitude()).collect();
            contract_linear(&plan, &magnitudes.iter().collect::<Vec<_>>())
        } else {
            contract_linear(&plan, &inputs)
        };
        let sum = result.values.iter().sum::<f64>().ln() + result.log_scale;
        let trusted = (sum - log_sum).abs() <= MASS_TOLERANCE;
        result = match (trusted, signed) {
            (true, false) => result,
            (true, true) => contract_linear(&plan, &inputs),
            (false, false) => contract_logs(&plan, &inputs),
            (false, true) => contract_signed_logs(&plan, &inputs),
        };
        Ok(result)
    }

    /// ln of the sum of all cells of the product of the tables' magnitudes, computed in log space.
    pub(super) fn log_sum(&self, planner: &mut Planner) -> Result<f64, InferenceError> {
        let (plan, inputs) = self.plan(planner, &Clique::empty())?;
        Ok(run_in_logs(&plan, &inputs)[0])
    }
}

impl Input<'_> {
    fn magnitude(&self) -> Input<'_> {
        Input {
            clique: self.clique.clone(),
            log: Cow::Borrowed(&self.log),
            linear: self.linear.iter().map(|cell| cell.abs()).collect(),
        }
    }
}

/// Rescales intermediate tables by powers of two, which is exact.
fn contract_linear(plan: &Plan, inputs: &[&Input]) -> Contracted {
    let mut log_scale = 0.0;
    let contract = |step: &PlanStep, a: &Cow<[f64]>, b: Option<&Cow<[f64]>>| {
        let mut value = memory::zeros(step.cells);
        step.forward.multiply(a, b.map_or(&[1.0], |b| b), &mut value, true);
        let largest = value.iter().fold(0.0, |largest, v| f64::max(largest, v.abs()));
        if largest > 0.0 && !(1.0 / RESCALE_LIMIT..RESCALE_LIMIT).contains(&largest) {
            let power = largest.log2().round();
            value.iter_mut().for_each(|v| *v *= (-power).exp2());
            log_scale += power * std::f64::consts::LN_2;
        }
        Cow::Owned(value)
    };
    let values = plan.run(|input| Cow::Borrowed(&inputs[input].linear[..]), contract).into_owned();
    Contracted { values, log_scale }
}

/// The logarithms of the result.
fn run_in_logs(plan: &Plan, inputs: &[&Input]) -> Vec<f64> {
    let contract = |step: &PlanStep, a: &Cow<[f64]>, b: Option<&Cow<[f64]>>| {
        let mut value = memory::zeros(step.cells);
        log_product(&step.forward, a, b.map_or(&[0.0], |b| b), &mut value);
        Cow::Owned(value)
    };
    plan.run(|input| Cow::Borrowed(&inputs[input].log[..]), contract).into_owned()
}

fn contract_logs(plan: &Plan, inputs: &[&Input]) -> Contracted {
    let log = run_in_logs(plan, inputs);
    let largest = maximum(&log);
    if largest == f64::NEG_INFINITY {
        return Contracted { values: memory::zeros(log.len()), log_scale: 0.0 };
    }
    let mut values = memory::zeros(log.len());
    exp_shifted(&log, largest, &mut values);
    Contracted { values, log_scale: largest }
}

/// Logarithms of the positive and of the negative part of a table. In every cell one of the two is
/// minus infinity.
#[derive(Clone)]
struct SignedLogs {
    plus: Vec<f64>,
    minus: Option<Vec<f64>>,
}

impl SignedLogs {
    fn new(input: &Input) -> Self {
        let part = |has: fn(f64) -> bool| {
            let cells = input.log.iter().zip(&*input.linear);
            cells.map(|(&log, &v)| if has(v) { log } else { f64::NEG_INFINITY }).collect()
        };
        let negative: fn(f64) -> bool = |v| v < 0.0;
        // A number that underflowed to 0 counts as positive: only tables of a model underflow.
        let minus = input.linear.iter().any(|&v| negative(v)).then(|| part(negative));
        Self { plus: part(|v| v >= 0.0), minus }
    }

    /// Replaces (P, N) by (P - N, 0) where P > N and by (0, N - P) elsewhere, all in logarithms.
    fn cancel(plus: &mut [f64], minus: &mut [f64]) {
        for (plus, minus) in plus.iter_mut().zip(minus) {
            let difference = -(-(*plus - *minus).abs()).exp_m1();
            // Equal parts cancel to zero, also where both are minus infinity.
            let rest = f64::max(*plus, *minus)
                + if difference > 0.0 { difference.ln() } else { f64::NEG_INFINITY };
            (*plus, *minus) =
                if *plus > *minus { (rest, f64::NEG_INFINITY) } else { (f64::NEG_INFINITY, rest) };
        }
    }
}

/// Products of signed tables in log space: (P - N)(P' - N') = (PP' + NN') - (PN' + NP').
fn contract_signed_logs(plan: &Plan, inputs: &[&Input]) -> Contracted {
    let one = SignedLogs { plus: vec![0.0], minus: None };
    let contract = |step: &PlanStep, a: &SignedLogs, b: Option<&SignedLogs>| {
        let b = b.unwrap_or(&one);
        let product = |a: Option<&Vec<f64>>, b: Option<&Vec<f64>>| {
            let (a, b) = (a?, b?);
            let mut value = memory::zeros(step.cells);
            log_product(&step.forward, a, b, &mut value);
            Some(value)
        };
        let (a_plus, b_plus) = (Some(&a.plus), Some(&b.plus));
        let (a_minus, b_minus) = (a.minus.as_ref(), b.minus.as_ref());
        let plus = log_add(product(a_plus, b_plus), product(a_minus, b_minus));
        let mut plus = plus.expect("both have a positive part");
        let mut minus = log_add(product(a_plus, b_minus), product(a_minus, b_plus));
        if let Some(minus) = &mut minus {
            SignedLogs::cancel(&mut plus, minus);
        }
        SignedLogs { plus, minus }
    };
    let SignedLogs { plus, minus } = plan.run(|input| SignedLogs::new(inputs[input]), contract);
    let minus = minus.unwrap_or_else(|| memory::filled(plus.len(), f64::NEG_INFINITY));
    let largest = f64::max(maximum(&plus), maximum(&minus));
    if largest == f64::NEG_INFINITY {
        return Contracted { values: memory::zeros(plus.len()), log_scale: 0.0 };
    }
    let (mut values, mut negative) = (memory::zeros(plus.len()), memory::zeros(plus.len()));
    exp_shifted(&plus, largest, &mut values);
    exp_shifted(&minus, largest, &mut negative);
    values.iter_mut().zip(negative).for_each(|(v, negative)| *v -= negative);
    Contracted { values, log_scale: largest }
}

/// ln(e^x + e^y) for each pair.
fn log_add(x: Option<Vec<f64>>, y: Option<Vec<f64>>) -> Option<Vec<f64>> {
    match (x, y) {
        (Some(mut x), Some(y)) => {
            for (x, y) in x.iter_mut().zip(y) {
                *x = log_sum_exp(&[*x, y]);
            }
            Some(x)
        }
        (x, y) => x.or(y),
    }
}
