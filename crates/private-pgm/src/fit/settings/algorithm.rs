use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SettingsError;
use super::choice::Choice;
use super::written::{self, NotASetting, Written, number};
use crate::loss::Norm;
use crate::optimiser::StepSize;

/// An optimiser, with its own settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Algorithm {
    /// [`Algorithm::Accelerated`] with the constant that suits the oracle: adaptive, or the
    /// smoothness of the loss where the oracle is loopy (Bethe's ln Z does not judge steps).
    #[default]
    Auto,
    /// Entropic mirror descent, Algorithm 1 of the paper.
    Mirror(StepSize),
    /// Accelerated dual averaging, Algorithm 2 of the paper as it is printed: a fixed constant, no
    /// restarts. The average is what it estimates.
    DualAveraging(Constant),
    /// Algorithm 2 with restarts and, by default, an adaptive constant.
    Accelerated(Constant),
    /// Limited-memory quasi-Newton steps on the potentials.
    Lbfgs,
}

/// The constant K of Algorithm 2, per record: how fast the gradient of the loss changes at most.
///
/// Written as `"adaptive"`, `"smoothness"`, `"spectral"` or a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// The smallest constant with which steps pass the acceptance test, found on the way. Of
    /// [`Algorithm::Accelerated`] alone.
    Adaptive,
    /// The smoothness of the loss in the norm that fits entropy
    /// ([`Loss::smoothness`](crate::loss::Loss::smoothness)).
    Smoothness,
    /// The paper's: the largest eigenvalue of Q^T Q over the marginals of the junction tree. Of
    /// [`Algorithm::DualAveraging`] alone.
    Spectral,
    /// This number, positive.
    Fixed(f64),
}

const CONSTANTS: &[(&str, Constant)] = &[
    ("adaptive", Constant::Adaptive),
    ("smoothness", Constant::Smoothness),
    ("spectral", Constant::Spectral),
];

/// How marginals of a graphical model are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OracleKind {
    /// Exact, by contraction of the measured tables along a junction tree.
    #[default]
    Exact,
    /// Loopy belief propagation with Bethe's entropy: an approximation.
    Loopy,
    /// Belief propagation with a convex entropy: an approximation that always converges.
    Convex,
}

impl Algorithm {
    /// The same algorithm with another constant.
    pub(super) fn with_constant(self, constant: Constant) -> Result<Self, SettingsError> {
        match self {
            Self::Accelerated(_) => Ok(Self::Accelerated(constant)),
            Self::DualAveraging(_) => Ok(Self::DualAveraging(constant)),
            _ => Err(SettingsError::NotOfAlgorithm {
                setting: "constant",
                owners: &["dual-averaging", "accelerated"],
            }),
        }
    }

    /// The same algorithm with another step size.
    pub(super) fn with_step(self, step: StepSize) -> Result<Self, SettingsError> {
        match self {
            Self::Mirror(_) => Ok(Self::Mirror(step)),
            _ => Err(SettingsError::NotOfAlgorithm { setting: "step", owners: &["mirror"] }),
        }
    }

    pub(super) fn constant(self) -> Option<Constant> {
        match self {
            Self::Accelerated(constant) | Self::DualAveraging(constant) => Some(constant),
            _ => None,
        }
    }

    pub(super) fn step(self) -> Option<StepSize> {
        match self {
            Self::Mirror(step) => Some(step),
            _ => None,
        }
    }
}

impl Choice for Algorithm {
    const SETTING: &'static str = "algorithm";
    const ALL: &'static [Self] = &[
        Self::Auto,
        Self::Mirror(StepSize::Auto),
        Self::DualAveraging(Constant::Spectral),
        Self::Accelerated(Constant::Adaptive),
        Self::Lbfgs,
    ];
    const NAMES: &'static [&'static str] =
        &["auto", "mirror", "dual-averaging", "accelerated", "lbfgs"];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Mirror(_) => "mirror",
            Self::DualAveraging(_) => "dual-averaging",
            Self::Accelerated(_) => "accelerated",
            Self::Lbfgs => "lbfgs",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Auto => "The fastest that needs no tuning: accelerated",
            Self::Mirror(_) => "Entropic mirror descent, Algorithm 1 of the paper",
            Self::DualAveraging(_) => {
                "Accelerated dual averaging, Algorithm 2 of the paper as printed; for the L2 loss"
            }
            Self::Accelerated(_) => "Algorithm 2 with restarts and an adaptive constant",
            Self::Lbfgs => "Quasi-Newton steps on the potentials",
        }
    }
}

impl Choice for OracleKind {
    const SETTING: &'static str = "oracle";
    const ALL: &'static [Self] = &[Self::Exact, Self::Loopy, Self::Convex];
    const NAMES: &'static [&'static str] = &["exact", "loopy", "convex"];

    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Loopy => "loopy",
            Self::Convex => "convex",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Exact => "Contraction along a junction tree",
            Self::Loopy => "Loopy belief propagation, an approximation",
            Self::Convex => "Convex belief propagation, an approximation that always converges",
        }
    }
}

impl Choice for Norm {
    const SETTING: &'static str = "loss";
    const ALL: &'static [Self] = &[Self::L1, Self::L2];
    const NAMES: &'static [&'static str] = &["l1", "l2"];

    fn name(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Huber(_) => "huber",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::L1 => "Sum of absolute differences, in standard deviations",
            Self::L2 => "Half the sum of squared differences, in standard deviations",
            Self::Huber(_) => "L1 with its kink rounded off",
        }
    }
}

impl FromStr for Constant {
    type Err = NotASetting;

    fn from_str(text: &str) -> Result<Self, NotASetting> {
        Self::from_word(text)
            .or_else(|| number(text).map(Self::Fixed))
            .ok_or_else(|| NotASetting::new("constant", text, Self::EXPECTED))
    }
}

impl Constant {
    fn from_word(word: &str) -> Option<Self> {
        CONSTANTS.iter().find(|(known, _)| *known == word).map(|&(_, constant)| constant)
    }

    fn word(self) -> Option<&'static str> {
        CONSTANTS.iter().find(|(_, constant)| *constant == self).map(|&(word, _)| word)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.word()) {
            (Self::Fixed(number), _) => write!(f, "{number}"),
            (_, word) => f.write_str(word.unwrap_or_default()),
        }
    }
}

impl Written for Constant {
    const EXPECTED: &'static str = "adaptive, smoothness, spectral or a number";

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        const WORDS: &[&str] = &[CONSTANTS[0].0, CONSTANTS[1].0, CONSTANTS[2].0];
        Self::from_word(text).ok_or_else(|| written::unknown_word("constant", text, WORDS))
    }

    fn from_number(number: f64) -> Self {
        Self::Fixed(number)
    }
}

impl Serialize for Constant {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Fixed(number) => to.serialize_f64(number),
            _ => to.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        written::deserialize(from)
    }
}
