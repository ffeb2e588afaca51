//! `pgmbench schema`.

use clap::Args;
use pgmbench::config::json_schema;

use super::failure::Failure;
use super::output::print_json;

/// Print the JSON schema of experiment files, for editors that complete and check them
///
/// Save it next to your experiments and start a file with the line
/// `#:schema ./pgmbench.schema.json`, which editors with TOML support understand.
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench schema > pgmbench.schema.json")]
pub(crate) struct SchemaArgs {}

impl SchemaArgs {
    pub(crate) fn run(self) -> Result<(), Failure> {
        print_json(&json_schema())
    }
}
