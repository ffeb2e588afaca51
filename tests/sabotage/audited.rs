//! The audit as a defence.

use dp::{Delta, Epsilon, Neighbours};
use pgmbench::audit::{Request, audit as attack};

use crate::REFUSED;
use crate::setups::find;

/// A sound mechanism fails with one seed in a million.
const CONFIDENCE: f64 = 1.0 - 1e-6;

/// Attacks a mechanism at epsilon 1. An error is a refutation.
pub(crate) fn audit(name: &str) -> Result<(), String> {
    let request = Request {
        epsilon: Epsilon::new(1.0).unwrap(),
        delta: Delta::new(1e-6).unwrap(),
        neighbours: Neighbours::Replace,
        trials: 4000,
        confidence: CONFIDENCE,
        seed: 1,
    };
    let spec = find(name).setup(Neighbours::Replace).spec;
    let findings = attack(spec, &request).map_err(|error| format!("{REFUSED}{error}"))?;
    match findings.iter().find(|finding| finding.refutes()) {
        None => Ok(()),
        Some(finding) => Err(format!("epsilon is at least {:.2}", finding.epsilon_lower_bound)),
    }
}
