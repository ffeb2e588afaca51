//! The parameters epsilon, delta and rho, validated at construction.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a number is not a valid privacy parameter.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ParameterError {
    /// Not positive and finite. Zero would need infinite noise.
    #[error("epsilon must be positive and finite, not {0}")]
    Epsilon(f64),
    /// Valid, but above [`LARGEST_EPSILON`].
    #[error("an epsilon of {0} promises nothing: expected at most {LARGEST_EPSILON}")]
    Promise(f64),
    /// Not strictly between 0 and 1. At 0 the guarantee is pure; at 1 it is empty.
    #[error("delta must lie strictly between 0 and 1, not {0}")]
    Delta(f64),
    /// Not positive and finite.
    #[error("rho must be positive and finite, not {0}")]
    Rho(f64),
}

/// The largest epsilon that a user may request (our choice). At 1000 an output may be e^1000 times
/// as likely with a record as without it, and integer noise is almost surely 0, which is useful for
/// checking an experiment without noise. Sums within a mechanism may be larger.
pub const LARGEST_EPSILON: f64 = 1000.0;

impl Epsilon {
    /// An epsilon that a user requests: valid, and at most [`LARGEST_EPSILON`].
    pub fn requested(value: f64) -> Result<Self, ParameterError> {
        match Self::new(value)? {
            Epsilon(value) if value > LARGEST_EPSILON => Err(ParameterError::Promise(value)),
            epsilon => Ok(epsilon),
        }
    }
}

macro_rules! parameter {
    ($(#[$doc:meta])* $name:ident, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Validates the value; the range is given at the type.
            pub fn new(value: f64) -> Result<Self, ParameterError> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) { Ok(Self(value)) } else { Err(ParameterError::$name(value)) }
            }

            /// The value as a float.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = ParameterError;
            fn try_from(value: f64) -> Result<Self, ParameterError> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(parameter: $name) -> f64 {
                parameter.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

parameter!(
    /// The privacy-loss bound of differential privacy: positive and finite.
    ///
    /// M is epsilon-differentially private when P(M(x) in S) <= e^epsilon P(M(x') in S) for all
    /// neighbours x, x' and all events S (Dwork, McSherry, Nissim, Smith 2006).
    Epsilon,
    |value| value > 0.0 && value.is_finite()
);

parameter!(
    /// The probability with which the bound epsilon may fail, strictly between 0 and 1.
    ///
    /// M is (epsilon, delta)-differentially private when
    /// P(M(x) in S) <= e^epsilon P(M(x') in S) + delta. Keep it far below 1 / number of records.
    Delta,
    |value| value > 0.0 && value < 1.0
);

parameter!(
    /// The parameter of zero-concentrated differential privacy: positive and finite.
    ///
    /// M is rho-zCDP when the Renyi divergence of order alpha between M(x) and M(x') is at most
    /// rho alpha for every alpha > 1 (Bun and Steinke 2016, definition 1.1).
    Rho,
    |value| value > 0.0 && value.is_finite()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_parameters_are_rejected_with_their_values() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(
                Epsilon::new(bad).is_err() && Delta::new(bad).is_err() && Rho::new(bad).is_err()
            );
        }
        assert_eq!(Delta::new(1.0), Err(ParameterError::Delta(1.0)));
        assert!(Delta::new(1.0f64.next_down()).is_ok());
        assert_eq!(Epsilon::new(5e-324).map(Epsilon::get), Ok(5e-324));
        assert_eq!(
            Epsilon::new(-2.5).unwrap_err().to_string(),
            "epsilon must be positive and finite, not -2.5"
        );
    }

    #[test]
    fn an_epsilon_above_the_limit_cannot_be_requested() {
        assert_eq!(Epsilon::requested(1e6), Err(ParameterError::Promise(1e6)));
        assert_eq!(Epsilon::requested(LARGEST_EPSILON).map(Epsilon::get), Ok(LARGEST_EPSILON));
        assert_eq!(Epsilon::requested(0.0), Err(ParameterError::Epsilon(0.0)));
        assert_eq!(Epsilon::requested(1e300).unwrap_err().to_string()[..12], *"an epsilon o");
    }

    #[test]
    fn invalid_parameters_in_files_are_rejected() {
        assert!(serde_json::from_str::<Epsilon>("-1").is_err());
        assert!(serde_json::from_str::<Delta>("1.0").is_err());
        assert_eq!(serde_json::from_str::<Rho>("0.5").unwrap(), Rho::new(0.5).unwrap());
    }
}
