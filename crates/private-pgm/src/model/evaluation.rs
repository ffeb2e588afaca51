//! Running a plan: on ordinary numbers where that loses nothing, on logarithms where it does.

use std::borrow::Cow;

use super::InferenceError;
use super::log_product::log_product;
use super::plan::{Plan, Planner, Step};
use super::region::{Input, Region};
use crate::domain::Clique;
use crate::numeric::exp::{exp_shifted, log_sum_exp, maximum};

/// A table and the logarithm of the factor that it is to be multiplied with.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pub(super) values: Vec<f64>,
    pub(super) log_scale: f64,
}

/// How far ln of the sum of the answers, computed on ordinary numbers, may be from the true one.
///
/// Products of numbers that are not negative lose to underflow, and never gain. What all cells
/// together lack is thus seen in their sum, and bounds what any of them lacks. Our choice, a
/// thousand times what rounding does to a long chain.
const LOST: f64 = 1e-9;

/// Numbers between 2^-100 and 2^100 are left as they are.
const COMFORTABLE: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;

impl Region<'_> {
    /// The sum of the product of all tables onto `wanted`, given ln of the sum of all cells of the
    /// same with magnitudes in place of tables.
    pub(super) fn contract(
        &self,
        planner: &mut Planner,
        wanted: &Clique,
        log_sum: f64,
    ) -> Result<Scaled, InferenceError> {
        let (plan, inputs) = self.plan(planner, wanted)?;
        let signed = inputs.iter().any(|input| input.linear.iter().any(|&cell| cell < 0.0));
        let mut result = if signed {
            let magnitudes: Vec<Input> = inputs.iter().map(|input| input.magnitude()).collect();
            linear(&plan, &magnitudes.iter().collect::<Vec<_>>())
        } else {
            linear(&plan, &inputs)
        };
        let sum = result.values.iter().sum::<f64>().ln() + result.log_scale;
        let trusted = (sum - log_sum).abs() <= LOST;
        result = match (trusted, signed) {
            (true, false) => result,
            (true, true) => linear(&plan, &inputs),
            (false, false) => logarithm(&plan, &inputs),
            (false, true) => signed_logarithm(&plan, &inputs),
        };
        Ok(result)
    }

    /// ln of the sum of all cells of the product of the tables' magnitudes.
    pub(super) fn log_sum(&self, planner: &mut Planner) -> Result<f64, InferenceError> {
        let (plan, inputs) = self.plan(planner, &Clique::empty())?;
        Ok(log_run(&plan, &inputs)[0])
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

fn linear(plan: &Plan, inputs: &[&Input]) -> Scaled {
    let mut log_scale = 0.0;
    let contract = |step: &Step, a: &Cow<[f64]>, b: Option<&Cow<[f64]>>| {
        let mut value = vec![0.0; step.cells];
        step.forward.multiply(a, b.map_or(&[1.0], |b| b), &mut value, true);
        let largest = value.iter().fold(0.0, |largest, v| f64::max(largest, v.abs()));
        if largest > 0.0 && !(1.0 / COMFORTABLE..COMFORTABLE).contains(&largest) {
            let power = largest.log2().round();
            value.iter_mut().for_each(|v| *v *= (-power).exp2());
            log_scale += power * std::f64::consts::LN_2;
        }
        Cow::Owned(value)
    };
    let values = plan.run(|input| Cow::Borrowed(&inputs[input].linear[..]), contract).into_owned();
    Scaled { values, log_scale }
}

fn log_run(plan: &Plan, inputs: &[&Input]) -> Vec<f64> {
    let contract = |step: &Step, a: &Cow<[f64]>, b: Option<&Cow<[f64]>>| {
        let mut value = vec![0.0; step.cells];
        log_product(&step.forward, a, b.map_or(&[0.0], |b| b), &mut value);
        Cow::Owned(value)
    };
    plan.run(|input| Cow::Borrowed(&inputs[input].log[..]), contract).into_owned()
}

fn logarithm(plan: &Plan, inputs: &[&Input]) -> Scaled {
    let log = log_run(plan, inputs);
    let largest = maximum(&log);
    if largest == f64::NEG_INFINITY {
        return Scaled { values: vec![0.0; log.len()], log_scale: 0.0 };
    }
    let mut values = vec![0.0; log.len()];
    exp_shifted(&log, largest, &mut values);
    Scaled { values, log_scale: largest }
}

/// Logarithms of the positive and of the negative part of a table; one of the two is minus infinity
/// in every cell.
#[derive(Clone)]
struct Signed {
    plus: Vec<f64>,
    minus: Option<Vec<f64>>,
}

impl Signed {
    fn new(input: &Input) -> Self {
        let part = |has: fn(f64) -> bool| {
            let cells = input.log.iter().zip(&*input.linear);
            cells.map(|(&log, &v)| if has(v) { log } else { f64::NEG_INFINITY }).collect()
        };
        let negative: fn(f64) -> bool = |v| v < 0.0;
        // A number so small that it became 0 counts as positive, which it is in tables of a model.
        let minus = input.linear.iter().any(|&v| negative(v)).then(|| part(negative));
        Self { plus: part(|v| v >= 0.0), minus }
    }

    /// Takes the smaller part out of both.
    fn settle(plus: &mut [f64], minus: &mut [f64]) {
        for (plus, minus) in plus.iter_mut().zip(minus) {
            let difference = -(-(*plus - *minus).abs()).exp_m1();
            // Equal parts, of which both may be minus infinity, leave nothing.
            let rest = f64::max(*plus, *minus)
                + if difference > 0.0 { difference.ln() } else { f64::NEG_INFINITY };
            (*plus, *minus) =
                if *plus > *minus { (rest, f64::NEG_INFINITY) } else { (f64::NEG_INFINITY, rest) };
        }
    }
}

/// Products of signed tables on logarithms: (P - N)(P' - N') = (PP' + NN') - (PN' + NP').
fn signed_logarithm(plan: &Plan, inputs: &[&Input]) -> Scaled {
    let one = Signed { plus: vec![0.0], minus: None };
    let contract = |step: &Step, a: &Signed, b: Option<&Signed>| {
        let b = b.unwrap_or(&one);
        let product = |a: Option<&Vec<f64>>, b: Option<&Vec<f64>>| {
            let (a, b) = (a?, b?);
            let mut value = vec![0.0; step.cells];
            log_product(&step.forward, a, b, &mut value);
            Some(value)
        };
        let (a_plus, b_plus) = (Some(&a.plus), Some(&b.plus));
        let (a_minus, b_minus) = (a.minus.as_ref(), b.minus.as_ref());
        let plus = log_add(product(a_plus, b_plus), product(a_minus, b_minus));
        let mut plus = plus.expect("both have a positive part");
        let mut minus = log_add(product(a_plus, b_minus), product(a_minus, b_plus));
        if let Some(minus) = &mut minus {
            Signed::settle(&mut plus, minus);
        }
        Signed { plus, minus }
    };
    let Signed { plus, minus } = plan.run(|input| Signed::new(inputs[input]), contract);
    let minus = minus.unwrap_or_else(|| vec![f64::NEG_INFINITY; plus.len()]);
    let largest = f64::max(maximum(&plus), maximum(&minus));
    if largest == f64::NEG_INFINITY {
        return Scaled { values: vec![0.0; plus.len()], log_scale: 0.0 };
    }
    let (mut values, mut negative) = (vec![0.0; plus.len()], vec![0.0; plus.len()]);
    exp_shifted(&plus, largest, &mut values);
    exp_shifted(&minus, largest, &mut negative);
    values.iter_mut().zip(negative).for_each(|(v, negative)| *v -= negative);
    Scaled { values, log_scale: largest }
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
