//! Differential privacy guarantees of three kinds.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Delta, Epsilon, ParameterError, Rho};

/// A differential privacy guarantee: pure, approximate or zero-concentrated.
///
/// The kind of a budget's total is its *currency*: shares are granted in it or converted to it, and
/// the ledger adds costs up in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Guarantee {
    /// epsilon-differential privacy (Dwork, McSherry, Nissim, Smith 2006).
    Pure {
        /// The bound on the privacy loss.
        epsilon: Epsilon,
    },
    /// (epsilon, delta)-differential privacy (Dwork, Kenthapadi, McSherry, Mironov, Naor 2006).
    Approximate {
        /// The bound on the privacy loss.
        epsilon: Epsilon,
        /// The probability with which the bound may fail.
        delta: Delta,
    },
    /// rho-zero-concentrated differential privacy, zCDP (Bun and Steinke 2016).
    Concentrated {
        /// The Renyi divergence of order alpha is at most rho alpha.
        rho: Rho,
    },
}

use Guarantee::{Approximate, Concentrated, Pure};

impl Guarantee {
    /// The cost of this guarantee in the currency of `total`, or `None` if there is no conversion:
    ///
    /// - a pure guarantee converts to every currency: delta = 0, or rho = epsilon^2/2;
    /// - (epsilon, delta) and rho do not convert. To spend rho under an (epsilon, delta) total,
    ///   make the whole budget one in rho ([`Rho::implying`]).
    pub(super) fn cost_in(self, total: Guarantee) -> Option<Guarantee> {
        match (self, total) {
            (Pure { .. }, Pure { .. } | Approximate { .. })
            | (Approximate { .. }, Approximate { .. })
            | (Concentrated { .. }, Concentrated { .. }) => Some(self),
            (Pure { epsilon }, Concentrated { .. }) => {
                Rho::of_pure(epsilon).ok().map(|rho| Concentrated { rho })
            }
            _ => None,
        }
    }

    /// epsilon or rho.
    pub(super) fn leading(self) -> f64 {
        match self {
            Pure { epsilon } | Approximate { epsilon, .. } => epsilon.get(),
            Concentrated { rho } => rho.get(),
        }
    }

    /// delta, or 0 where there is none.
    pub(super) fn delta(self) -> f64 {
        match self {
            Approximate { delta, .. } => delta.get(),
            Pure { .. } | Concentrated { .. } => 0.0,
        }
    }

    /// The same kind of guarantee with other numbers; delta is ignored where there is none.
    pub(super) fn with(self, leading: f64, delta: f64) -> Result<Guarantee, ParameterError> {
        Ok(match self {
            Pure { .. } => Pure { epsilon: Epsilon::new(leading)? },
            Approximate { .. } => {
                Approximate { epsilon: Epsilon::new(leading)?, delta: Delta::new(delta)? }
            }
            Concentrated { .. } => Concentrated { rho: Rho::new(leading)? },
        })
    }

    /// The guarantee of this currency with these sums of epsilons (or rhos) and deltas; `None` if
    /// they are not parameters. A sum in (epsilon, delta) without delta is pure.
    pub(super) fn of_sums(self, leading: f64, delta: f64) -> Option<Guarantee> {
        match self {
            Approximate { .. } if delta <= 0.0 => Epsilon::new(leading).ok().map(Guarantee::from),
            _ => self.with(leading, delta).ok(),
        }
    }

    /// The epsilon that a pure mechanism may use: epsilon itself, or sqrt(2 rho) (Bun and Steinke
    /// 2016, proposition 1.4). The delta of (epsilon, delta) stays unused.
    pub fn pure_epsilon(self) -> Result<Epsilon, ParameterError> {
        match self {
            Pure { epsilon } | Approximate { epsilon, .. } => Ok(epsilon),
            Concentrated { rho } => rho.pure_epsilon(),
        }
    }
}

impl From<Epsilon> for Guarantee {
    fn from(epsilon: Epsilon) -> Self {
        Pure { epsilon }
    }
}

impl From<(Epsilon, Delta)> for Guarantee {
    fn from((epsilon, delta): (Epsilon, Delta)) -> Self {
        Approximate { epsilon, delta }
    }
}

impl From<Rho> for Guarantee {
    fn from(rho: Rho) -> Self {
        Concentrated { rho }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pure { epsilon } => write!(f, "epsilon = {epsilon}"),
            Approximate { epsilon, delta } => write!(f, "epsilon = {epsilon}, delta = {delta}"),
            Concentrated { rho } => write!(f, "rho = {rho}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_delta_in_a_file_is_an_error_and_never_a_pure_guarantee() {
        let good = r#"{"kind":"approximate","epsilon":1.0,"delta":1e-6}"#;
        let guarantee: Guarantee = serde_json::from_str(good).unwrap();
        assert_eq!(serde_json::to_string(&guarantee).unwrap(), good);
        for bad in [
            r#"{"kind":"approximate","epsilon":1.0,"delta":2.0}"#,
            r#"{"kind":"approximate","epsilon":1.0}"#,
            r#"{"kind":"pure","epsilon":1.0,"delta":1e-6}"#,
        ] {
            assert!(serde_json::from_str::<Guarantee>(bad).is_err(), "{bad}");
        }
    }
}
