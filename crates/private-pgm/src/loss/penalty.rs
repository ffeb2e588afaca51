//! Penalties of residuals.

use multiversion::multiversion;

/// The penalty of the residuals r (supplement C.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// The sum of |r|: minus the log-likelihood of Laplace noise, up to constants.
    L1,
    /// Half the sum of r^2: minus the log-likelihood of Gaussian noise, up to a constant.
    L2,
    /// The Huber loss of this width, a smooth L1: r^2 / (2 width) where |r| is below the width, and
    /// |r| - width / 2 elsewhere. Below L1 by at most half the width per measured answer.
    Huber(f64),
}

/// The sum of the penalties of r = (answers - y) * weight. `put` receives the derivative by each
/// answer. One pass with eight independent sums, so that additions do not wait for each other.
pub(super) fn penalise(
    norm: Norm,
    answers: &[f64],
    y: &[f64],
    weight: f64,
    slopes: &mut [f64],
    put: impl Fn(&mut f64, f64),
) -> f64 {
    match norm {
        Norm::L1 => in_lanes(answers, y, slopes, |answer, y, slope| {
            let r = (answer - y) * weight;
            put(slope, if r == 0.0 { 0.0 } else { weight.copysign(r) });
            r.abs()
        }),
        Norm::Huber(width) => in_lanes(answers, y, slopes, |answer, y, slope| {
            let (value, derivative) = huber((answer - y) * weight, width);
            put(slope, derivative * weight);
            value
        }),
        Norm::L2 => {
            0.5 * in_lanes(answers, y, slopes, |answer, y, slope| {
                let r = (answer - y) * weight;
                put(slope, r * weight);
                r * r
            })
        }
    }
}

/// The Huber penalty of r and its derivative.
#[inline]
pub(super) fn huber(r: f64, width: f64) -> (f64, f64) {
    if r.abs() < width {
        (r * r / (2.0 * width), r / width)
    } else {
        (r.abs() - width / 2.0, 1f64.copysign(r))
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
fn in_lanes<P: Fn(f64, f64, &mut f64) -> f64>(
    answers: &[f64],
    y: &[f64],
    slopes: &mut [f64],
    penalty: P,
) -> f64 {
    let (answers, answers_rest) = answers.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let (slopes, slopes_rest) = slopes.as_chunks_mut::<8>();
    let mut lanes = [0.0; 8];
    for ((answers, y), slopes) in answers.iter().zip(y).zip(slopes) {
        for lane in 0..8 {
            lanes[lane] += penalty(answers[lane], y[lane], &mut slopes[lane]);
        }
    }
    let rest = answers_rest.iter().zip(y_rest).zip(slopes_rest);
    let rest: f64 = rest.map(|((&answer, &y), slope)| penalty(answer, y, slope)).sum();
    lanes.iter().sum::<f64>() + rest
}

/// The sums of |r| and of r^2.
pub(super) fn norms(answers: &[f64], y: &[f64], weight: f64) -> (f64, f64) {
    let (answers, answers_rest) = answers.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let (mut absolute, mut squared) = ([0.0; 8], [0.0; 8]);
    for (answers, y) in answers.iter().zip(y) {
        for lane in 0..8 {
            let r = (answers[lane] - y[lane]) * weight;
            absolute[lane] += r.abs();
            squared[lane] += r * r;
        }
    }
    let sums = (absolute.iter().sum::<f64>(), squared.iter().sum::<f64>());
    answers_rest.iter().zip(y_rest).fold(sums, |(absolute, squared), (answer, y)| {
        let r = (answer - y) * weight;
        (absolute + r.abs(), squared + r * r)
    })
}
