use super::average::Average;
use super::step::{Acceptance, Stepper};
use super::{ConvergenceMonitor, Iterate, Objective, Optimiser, Outcome, Reason};
use crate::factor::{CliqueVector, Potentials};

/// The step sizes eta_t of [`Mirror`].
///
/// Written as `"auto"`, `"line-search"`, `"constant"`, `"decreasing"` or `"inverse-root"`; as a
/// number for a constant step of that size; as `{ decreasing = 0.5 }` or `{ inverse-root = 0.5 }`
/// (on a command line `decreasing=0.5`) for a first step of that size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StepSize {
    /// A line search where the loss is smooth, and steps that decrease where its gradient jumps.
    #[default]
    Auto,
    /// The longest step that passes the acceptance test.
    LineSearch,
    /// The same step always; by default the longest that is safe, 1 / (N smoothness).
    Constant(Option<f64>),
    /// The first step divided by t; by default the longest that is safe.
    Decreasing(Option<f64>),
    /// The first step divided by sqrt(t), for which the rate O(log t / sqrt(t)) is proved for every
    /// convex loss; by default the longest that is safe.
    InverseRoot(Option<f64>),
}

/// Algorithm 1 of the paper: entropic mirror descent, theta' = theta - eta grad L(mu(theta)).
///
/// With [`StepSize::LineSearch`] a step is accepted when L(mu') <= L(mu) + <grad L(mu), mu' - mu> +
/// D(mu', mu) / eta, D the divergence of the entropy; then the loss never rises. The other step
/// sizes also suit losses with kinks.
///
/// Reference: ICML 2019, Algorithm 1 and supplement A.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror {
    /// The step sizes.
    pub step: StepSize,
}

/// Factor on the step of the line search after a step that was rejected,
const SHORTEN: f64 = 0.5;
/// and after one that was accepted.
const LENGTHEN: f64 = 1.1;
/// How far the first step moves a potential when the loss has kinks. Steps that fall as 1/t add up
/// to about ten times the first, and counts that differ by some orders of magnitude must be within
/// reach.
const KINKED_MOVE: f64 = 4.0;
/// A line search that gets here has lost the slope in rounding.
const SHORTEST: f64 = 1e-300;

impl Optimiser for Mirror {
    fn minimise(
        &self,
        objective: &mut Objective<'_>,
        start: Potentials,
        monitor: &mut ConvergenceMonitor<'_>,
    ) -> Outcome {
        let mut now = objective.evaluate(start);
        let safe = first_step(objective, &now);
        let step = match (self.step, objective.loss.smoothness()) {
            (StepSize::Auto, Some(_)) => StepSize::LineSearch,
            (StepSize::Auto, None) => StepSize::Decreasing(None),
            (chosen, _) => chosen,
        };
        let mut proposed = now.marginals.clone();
        let mut average = Average::new(&now.marginals);
        let mut stepper = Stepper::plain();
        let mut found = safe;
        for t in 1.. {
            let eta = match step {
                StepSize::Constant(size) => size.unwrap_or(safe),
                StepSize::Decreasing(first) => first.unwrap_or(safe) / t as f64,
                StepSize::InverseRoot(first) => first.unwrap_or(safe) / f64::sqrt(t as f64),
                StepSize::LineSearch | StepSize::Auto => found,
            };
            // Mirror descent averages nothing.
            average.restart();
            if step == StepSize::LineSearch {
                let (nu, theta) = (&now.marginals, &mut now.potentials);
                let (log_z, _) =
                    stepper.propose(objective, eta, &mut average, nu, theta, &mut proposed);
                let log_zs = [now.log_z, log_z];
                let acceptance = stepper.accepts(objective, eta, &average, nu, log_zs, &proposed);
                match acceptance {
                    Acceptance::Reject => found *= SHORTEN,
                    Acceptance::Accept => found *= LENGTHEN,
                    Acceptance::Inconclusive => {}
                }
                if acceptance == Acceptance::Reject {
                    stepper.roll_back(objective, eta, &mut average, nu, theta);
                    if let Some(reason) = monitor.record_rejected() {
                        return monitor.finish(objective, now, reason);
                    }
                    if found < SHORTEST {
                        return monitor.finish(objective, now, Reason::Stalled);
                    }
                    continue;
                }
                std::mem::swap(&mut now.marginals, &mut proposed);
                now.log_z = log_z;
            } else {
                stepper.advance(objective, eta, &mut average, &mut now);
            }
            stepper.reparametrize(objective, &mut now, monitor.is_about_to_check());
            if let Some(reason) = monitor.record_accepted(objective, &now, || &now.marginals) {
                return monitor.finish(objective, now, reason);
            }
        }
        unreachable!("the monitor ends every run")
    }
}

/// The longest step that is safe; for a loss with kinks, one that moves potentials noticeably.
fn first_step(objective: &mut Objective<'_>, start: &Iterate) -> f64 {
    let scale = match objective.loss.smoothness() {
        Some(smoothness) => smoothness * objective.total,
        None => {
            let mut gradient = CliqueVector::zeros(objective.layout());
            objective.loss.value_and_gradient(&start.marginals, &mut gradient);
            gradient.values().iter().fold(0.0f64, |largest, g| largest.max(g.abs())) / KINKED_MOVE
        }
    };
    if scale > 0.0 { 1.0 / scale } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{AttributeId, Clique, Domain};
    use crate::factor::{CliqueLayout, Marginals};
    use crate::junction_tree::JunctionTree;
    use crate::loss::Loss;
    use crate::numeric::pointwise::{add_scaled, dot};
    use crate::optimiser::{Progress, Stopping};
    use crate::oracle::{Exact, MarginalOracle};

    /// The sum of sqrt(1 + (mu - y)^2), which has no constant second derivative.
    struct Hyperbolic {
        layout: Arc<CliqueLayout>,
        y: Vec<f64>,
        gradients: usize,
    }

    impl Loss for Hyperbolic {
        fn layout(&self) -> &Arc<CliqueLayout> {
            &self.layout
        }

        fn value_and_gradient(&mut self, mu: &Marginals, gradient: &mut CliqueVector) -> f64 {
            self.gradients += 1;
            let cells = mu.values().iter().zip(&self.y);
            for (g, (mu, y)) in gradient.values_mut().iter_mut().zip(cells) {
                *g = (mu - y) / (mu - y).hypot(1.0);
            }
            self.value(mu)
        }

        fn value(&mut self, mu: &Marginals) -> f64 {
            mu.values().iter().zip(&self.y).map(|(mu, y)| (mu - y).hypot(1.0)).sum()
        }

        fn smoothness(&self) -> Option<f64> {
            // Far too low, so that the first steps are too long.
            Some(1e-3)
        }
    }

    #[test]
    fn the_search_goes_where_the_obvious_one_goes_and_asks_for_each_gradient_once() {
        let (total, iterations) = (50.0, 40);
        let domain = Domain::new([("a", 3), ("b", 4), ("c", 2)]).unwrap();
        let cliques = [[0, 1], [1, 2]].map(|ids| Clique::new(ids.map(AttributeId)));
        let tree = JunctionTree::new(&domain, &cliques);
        let mut oracle = Exact::new(&domain, &cliques, &tree);
        let layout = Arc::clone(oracle.layout());
        let start = Potentials::zeros(&layout);
        let y = (0..start.values().len()).map(|i| ((i * 7) % 13) as f64).collect();
        let mut loss = Hyperbolic { layout, y, gradients: 0 };
        let mut objective =
            Objective { oracle: &mut oracle, loss: &mut loss, base: &start.clone(), total };

        let mut eta = 1.0 / (1e-3 * total);
        let mut now = objective.evaluate(start.clone());
        let (mut good, mut too_long) = (0, 0);
        for _ in 0..iterations {
            let mut g = CliqueVector::zeros(objective.layout());
            let value = objective.loss.value_and_gradient(&now.marginals, &mut g);
            let mut theta = now.potentials.clone();
            add_scaled(-eta, g.values(), theta.values_mut());
            let next = objective.evaluate(theta);
            let [here, there] = [&now, &next].map(|i| dot(g.values(), i.marginals.values()));
            let divergence = total * (now.log_z - next.log_z) - eta * there;
            let bound = value + (there - here) + divergence / eta;
            if objective.value(&next.marginals) <= bound {
                (now, eta, good) = (next, eta * LENGTHEN, good + 1);
            } else {
                (eta, too_long) = (eta * SHORTEN, too_long + 1);
            }
        }
        assert!(good > 10 && too_long > 2, "{good} {too_long}");

        loss.gradients = 0;
        let mut objective =
            Objective { oracle: &mut oracle, loss: &mut loss, base: &start.clone(), total };
        let stopping = Stopping { iterations, gap: 0.0, relative_gap: 0.0, deadline: None };
        let mut silent = |_: &Progress<'_>| {};
        let mut monitor = ConvergenceMonitor::new(stopping, &mut silent);
        let mirror = Mirror { step: StepSize::LineSearch };
        let found = mirror.minimise(&mut objective, start, &mut monitor).iterate;
        for (ours, obvious) in found.marginals.values().iter().zip(now.marginals.values()) {
            assert!((ours - obvious).abs() < 1e-9, "{ours} {obvious}");
        }
        // The first one, one where each step led, and those of three checks and of the end.
        assert!(
            (1 + iterations..=1 + iterations + 4).contains(&loss.gradients),
            "{}",
            loss.gradients
        );
    }
}
