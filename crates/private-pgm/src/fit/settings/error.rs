use std::error::Error;
use std::fmt;

/// Why settings are refused.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsError {
    /// A number that its setting does not allow.
    OutOfRange {
        /// The name of the setting.
        setting: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A setting that the algorithm does not have.
    NotOfAlgorithm {
        /// The name of the setting.
        setting: &'static str,
        /// The algorithms that have it.
        owners: &'static [&'static str],
    },
    /// A constant that another algorithm has.
    ConstantOf {
        /// The constant.
        constant: &'static str,
        /// The algorithm that has it.
        owner: &'static str,
    },
}

impl SettingsError {
    /// The setting that is wrong.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::OutOfRange { setting, .. } | Self::NotOfAlgorithm { setting, .. } => setting,
            Self::ConstantOf { .. } => "constant",
        }
    }

    /// What is wrong.
    pub fn message(&self) -> String {
        match self {
            Self::OutOfRange { setting, value, .. } => {
                format!("{setting} = {value} is out of range")
            }
            Self::NotOfAlgorithm { setting, owners } => match owners {
                [owner] => format!("`{setting}` is a setting of the algorithm {owner}"),
                _ => format!("`{setting}` is a setting of the algorithms {}", owners.join(" and ")),
            },
            Self::ConstantOf { constant, owner } => {
                format!("the constant {constant} is one of the algorithm {owner}")
            }
        }
    }

    /// What to write instead.
    pub fn help(&self) -> String {
        match self {
            Self::OutOfRange { setting, expected, .. } => format!("{setting} is {expected}"),
            Self::NotOfAlgorithm { owners, .. } => {
                format!("leave it out, or choose the algorithm {}", owners.join(" or "))
            }
            Self::ConstantOf { owner, .. } => format!("write {owner} for the algorithm"),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

impl Error for SettingsError {}
