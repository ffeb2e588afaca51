//! The form of the values in files of records.

use clap::{Args, ValueEnum};
use pgmbench::data::ValueForm;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ValuesArgs {
    /// How values are written [default: label; code without labels]
    #[arg(long, value_enum)]
    values: Option<Values>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Values {
    /// Numbers 0, 1, ... in the order of the schema
    Code,
    /// The names of values and bins, such as "[20, 30)"
    Label,
    /// Columns and formats of the original file; the middle of a bin
    Midpoint,
    /// Columns and formats of the original file; a uniform draw from a bin
    Uniform,
}

impl ValuesArgs {
    pub(crate) fn form(self) -> Option<ValueForm> {
        self.values.map(|values| match values {
            Values::Code => ValueForm::Code,
            Values::Label => ValueForm::Label,
            Values::Midpoint => ValueForm::Midpoint,
            Values::Uniform => ValueForm::Uniform,
        })
    }
}
