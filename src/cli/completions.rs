//! `pgmbench completions` and `pgmbench man`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::failure::{Blame, Failure};
use super::output::print;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pgmbench completions bash > ~/.local/share/bash-completion/completions/pgmbench\n  \
    pgmbench completions fish > ~/.config/fish/completions/pgmbench.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut command: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "pgmbench", &mut script);
        print(|output| output.write_all(&script))
    }
}

/// Write manual pages, one for each command
#[derive(Args)]
#[command(after_help = "Example:\n  pgmbench man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl ManArgs {
    pub(crate) fn run(self, command: Command) -> Result<(), Failure> {
        let place = || format!("cannot write to {}", self.out.display());
        fs::create_dir_all(&self.out).or_input(place())?;
        clap_mangen::generate_to(command, &self.out).or_input(place())
    }
}
